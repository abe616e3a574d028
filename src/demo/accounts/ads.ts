import { WINDOW_DAYS } from "../../consoles/ads/days.ts"
import type { AdsPopularityRow, ChangeRow } from "../../consoles/kinds/ads-insights.ts"
import type { AdsDayRow, AdsTermRow } from "../../consoles/kinds/ads-metrics.ts"
import type { CampaignRow, ThingRow } from "../../consoles/kinds/ads-things.ts"
import { addDays } from "../../lib/days.ts"
import { chance, type DemoApp, mood, sizeOf } from "./seller.ts"

export const COUNTRY = "us"
const CURRENCY = "USD"
const BID = "0.80"
const COST = 62

/** Each app has one campaign with one ad group, which bids on the app's first three keywords. */
export function campaignOf({ iosId }: DemoApp): string {
  return `91${iosId}`
}

function groupOf({ iosId }: DemoApp): string {
  return `92${iosId}`
}

function boughtBy({ iosId, keywords }: DemoApp): { id: string; text: string; place: number }[] {
  return keywords.slice(0, 3).map((text, place) => ({ id: `93${iosId}${place}`, text, place }))
}

export function campaignRows(apps: readonly DemoApp[]): CampaignRow[] {
  return apps.map((app) => ({
    id: campaignOf(app),
    app: app.iosId,
    name: `Invented: ${app.name}, United States`,
    status: "ENABLED",
    serving: "RUNNING",
    reasons: [],
    countries: [COUNTRY],
    budget: "25",
    currency: CURRENCY,
    bidding: "MANUAL_CPT",
    placement: "APPSTORE_SEARCH_RESULTS",
  }))
}

export function thingRows(app: DemoApp): ThingRow[] {
  const group = groupOf(app)
  return [
    { thing: "group", id: group, name: "Invented", status: "ENABLED", bid: BID, currency: CURRENCY, automatic: false },
    ...boughtBy(app).map(({ id, text, place }): ThingRow => {
      const bid = place === 0 && { bid: "0.95", currency: CURRENCY }
      return { thing: "keyword", id, group, text, match: "EXACT", status: "ENABLED", ...bid }
    }),
  ]
}

interface Counts {
  impressions: number
  taps: number
  installs: number
  newDownloads: number
  cents: number
}

/** Paid downloads are part of the storefront's total downloads of the day. */
function countsOf(app: DemoApp, { id, place }: { id: string; place: number }, day: string): Counts {
  const impressions = Math.round(sizeOf(app) * (0.9 - 0.25 * place) * mood(`ads ${id}`, day))
  const taps = Math.round(impressions * 0.07)
  const installs = Math.round(taps * (0.4 + 0.2 * chance(`installs ${id} ${day}`)))
  return { impressions, taps, installs, newDownloads: Math.round(installs * 0.88), cents: taps * (COST + place * 4) }
}

/** Returns the rows of each keyword and of the whole campaign. */
export function dayRows(app: DemoApp, day: string): AdsDayRow[] {
  const keywords = boughtBy(app).map((bought) => ({ bought, counts: countsOf(app, bought, day) }))
  const group = groupOf(app)
  return [
    metricsRow(summed(keywords.map(({ counts }) => counts))),
    ...keywords.map(({ bought, counts }) => ({ group, keyword: bought.id, ...metricsRow(counts) })),
  ]
}

/**
 * Returns the search terms of the 28 days up to `day`. Most are the keyword itself, and some are withheld. Their sums
 * equal the sums of the daily rows.
 */
export function termRows(app: DemoApp, day: string): AdsTermRow[] {
  const days = Array.from({ length: WINDOW_DAYS }, (_, ago) => addDays(day, -ago))
  return boughtBy(app).flatMap((bought) => {
    const all = summed(days.map((on) => countsOf(app, bought, on)))
    const [typed, longer] = [partOf(all, 0.7), partOf(all, 0.16)]
    const rest = without(all, [typed, longer])
    const head = { group: groupOf(app), keyword: bought.id, source: "TARGETED" }
    return [
      { ...head, term: bought.text, ...metricsRow(typed) },
      { ...head, term: `${bought.text} app`, ...metricsRow(longer) },
      { ...head, ...metricsRow(rest) },
    ]
  })
}

/** Returns one change: a person raised a bid. */
export function changeRows(app: DemoApp, day: string): ChangeRow[] {
  const [first] = boughtBy(app)
  if (!first) return []
  return [
    {
      change: `Keyword.${first.id}.${day}`,
      at: `${day}T16:20:00.000Z`,
      by: "dashboard",
      event: "UPDATE",
      entity: "Keyword",
      entityId: first.id,
      campaign: campaignOf(app),
      name: first.text,
      field: "bid",
      from: BID,
      to: "0.95",
    },
  ]
}

/** Lists all keywords except the last of each app, because Apple's list also lacks terms with few searches. */
export function popularityRows(apps: readonly DemoApp[]): AdsPopularityRow[] {
  const terms = [...new Set(apps.flatMap(({ keywords }) => keywords.slice(0, -1)))]
  const ranked = terms.sort((a, b) => chance(`searched ${b}`) - chance(`searched ${a}`))
  return ranked.map((term, place) => {
    const overall100 = 84 - place * 2
    return { term, genre: "ALL", rank: 20 + place * 23, inGenre: overall100, overall100, overall5: place < 8 ? 4 : 3 }
  })
}

function metricsRow({ impressions, taps, installs, newDownloads, cents }: Counts) {
  const spend = (cents / 100).toFixed(2)
  return { country: COUNTRY, impressions, taps, installs, newDownloads, spend, currency: CURRENCY }
}

const COUNTED = ["impressions", "taps", "installs", "newDownloads", "cents"] as const

function counts(countOf: (name: (typeof COUNTED)[number]) => number): Counts {
  return Object.fromEntries(COUNTED.map((name) => [name, countOf(name)])) as unknown as Counts
}

function summed(all: readonly Counts[]): Counts {
  return counts((name) => all.reduce((sum, item) => sum + item[name], 0))
}

function partOf(all: Counts, part: number): Counts {
  return counts((name) => Math.round(all[name] * part))
}

function without(all: Counts, parts: readonly Counts[]): Counts {
  return counts((name) => parts.reduce((left, part) => left - part[name], all[name]))
}
