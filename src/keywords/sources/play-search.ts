import type { ResultApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { appsOf, at, list, text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { spelt } from "../../measuring/parsing/spelt.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { blockOf, playRequest } from "../../stores/play/blocks.ts"
import { assertCountry, callsOf } from "../../stores/play/calls.ts"
import { listedFacts } from "../../stores/play/listing.ts"
import { idOf, isLabelledAd, rowOf, textsIn } from "../../stores/play/rows.ts"
import { search } from "../kinds/search.ts"
import type { SearchObservation, SearchQuestion } from "../kinds/search-shape.ts"

const PARSER = 3

/**
 * The search page of play.google.com, in its order: the card of the app that the term names, if any, then the list.
 * Recorded in July 2026: 20 apps with a card, 30 without; there is no second page. Ads are left out.
 *
 * Whether the store follows `gl` or the requesting address is not known in general. The page names its country and its
 * term: one of another country or term is `mismatched` and not a reading.
 *
 * `depth` is the number of apps shown, even if there are fewer than usual: a short page does not state that nothing
 * follows, and an absence must not be claimed for places that were not seen. A page that states that there are no
 * results is as deep as a full one. If the store corrected the spelling by itself, its results are read; if it states
 * that it has nothing for the term, its alternatives are not.
 */
export const playSearch = {
  name: "play-search",
  kind: search,
  upstream: "play.google.com",
  parser: PARSER,
  namesCountry: true,
  request: ({ storefront, term }) => playRequest("/store/search", storefront, { c: "apps", q: term }),
  parse(body, { storefront, term }, about) {
    const answer = blockOf(body, ANSWER)
    assertCountry(body, storefront)
    assertTerm(body, term)
    const results = resultsOf(list(at(answer, 0, 1)), body)
    const subject = { platform: "android", storefront, term } as const
    const read = { depth: results.length || PLACES, complete: true, results }
    return { kind: "search", source: "play-search", ...subject, ...read, parser: PARSER, origin: "own", ...about }
  },
} satisfies Source<SearchQuestion, SearchObservation>

/** Number of places on a full page without a card. */
const PLACES = 30

// Maximum depth of a reading.
const DEEPEST = 250

const ANSWER = { rpc: "lGYRle", key: "ds:4", fits: (data: unknown) => Array.isArray(at(data, 0, 1)) }

/**
 * Throws ReadFailure: `mismatched` if the page answers a term other than the requested one, as a cached page would, and
 * `changed` if it does not name its term. The page's data calls contain the requested term, even if the store corrected
 * its spelling; its title is the fallback.
 */
function assertTerm(page: string, term: string): void {
  const calls = callsOf(page)
  const [tabs, results] = [TABS, ANSWER.rpc].map((rpc) => calls.find((call) => call.rpc === rpc)?.request)
  const callTerms = [text(at(tabs, 0)), text(at(results, 0, 2, 0))].filter((named) => named !== undefined)
  const named = callTerms.length > 0 ? callTerms : titled(page)
  if (named.length === 0) throw new ReadFailure("changed", "the page does not name its term")
  if (named.some((item) => spelt(item) !== spelt(term))) {
    throw mismatched("the page is for another term")
  }
}

/** Fills the tabs above the results: apps, books, films. */
const TABS = "AZO9Cb"

function titled(page: string): string[] {
  const start = page.indexOf("<title")
  const title = start === -1 ? null : TITLE.exec(page.slice(start, start + LONGEST_TITLE))
  return title ? [(title[1] as string).replace(/&(?:amp|lt|gt|quot|#39);/g, (sign) => SIGNS[sign] as string)] : []
}

const LONGEST_TITLE = 2_000
const TITLE = /^<title[^<>]*>([^<>]+) - Android Apps on Google Play<\/title>/
const SIGNS: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" }

/** Cards come before lists, as in the numbering of the lists. */
function resultsOf(sections: readonly unknown[], body: string): ResultApp[] {
  if (sections.some(saysNone)) return []
  const cards = sections.flatMap((section) => cardOf(at(section, CARD)))
  const lists = sections.filter(isResults)
  if (lists.length === 0 && cards.length === 0 && isBare(sections, body)) return []
  const rows = lists.flatMap((section) => list(at(section, LIST, 0)).flatMap(rowOf))
  if (rows.length === 0) throw new ReadFailure("changed", "no results are found")
  const missing = Math.min(...lists.map(placesBefore)) - cards.length
  if (missing > 0) throw new ReadFailure("changed", "the first results are not found")
  return appsOf([...cards, ...rows], DEEPEST)
}

const LIST = 22
const CARD = 23

/**
 * Returns whether a section is a list of search results, by its name ("search_results_cluster_apps_range_1_20") or,
 * without a name, by its lack of a heading. Other lists, such as "You might also like", have one.
 */
function isResults(section: unknown): boolean {
  if (!Array.isArray(at(section, LIST, 0))) return false
  const name = nameOf(section)
  return name === undefined ? at(section, LIST, 1, 0) === "" : name.startsWith("search_results_cluster")
}

function nameOf(section: unknown): string | undefined {
  return text(at(section, 3, 1, 0, 0))
}

/** Returns how many places come before a list, from its name: 1 if a card does. */
function placesBefore(section: unknown): number {
  return Number(/_range_(\d{1,3})_\d+$/.exec(nameOf(section) ?? "")?.[1] ?? 0)
}

/** Cards of other kinds link to no app. If one did, the list would begin at the second place, which is checked too. */
function cardOf(card: unknown): ResultApp[] {
  if (!textsIn(card).some((each) => each.includes("/store/apps/details"))) return []
  const id = idOf(at(card, 17, 0, 0, 4, 2), at(card, 16, 3, "12", 0, 0))
  if (id === null || isLabelledAd(card)) return []
  return [withoutUndefined<ResultApp>({ id, ...listedFacts(at(card, 16, 2)) })]
}

/** Returns whether the page states that it has nothing for the term. Lists that follow are for another term. */
function saysNone(section: unknown): boolean {
  return textsIn(at(section, WORDS)).some((words) => words.startsWith("No results for "))
}

/** Returns whether the page has only notices as sections, and no link to an app anywhere. */
function isBare(sections: readonly unknown[], body: string): boolean {
  return (
    sections.every((section) => typeof at(section, NOTICE, 0) === "string") && !body.includes("/store/apps/details?id")
  )
}

// Places where public parsers find the page's messages about the search, and the European "About these results".
const WORDS = 25
const NOTICE = 31
