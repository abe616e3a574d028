import { ALL_APPS, type Chart, type Device } from "../../lib/charts.ts"
import { appsOf, at, list, parseJson, text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { blockedOr } from "../../measuring/parsing/proof.ts"
import { required } from "../../measuring/parsing/required.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { appleStorefront } from "../../stores/apple/storefronts.ts"
import { chart } from "../kinds/chart.ts"
import type { ChartApp, ChartObservation, ChartQuestion } from "../kinds/chart-shape.ts"
import { feedApp, marketingApp } from "./apple-chart-entries.ts"

const PARSER = 1

/** Maximum length of a feed; those of some storefronts end at 100 (read from public projects). */
export const CHART_DEPTH = 200

/**
 * Apple's older feeds of the top charts, the only ones with the grossing chart, genres and the iPad: an object with a
 * single `entry` if the chart has one app, and no `entry` if it has none. A recorded feed of some 99 apps has one of
 * them twice; it keeps its first place. `parse` also reads the newer feeds of rss.marketingtools.apple.com (recorded
 * 2026-03), which are only imported and never requested. The feed must not name another storefront, chart or genre; one
 * without apps must name itself. The depth is the number of apps. `request` throws RangeError for an unknown storefront
 * or genre.
 */
export const appleCharts = {
  name: "apple-charts",
  kind: chart,
  upstream: "itunes.apple.com",
  parser: PARSER,

  request({ storefront, device, chart, genre }) {
    appleStorefront(storefront)
    if (!/^[1-9]\d{0,5}$/.test(genre)) throw new RangeError("the App Store has no such genre")
    const within = genre === ALL_APPS ? "" : `/genre=${genre}`
    return { path: `/${storefront}/rss/${feedName(chart, device)}/limit=${CHART_DEPTH}${within}/json` }
  },

  parse(body, question, about) {
    const { storefront, device, chart, genre } = question
    const feed = feedOf(body)
    const listed = at(feed, "results") === undefined ? feedApps(feed, question) : marketingApps(feed, question)
    const apps = appsOf(listed, CHART_DEPTH)
    return {
      kind: "chart",
      source: "apple-charts",
      platform: "ios",
      storefront,
      device,
      chart,
      genre,
      depth: apps.length,
      complete: true,
      apps,
      origin: "own",
      parser: PARSER,
      ...about,
    }
  },
} satisfies Source<ChartQuestion, ChartObservation>

function feedName(chart: Chart, device: Device): string {
  return `top${chart}${device === "ipad" ? "ipad" : ""}applications`
}

function feedOf(body: string): unknown {
  if (/^\s*</.test(body)) throw blockedOr(changed("a page instead of a feed"), body)
  const feed = at(parseJson(body, "the feed"), "feed")
  if (feed === undefined) throw changed("no feed")
  return feed
}

const changed = (detail: string) => new ReadFailure("changed", detail)

function feedApps(feed: unknown, question: ChartQuestion): ChartApp[] {
  const entry = at(feed, "entry")
  const isNamed = checkNames(addressesOf(feed), question)
  if (entry === undefined) {
    const titled = text(at(feed, "title", "label")) && text(at(feed, "updated", "label"))
    if (!titled || !isNamed) throw changed("an empty feed that does not name itself")
    return []
  }
  const entries = Array.isArray(entry) ? entry : [entry]
  if (entries.length === 0 || entries.length > CHART_DEPTH) throw changed("no entries, or more than requested")
  return entries.map(feedApp)
}

/** Returns the feed's own addresses: its id, its links and its page. */
function addressesOf(feed: unknown): string[] {
  const link = at(feed, "link")
  const links = (Array.isArray(link) ? link : [link]).map((item) => at(item, "attributes", "href"))
  return [at(feed, "id", "label"), ...links].flatMap((address) => text(address) ?? [])
}

/**
 * Throws if an address belongs to another chart. Recorded addresses are
 * "…/us/rss/topfreeapplications/limit=100/genre=6007/json",
 * "…/RSS/topfreeapplications/sf=143441/limit=100/genre=6007/json" and "…/viewTop?cc=us&id=25244&popId=27". Returns
 * whether an address names the chart and its storefront.
 */
function checkNames(addresses: readonly string[], { storefront, device, chart, genre }: ChartQuestion): boolean {
  let named = false
  for (const address of addresses) {
    const feed = /\/(top[a-z]+applications)\//i.exec(address)?.[1]?.toLowerCase()
    const [, path, query] = /\.com\/([a-z]{2})\/rss\/|[?&]cc=([a-z]{2})\b/i.exec(address) ?? []
    const country = (path ?? query)?.toLowerCase()
    const number = /\/sf=(\d+)/.exec(address)?.[1]
    if (country !== undefined && country !== storefront) throw mismatched("the feed is another storefront's")
    if (number !== undefined && number !== String(appleStorefront(storefront).id))
      throw mismatched("the feed is another storefront's")
    if (feed === undefined) continue
    if (feed !== feedName(chart, device)) throw mismatched("the feed is another chart's")
    if ((/\/genre=(\d+)/.exec(address)?.[1] ?? ALL_APPS) !== genre) throw mismatched("the feed is another genre's")
    named ||= country !== undefined || number !== undefined
  }
  return named
}

/** Parses the newer feeds: all genres, iPhone, free or paid, and never empty. */
function marketingApps(feed: unknown, { storefront, device, chart, genre }: ChartQuestion): ChartApp[] {
  const name = /\/api\/v2\/([a-z]{2})\/apps\/top-([a-z]+)\//.exec(required(at(feed, "id"), text))
  if (name?.[1] !== storefront || at(feed, "country") !== storefront)
    throw mismatched("the feed is another storefront's")
  if (name[2] !== chart || device !== "iphone" || genre !== ALL_APPS) throw mismatched("the feed is another chart's")
  const results = list(at(feed, "results"))
  if (results.length === 0 || results.length > CHART_DEPTH) throw changed("no results, or more than a feed may have")
  return results.map(marketingApp)
}
