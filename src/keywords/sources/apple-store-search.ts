import type { ResultApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { appsOf, at, count, list, parseJson, text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { blockedOr } from "../../measuring/parsing/proof.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { artworkUrl } from "../../stores/apple/artwork.ts"
import { appleStorefront } from "../../stores/apple/storefronts.ts"
import { search } from "../kinds/search.ts"
import type { SearchObservation, SearchQuestion } from "../kinds/search-shape.ts"

const DEPTH = 200
const PARSER = 1

/**
 * The search of the App Store app on an iPhone (MZStore): the ids of up to 250 apps in rank order, and facts about the
 * first few. Platform 24 with `t:native` in the storefront header makes it answer in flat JSON; other platforms nest
 * the same under `pageData` (its shape is from the public projects app-store-scraper and drewster99/appstore). The
 * answer repeats the storefront; one of another storefront is `mismatched`. `rating` is left out because this source
 * rounds it to half stars. The source reportedly responds with 503 at times, and its order is not always that of a
 * phone.
 */
export const appleStoreSearch = {
  name: "apple-store-search",
  kind: search,
  upstream: "search.itunes.apple.com",
  parser: PARSER,

  request({ storefront, term }) {
    const { id, language } = appleStorefront(storefront)
    const query = `clientApplication=Software&media=software&term=${encodeURIComponent(term)}`
    return {
      path: `/WebObjects/MZStore.woa/wa/search?${query}`,
      headers: {
        "user-agent": "AppStore/3.0 iOS/18.0 model/iPhone16,2 hwp/t8130 build/22A3354 (6; dt:311) AMS/1",
        accept: "application/json",
        "accept-language": language,
        "x-apple-store-front": `${id},24 t:native`,
      },
    }
  },

  parse(body, question, about) {
    const answer = parsed(body)
    const named = namesStorefront(answer, question.storefront)
    const bubble = appBubble(answer)
    const rows = at(bubble, "results")
    if (!Array.isArray(rows)) throw changed("no list of results")
    const total = count(at(bubble, "totalCount"))
    if (rows.length === 0 && (total !== 0 || !named)) throw changed("the list of results is empty")
    const facts = factsOf(answer)
    const apps = rows.filter(isApp).map((row) => appOf(row, facts))
    const results = appsOf(apps, DEPTH)
    if (rows.length > 0 && results.length === 0) throw changed("no row is an app")
    return {
      kind: "search",
      source: "apple-store-search",
      platform: "ios",
      storefront: question.storefront,
      term: question.term,
      depth: total === rows.length ? DEPTH : results.length,
      complete: true,
      results,
      origin: "own",
      parser: PARSER,
      ...about,
    }
  },
} satisfies Source<SearchQuestion, SearchObservation>

const changed = (detail: string) => new ReadFailure("changed", detail)

/** Returns the parsed response and the part that contains its data, however it is nested. */
function parsed(body: string): { root: unknown; page: unknown } {
  if (/^\s*</.test(body)) throw blockedOr(changed("a page instead of JSON"), body)
  const root = parseJson(body, "the answer")
  const page = at(root, "bubbles") === undefined ? at(root, "pageData") : root
  return { root, page }
}

type Answer = ReturnType<typeof parsed>

/** Returns whether the response names its storefront. Throws if it names another one. */
function namesStorefront({ root, page }: Answer, storefront: string): boolean {
  const storeFront = at(page, "metricsBase", "storeFront") ?? at(root, "metricsBase", "storeFront")
  if (storeFront === undefined) return false
  // "143441", "143441-1,24" or the number
  const id = /^\d{6}(?=\D|$)/.exec(text(storeFront) ?? `${count(storeFront)}`)?.[0]
  if (id === undefined) throw changed("the response names no storefront")
  if (id !== String(appleStorefront(storefront).id)) throw mismatched("the response is for another storefront")
  return true
}

function appBubble({ page }: Answer): unknown {
  const bubbles = list(at(page, "bubbles"))
  // bubbles with other names contain stories or the apps of another device
  const bubble = bubbles.find((item) => at(item, "name") === "software") ?? bubbles.find(isUnnamed)
  if (bubble === undefined) throw changed("no list of results")
  return bubble
}

function isUnnamed(bubble: unknown): boolean {
  return at(bubble, "name") === undefined
}

/**
 * Returns whether a row is an app, by any of the known fields; a row with none of them counts as one. Throws if the row
 * is not an object or its kind is not a text.
 */
function isApp(row: unknown): boolean {
  if (typeof row !== "object" || row === null) throw changed("a row of another shape")
  const [entity, kind, type] = [at(row, "entity"), at(row, "kind"), at(row, "type")]
  const name = entity ?? kind
  if (name !== undefined && typeof name !== "string") throw changed("a row of an unknown kind")
  if (name !== undefined) return name === "software" || name === "iosSoftware"
  return type === undefined || type === 0 || type === "software" || type === "apps"
}

/** Returns the facts about the first apps, by id. */
function factsOf({ root, page }: Answer): unknown {
  const platform = at(page, "storePlatformData") ?? at(root, "storePlatformData")
  const lockup = at(platform, "native-search-lockup-search") ?? at(platform, "native-search-lockup")
  return at(lockup, "results")
}

function appOf(row: unknown, facts: unknown): ResultApp {
  const id = idOf(row)
  const app = at(facts, id)
  return withoutUndefined<ResultApp>({
    id,
    name: text(at(app, "name")),
    icon: artworkUrl(at(app, "artwork", "url")),
    developer: text(at(app, "artistName")),
    bundleId: text(at(app, "bundleId")),
    ratings: count(at(app, "userRating", "ratingCount")),
  })
}

function idOf(row: unknown): string {
  const value = at(row, "id")
  const id = typeof value === "number" ? String(value) : value
  if (typeof id !== "string" || !isStoreId("ios", id)) throw changed("a row without an app's id")
  return id
}
