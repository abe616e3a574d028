import { hash } from "node:crypto"
import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { type BestPlace, type BestPlaces, bestPlaces, orderedPlaces } from "../../formulas/best-places.ts"
import { type NamedApp, readNamedPlaces } from "../../history/market/found-apps.ts"
import {
  areLatest,
  chosenLists,
  EPOCH,
  keptMarketLists,
  loadMarketLists,
  type MarketList,
  type MarketLists,
  type MarketStand,
  readMarketStand,
} from "../../history/market/lists.ts"
import { readSoughtApps } from "../../history/market/sought-apps.ts"
import { CHARTS, DEVICES } from "../../observations/types-charts.ts"
import { nothing, operation } from "../../operation.ts"
import { addDays, dayOf, monthsBefore } from "../../vocabulary/days.ts"
import { described, named } from "../../vocabulary/schema.ts"
import { DAY_MS } from "../../vocabulary/time.ts"
import { refuseUnknownGenres } from "../charts/chart-genres.ts"
import { Source } from "../charts/charts.ts"
import { Count, Day, Rank, Store, Storefront, Time } from "../shapes.ts"
import { ESTIMATE_CREDITS, Estimate, isEstimated } from "./estimates.ts"
import { checkFilters, DEEPEST, FindInput, type FindQuery, filtersFigures, KINDS } from "./find-filters.ts"
import { marketAppFields } from "./market-apps.ts"

const CREDITS = 20
const MOST = 200

const Estimates = named(
  "AppEstimates",
  v.strictObject({
    downloads: described(v.nullable(Estimate), "A month; null = not known."),
    revenue: described(v.nullable(Estimate), "US dollars a month; null = not known."),
    growth: described(v.nullable(v.number()), "Percent that the downloads rose or fell in 30 days; null = not known."),
  }),
)

const Found = named(
  "FoundApp",
  v.strictObject({
    ...marketAppFields,
    rank: described(Rank, "Its best place on the lists asked for."),
    country: described(Storefront, "Of that list."),
    device: described(v.picklist(DEVICES), "Of that list."),
    kind: described(v.picklist(CHARTS), "Of that list."),
    genre: described(v.string(), "Of that list: the App Store's id, 36 = all apps."),
    day: described(Day, "When that list was read last."),
    measuredAt: described(Time, "When it was seen."),
    source: Source,
    firstSeen: described(
      v.nullable(Day),
      "The first day on which charts of that storefront showed it; null = not known: it stood there when they were first read.",
    ),
    estimates: v.optional(described(v.nullable(Estimates), "With estimates; null = there is none of this app.")),
  }),
)

const Coverage = named(
  "MarketCoverage",
  v.strictObject({
    storefronts: described(
      v.array(
        v.strictObject({
          country: Storefront,
          lists: described(Count, "Lists of those asked for that were read; 0 = none there was."),
          oldestDay: described(
            v.nullable(Day),
            "When the one of them was read that was read longest ago; null = none was.",
          ),
          newestDay: described(v.nullable(Day), "When one of them was read last; null = none was."),
          followedSince: described(v.nullable(Day), "Since when all its lists are read daily; null = they are not."),
        }),
      ),
      "Of each storefront asked for.",
    ),
    firstSeenUnknown: described(
      Count,
      "Apps that all else fits and that released left out, as it is not known since when they stand there. 0 without released.",
    ),
  }),
)

export const hiveFindApps = operation({
  id: "hive_find_apps",
  method: "GET",
  path: "/hive/find",
  group: "Hive",
  toolset: "hive",
  summary: "Finds apps on the App Store's top charts.",
  description: "Needs a filter; country=us alone is none.",
  effect: "reads",
  scope: "hive:read",
  hive: "pack",
  price: {
    min: CREDITS,
    atMost: CREDITS + MOST * ESTIMATE_CREDITS,
    of: (_, { apps }) => CREDITS + ESTIMATE_CREDITS * apps.filter(({ estimates }) => hasEstimate(estimates)).length,
    note: `${ESTIMATE_CREDITS} a row with an estimate`,
  },
  faults: ["no_filters"],
  input: FindInput,
  refine: checkFilters,
  narrow: { rows: ["apps"] },
  output: v.strictObject({
    platform: described(Store, "Always ios: of Google Play there is no chart data."),
    countries: described(v.array(Storefront), "As asked."),
    kind: described(v.nullable(v.picklist(KINDS)), "As asked; null = all."),
    genres: described(v.nullable(v.array(v.string())), "As asked; null = all."),
    page: Rank,
    total: described(Count, "How many apps fit, on all pages."),
    state: described(
      v.nullable(v.string()),
      "Names how the lists stood: pages with one state have no app twice. Another = a list was read meanwhile. Null = none was read.",
    ),
    apps: described(
      v.array(Found),
      "The best place first, then the lowest id. Of equal places that of the overall list is shown, then the first storefront by its code, the iPhone, free before grossing before paid.",
    ),
    noEstimate: described(
      Count,
      "Apps that all else fits and that a filter of revenue, downloads or growth left out, as there is no such figure of them.",
    ),
    coverage: Coverage,
  }),
}).run(async (query, { sql, now }) => {
  const { page } = query
  const countries = [...new Set(query.country)]
  const genres = query.genre && [...new Set(query.genre)]
  const since = query.released === undefined ? null : daysFromEpoch(monthsBefore(dayOf(now()), query.released))
  const question = { query, countries, genres, since }
  const { found, fitting, lists, places, stand, names } = await findPlaces(sql, question)
  const rows = places.map((place) => foundApp(place, lists[place.list]!, names.get(place.app)!))
  const answer = {
    ...{ platform: "ios" as const, countries, kind: query.kind ?? null, genres: genres ?? null, page },
    ...{ total: fitting.count, state: stateOf(lists, since) },
    apps: query.estimates ? rows.map((row) => ({ ...row, estimates: null })) : rows,
    noEstimate: found.count - fitting.count,
    coverage: { storefronts: coverageOf(stand, lists), firstSeenUnknown: found.unknown },
  }
  return rows.length > 0 ? answer : nothing(answer)
})

interface Question {
  query: FindQuery
  countries: readonly string[]
  genres: readonly string[] | undefined
  since: number | null
}

/** From the lists that are kept, if those prove to be the latest when the names are read; else once more from those that are. */
async function findPlaces(sql: Sql, question: Question) {
  const { countries } = question
  const kept = keptMarketLists(sql, countries)
  if (kept) {
    const answer = await findPlacesOn(sql, question, kept)
    if (areLatest(kept, answer.stand)) return answer
  }
  return await findPlacesOn(sql, question, await loadMarketLists(sql, await readMarketStand(sql, countries)))
}

async function findPlacesOn(sql: Sql, { query, countries, genres, since }: Question, market: readonly MarketLists[]) {
  const { page, limit, rankMin = 1, rankMax = DEEPEST } = query
  const lists = chosenLists(market, { genres, list: listOf(query.kind) })
  if (genres) await refuseUnknownGenres(sql, countries, withoutList(genres, lists))
  const only = await readSoughtApps(sql, lists, query)
  const found = bestPlaces(lists, { rankMin, rankMax, only, since, upTo: page * limit })
  // nobody has a figure yet
  const fitting = filtersFigures(query) ? NONE : found
  const places = orderedPlaces(fitting, lists, (page - 1) * limit, page * limit)
  const named = places.map(({ app, list }) => ({ app, country: lists[list]!.country }))
  return { found, fitting, lists, places, ...(await readNamedPlaces(sql, countries, named)) }
}

const NONE: BestPlaces = { count: 0, apps: [], ranks: [], lists: [], unknown: 0 }

function hasEstimate(estimates: v.InferOutput<typeof Estimates> | null | undefined): boolean {
  return estimates != null && (isEstimated(estimates.downloads) || isEstimated(estimates.revenue))
}

function listOf(kind: FindQuery["kind"]) {
  if (kind === undefined) return undefined
  return kind === "ipad" ? ({ device: "ipad", kind: "free" } as const) : ({ device: "iphone", kind } as const)
}

function daysFromEpoch(day: string): number {
  return (Date.parse(day) - Date.parse(EPOCH)) / DAY_MS
}

function withoutList(genres: readonly string[], lists: readonly MarketList[]): string[] {
  return genres.filter((genre) => !lists.some((list) => list.genre === genre))
}

function foundApp({ storeId, rank, firstDay }: BestPlace, list: MarketList, named: NamedApp) {
  const { country, device, kind, genre, day, measuredAt, source } = list
  const { name, publisher, publisherId } = named
  const id = String(storeId)
  return {
    ...{ id, name: name ?? id, publisher, publisherId, rank, country, device, kind, genre, day },
    ...{ measuredAt, source, firstSeen: firstDay === 0 ? null : addDays(EPOCH, firstDay) },
  }
}

function coverageOf(stand: readonly MarketStand[], lists: readonly MarketList[]) {
  return stand.map(({ country, followedSince }) => {
    let count = 0
    let [oldestDay, newestDay]: (string | null)[] = [null, null]
    for (const list of lists) {
      if (list.country !== country) continue
      count++
      if (oldestDay == null || list.day < oldestDay) oldestDay = list.day
      if (newestDay == null || list.day > newestDay) newestDay = list.day
    }
    return { country, lists: count, oldestDay: oldestDay ?? null, newestDay: newestDay ?? null, followedSince }
  })
}

/** Lists come in one order, and which of them come follows from the question. */
function stateOf(lists: readonly MarketList[], since: number | null): string | null {
  if (lists.length === 0) return null
  const parts = new Float64Array(1 + 2 * lists.length)
  parts[0] = since ?? -1
  let at = 1
  for (const { genre, measuredMs } of lists) {
    parts[at++] = Number(genre)
    parts[at++] = measuredMs
  }
  return hash("sha256", new Uint8Array(parts.buffer)).slice(0, 16)
}
