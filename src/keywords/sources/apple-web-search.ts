import type { ResultApp } from "../../core/observation/line-parts.ts"
import { appsOf, at, list, text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { spelt } from "../../measuring/parsing/spelt.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { adamId, lockupApp } from "../../stores/apple/lockup.ts"
import { browserHeaders, embeddedPages } from "../../stores/apple/page.ts"
import { search } from "../kinds/search.ts"
import type { SearchObservation, SearchQuestion } from "../kinds/search-shape.ts"

const DEPTH = 200
const PARSER = 1

/**
 * The iPhone search page of apps.apple.com. Its embedded data has the order that a phone shows (its shape is from the
 * public projects respectaso and OpenASO): some 12 full results, then the ids of the next, about 200 in total. Apple
 * picks the storefront by the IP address of the request unless the cookie `geo` names one, so the page must name the
 * requested storefront. A page of another storefront is `mismatched`: retrying less often would not help, so the
 * operator must see it. `ratings` is left out if the page abbreviates it ("1.2M"). The depth is 200 if the page states
 * that there are no more results, else the number of places it lists.
 */
export const appleWebSearch = {
  name: "apple-web-search",
  kind: search,
  upstream: "apps.apple.com",
  parser: PARSER,

  request: ({ storefront, term }) => ({
    path: `/${storefront}/iphone/search?term=${encodeURIComponent(term)}`,
    headers: browserHeaders(storefront),
  }),

  parse(body, question, about) {
    const { intent, page } = searchPage(body)
    checkAnswers(question, intent, body)
    const first = rowsOf(resultShelf(page))
    const next = nextOf(page)
    if (first.length === 0 && (next !== undefined || !isPositive(intent)))
      throw changed("the shelf of results is empty")
    const results = appsOf([...first, ...(next ?? [])], DEPTH)
    return {
      kind: "search",
      source: "apple-web-search",
      platform: "ios",
      storefront: question.storefront,
      term: question.term,
      depth: next ? results.length : DEPTH,
      complete: true,
      results,
      origin: "own",
      parser: PARSER,
      ...about,
    }
  },
} satisfies Source<SearchQuestion, SearchObservation>

const changed = (detail: string) => new ReadFailure("changed", detail)

/** Returns the only embedded entry that is a page of search results, and the query that it answers. */
function searchPage(body: string): { intent: unknown; page: unknown } {
  const pages = embeddedPages(body).filter((entry) => list(at(entry, "data", "shelves")).some(isResultShelf))
  if (pages.length !== 1) throw changed("no shelf of results, or several pages of them")
  return { intent: at(pages[0], "intent"), page: at(pages[0], "data") }
}

/** Throws unless the page names the requested storefront, and no other term or platform. */
function checkAnswers({ storefront, term }: SearchQuestion, intent: unknown, body: string): void {
  const address = canonical(body)
  const served = text(at(intent, "storefront"))?.toLowerCase() ?? /^\/([a-z]{2})\//.exec(address?.pathname ?? "")?.[1]
  if (served === undefined) throw changed("the page does not name its storefront")
  if (served !== storefront) throw mismatched("the page is another storefront's", served)
  const platform = at(intent, "platform")
  if (platform !== undefined && platform !== "iphone") throw mismatched("the page is another platform's")
  const answered = at(intent, "term") ?? address?.searchParams.get("term") ?? undefined
  if (answered !== undefined && spelt(answered) !== spelt(term)) throw mismatched("the page is for another term")
}

/** Returns the canonical address of the page. Older pages name their storefront and term only there. */
function canonical(body: string): URL | null {
  const name = body.indexOf('rel="canonical"')
  if (name === -1) return null
  const tag = body.slice(body.lastIndexOf("<", name), body.indexOf(">", name))
  const address = /\shref="(https:\/\/apps\.apple\.com\/[^"]*)"/.exec(tag)?.[1]
  return address === undefined ? null : URL.parse(address.replaceAll("&amp;", "&"))
}

/** Returns whether the page names its term and its storefront. Only such a page can show that nothing was found. */
function isPositive(intent: unknown): boolean {
  return text(at(intent, "term")) !== undefined && text(at(intent, "storefront")) !== undefined
}

function isResultShelf(shelf: unknown): boolean {
  return at(shelf, "contentType") === "searchResult" && Array.isArray(at(shelf, "items"))
}

function resultShelf(page: unknown): readonly unknown[] {
  const shelves = list(at(page, "shelves")).filter(isResultShelf)
  // other shelves of this type contain recommendations
  const named = shelves.filter((shelf) => at(shelf, "id") === "SearchResults.shelfId")
  const [shelf, ...more] = named.length > 0 ? named : shelves
  if (more.length > 0) throw changed("several shelves of results")
  return list(at(shelf, "items"))
}

/** Returns the apps of the full rows, without ads and editorial cards. */
function rowsOf(rows: readonly unknown[]): ResultApp[] {
  const apps = rows.filter((row) => !isOther(row)).map(appOf)
  if (rows.length > 0 && apps.length === 0) throw changed("no row is an app")
  return apps
}

// Types of rows that show an app, alone or with one of its events, and the known reasons for the place of such a row.
const APP_ROWS: unknown[] = ["AppSearchResult", "AppEventSearchResult"]
const APP_REASONS: unknown[] = [undefined, "content", "appEvent"]
// Cards that take no place among the apps.
const OTHER_ROWS: unknown[] = [
  "EditorialSearchResult",
  "DeveloperSearchResult",
  "AppBundleSearchResult",
  "InAppSearchResult",
  "GroupingSearchResult",
]

/**
 * Returns whether a row takes no place among the apps. Throws if that is unclear, because one row too few or too many
 * shifts all ranks below it. A card of an unknown kind that names no app is ignored.
 */
function isOther(row: unknown): boolean {
  const [lockup, kind, type] = [at(row, "lockup"), at(row, "$kind"), at(row, "resultType")]
  if (typeof row !== "object" || row === null) throw changed("a row of another shape")
  if (type === "ad" || [row, lockup].some((part) => at(part, "isAd") === true || at(part, "isSponsored") === true)) {
    return true
  }
  if (OTHER_ROWS.includes(kind)) return true
  if (APP_ROWS.includes(kind)) {
    if (!APP_REASONS.includes(type)) throw changed("an app in a place of an unknown kind")
    return type === undefined && at(lockup, "adamId") === null
  }
  if (kind !== undefined && namesApp(row)) throw changed("a row of an unknown kind")
  return kind !== undefined || lockup === undefined || at(lockup, "adamId") === null
}

/**
 * Returns whether a card contains an app id at any depth. Uses a queue, since a body may be nested deeper than the call
 * stack.
 */
function namesApp(card: unknown): boolean {
  const open = [card]
  for (const here of open) {
    if (typeof here !== "object" || here === null) continue
    if (adamId(at(here, "adamId")) !== undefined) return true
    for (const inner of Object.values(here)) open.push(inner)
  }
  return false
}

function appOf(row: unknown): ResultApp {
  const app = lockupApp(at(row, "lockup"))
  if (app === undefined) throw changed("a row without an app's id")
  return app
}

/** Returns the apps after the full results. Undefined if the page states that there are none. */
function nextOf(page: unknown): ResultApp[] | undefined {
  const next = at(page, "nextPage")
  if (next === null) return undefined
  const rows = at(next, "results")
  if (!Array.isArray(rows)) throw changed("it does not state what comes next")
  const apps = rows.filter((row) => isNextApp(at(row, "type")))
  // A new type among the apps is ignored; if no entry is an app, the apps' own type may have been renamed.
  if (apps.length === 0 && !rows.every((row) => NEXT_OTHERS.includes(at(row, "type"))))
    throw changed("no next result is an app")
  return apps.map((row) => ({ id: nextId(at(row, "id")) }))
}

// Types of Apple's media API that are not apps.
const NEXT_OTHERS: unknown[] = ["app-bundles", "app-events", "developers", "editorial-items", "groupings", "in-apps"]

function isNextApp(type: unknown): boolean {
  if (typeof type !== "string") throw changed("a next result has no type")
  return type === "apps"
}

function nextId(value: unknown): string {
  const id = adamId(value)
  if (id === undefined) throw changed("a next result without an app's id")
  return id
}
