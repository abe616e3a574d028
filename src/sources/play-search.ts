import type { ResultApp, SearchObservation } from "../observations/types.ts"
import type { SearchAsked } from "./asked.ts"
import { appsOf, at, list, shown, text } from "./json.ts"
import { blockOf, playRequest } from "./play-blocks.ts"
import { listedFacts } from "./play-listing.ts"
import { idOf, isLabelledAd, rowOf, textsIn } from "./play-rows.ts"
import { ReadFailure, type Source } from "./source.ts"
import { spelt } from "./spelt.ts"

const PARSER = 1

/**
 * The search page of play.google.com, in its order: the card of the app that the term names, where there is one, then
 * the list. Recorded in July 2026: 20 apps with a card, 30 without; there is no second page. Paid rows are left out.
 *
 * The store answers for the country of the address that reads and mostly ignores `gl`: an observation says that country
 * as its `egress`, and it is the caller's to ask only for storefronts that are its own.
 *
 * `depth` is the number of apps shown, also where they are fewer than usual: that nothing follows a short page is nowhere
 * said, and an absence must not be claimed for places that were not seen. A page that says that there are no results is
 * as deep as a full one. Where the store searched for another spelling of its own accord, what it shows is what is read;
 * where it says that it has nothing for the term, what it offers instead is not.
 */
export const playSearch: Source<SearchAsked, SearchObservation> = {
  name: "play-search",
  upstream: "play.google.com",
  parser: PARSER,
  request: ({ storefront, term }) => playRequest("/store/search", storefront, { c: "apps", q: term }),
  parse(body, { storefront, term }, about) {
    if (answersAnother(body, term)) throw new ReadFailure("changed", "the page answers another term")
    const results = resultsOf(list(at(blockOf(body, ANSWER), 0, 1)), body)
    const subject = { platform: "android", storefront, term } as const
    const read = { depth: results.length || PLACES, complete: true, results }
    return { kind: "search", source: "play-search", ...subject, ...read, parser: PARSER, origin: "own", ...about }
  },
}

/** Places of a full page without a card. */
const PLACES = 30

// What a reading may hold at most.
const DEEPEST = 250

const ANSWER = { rpc: "lGYRle", key: "ds:4", fits: (data: unknown) => Array.isArray(at(data, 0, 1)) }

/**
 * Whether the page's title names another term than was asked for, as a page out of a cache would. Titles may one day be
 * cut or be worded otherwise, so one that nowhere has the term in quotes, as its own record of the search does.
 */
function answersAnother(page: string, term: string): boolean {
  const title = /<title[^<>]*>([^<>]{1,1000}) - Android Apps on Google Play<\/title>/.exec(page.slice(0, HEAD))?.[1]
  if (title === undefined) return false
  const named = title.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] as string)
  return spelt(named) !== spelt(term) && !page.includes(JSON.stringify(term))
}

// The title is the first thing of the page's head.
const HEAD = 20_000

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" }

/** Cards before lists, as the numbering of the lists has it. */
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
 * A list of what was searched for, by its name ("search_results_cluster_apps_range_1_20"); one without a name by its
 * lack of a heading. Other lists, such as "You might also like", have one.
 */
function isResults(section: unknown): boolean {
  if (!Array.isArray(at(section, LIST, 0))) return false
  const name = nameOf(section)
  return name === undefined ? at(section, LIST, 1, 0) === "" : name.startsWith("search_results_cluster")
}

function nameOf(section: unknown): string | undefined {
  return text(at(section, 3, 1, 0, 0))
}

/** How many places come before a list by its name: 1 where a card does. */
function placesBefore(section: unknown): number {
  return Number(/_range_(\d{1,3})_\d+$/.exec(nameOf(section) ?? "")?.[1] ?? 0)
}

/** A card of another kind leads to no app. Where it did, the list begins at the second place: that is looked at too. */
function cardOf(card: unknown): ResultApp[] {
  if (!textsIn(card).some((each) => each.includes("/store/apps/details"))) return []
  const id = idOf(at(card, 17, 0, 0, 4, 2), at(card, 16, 3, "12", 0, 0))
  if (id === null || isLabelledAd(card)) return []
  return [shown<ResultApp>({ id, ...listedFacts(at(card, 16, 2)) })]
}

/** Whether the page says in words that it has nothing for the term; lists that follow are of another. */
function saysNone(section: unknown): boolean {
  return textsIn(at(section, WORDS)).some((words) => words.startsWith("No results for "))
}

/** Whether the page has no section but notices, and nothing on all of it leads to an app. */
function isBare(sections: readonly unknown[], body: string): boolean {
  return (
    sections.every((section) => typeof at(section, NOTICE, 0) === "string") && !body.includes("/store/apps/details?id")
  )
}

// Where public readers of the page find its words about the search, and the European "About these results".
const WORDS = 25
const NOTICE = 31
