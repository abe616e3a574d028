import { hash } from "node:crypto"
import * as v from "valibot"
import { type BestPlace, bestPlaces, bitsOf, orderedPlaces } from "../../formulas/best-places.ts"
import { readShownPlaces } from "../../history/market/found-apps.ts"
import { chosenLists, EPOCH, loadMarketLists, type MarketList, type MarketStand } from "../../history/market/lists.ts"
import { readMarketNews, type ShownApp, standOf } from "../../history/market/market-news.ts"
import { readSoughtApps } from "../../history/market/sought-apps.ts"
import { CHARTS, DEVICES } from "../../observations/types-charts.ts"
import { type Context, nothing, operation } from "../../operation.ts"
import { addDays, dayOf, monthsBefore } from "../../vocabulary/days.ts"
import { WrittenAnswer } from "../../vocabulary/prepared.ts"
import { described, named } from "../../vocabulary/schema.ts"
import { DAY_MS } from "../../vocabulary/time.ts"
import { refuseUnknownGenres } from "../charts/chart-genres.ts"
import { Source } from "../charts/charts.ts"
import { Count, Day, Origin, Rank, Store, Storefront, Time } from "../shapes.ts"
import { findFigureFits } from "./estimates/figure-fits.ts"
import { readFigures } from "./estimates/figures.ts"
import { FoundFigures, figureRanges, foundFigures, hasFigure } from "./estimates/found-figures.ts"
import { ESTIMATE_CREDITS } from "./estimates.ts"
import { checkFilters, DEEPEST, FindInput, type FindQuery, KINDS } from "./find-filters.ts"
import { marketAppFields } from "./market-apps.ts"

const CREDITS = 20
const MOST = 200
/** The iPhone's three and the iPad's free one. */
const LISTS_OF_GENRE = 4

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
    ageDays: described(Count, "How many days ago that is."),
    source: Source,
    origin: Origin,
    firstSeen: described(
      v.nullable(Day),
      "The first day on which charts of that storefront showed it; null = not known: it stood there when they were first read.",
    ),
    estimates: v.optional(
      described(v.nullable(FoundFigures), "With estimates or a filter of figures; null = there is none of this app."),
    ),
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
          genres: described(Count, "Genres of those lists."),
          missing: described(
            v.nullable(Count),
            "Lists of those asked for that are to be read daily and were not yet; null = none is (followedSince).",
          ),
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
    of: (_, { apps }) => CREDITS + ESTIMATE_CREDITS * apps.filter(({ estimates }) => hasFigure(estimates)).length,
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
      "Names how the lists stood, and with a filter of figures these: pages with one state have no app twice. Another = a list was read meanwhile. Null = none was read.",
    ),
    apps: described(
      v.array(Found),
      "The best place first, then the lowest id. Of equal places that of the overall list is shown, then the first storefront by its code, the iPhone, free before grossing before paid.",
    ),
    noEstimate: described(
      Count,
      "Apps that all else fits and that a filter of revenue, downloads or growth left out, as there is no such figure of them, or only an amount that it is under and that decides nothing.",
    ),
    coverage: Coverage,
  }),
}).run(async (query, ctx) => {
  const { page } = query
  const countries = [...new Set(query.country)]
  const genres = query.genre && [...new Set(query.genre)]
  const today = dayOf(ctx.now())
  const since = query.released === undefined ? null : daysFromEpoch(monthsBefore(today, query.released))
  const question = { query, countries, genres, since }
  const { found, unsure, state, lists, places, stand, shown, figures } = await findPlaces(ctx, question)
  const head = {
    ...{ platform: "ios" as const, countries, kind: query.kind ?? null, genres: genres ?? null, page },
    ...{ total: found.count, state: stateOf(lists, since, state) },
  }
  const tail = {
    noEstimate: unsure,
    coverage: { storefronts: coverageOf(stand, lists, question), firstSeenUnknown: found.unknown },
  }
  if (places.length === 0) return nothing({ ...head, apps: [], ...tail })
  const apps = places.map(({ app }) => (figures ? { estimates: foundFigures(figures.get(app)) } : {}))
  const ofList = listTexts(lists, today)
  const rows = places.map((place, at) => rowText(place, shown[at]!, ofList(place.list), apps[at]!))
  const text = `${JSON.stringify(head).slice(0, -1)},"apps":[${rows.join()}],${JSON.stringify(tail).slice(1)}`
  return new WrittenAnswer(text, { apps })
})

interface Question {
  query: FindQuery
  countries: readonly string[]
  genres: readonly string[] | undefined
  since: number | null
}

async function findPlaces(ctx: Context, { query, countries, genres, since }: Question) {
  const { sql } = ctx
  const { page, limit, rankMin = 1, rankMax = DEEPEST } = query
  const news = await readMarketNews(sql, ctx.aside)
  const stand = standOf(news, countries)
  const lists = chosenLists(await loadMarketLists(sql, stand), { genres, list: listOf(query.kind) })
  if (genres) await refuseUnknownGenres(sql, countries, withoutList(genres, lists))
  const sought = await readSoughtApps(sql, news, lists, query)
  const ranges = figureRanges(query)
  const fits = ranges && (await findFigureFits(ctx, ranges, sought ? [sought] : lists.map(({ apps }) => apps)))
  const terms = { rankMin, rankMax, since }
  const found = bestPlaces(lists, { ...terms, only: fits ? fits.fit : sought && bitsOf(sought), upTo: page * limit })
  const unsure = fits ? bestPlaces(lists, { ...terms, only: fits.unsure, upTo: 0 }).count : 0
  const places = orderedPlaces(found, lists, (page - 1) * limit, page * limit)
  const named = places.map(({ app, list }) => ({ app, country: lists[list]!.country }))
  const [shown, figures] = await Promise.all([
    readShownPlaces(sql, news, named),
    query.estimates || fits
      ? readFigures(
          ctx,
          places.map(({ app }) => app),
          fits?.level,
        )
      : null,
  ])
  return { found, unsure, state: fits?.state, lists, places, stand, shown, figures }
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

/** An app of the answer, as JSON: most of it comes as JSON, and most rows are of few lists. */
function rowText(
  { storeId, rank, firstDay }: BestPlace,
  { name, publisher, publisherId }: ShownApp,
  list: string,
  more: object,
): string {
  const [id, seen] = [`"${storeId}"`, firstDay === 0 ? "null" : `"${addDays(EPOCH, firstDay)}"`]
  const called = `"id":${id},"name":${name === "null" ? id : name},"publisher":${publisher},"publisherId":${publisherId}`
  return `{${called},"rank":${rank},${list},"firstSeen":${seen}${membersOf(more, ",")}}`
}

/** What rows say of their list, each written once. */
function listTexts(lists: readonly MarketList[], today: string): (list: number) => string {
  const texts = new Map<number, string>()
  return (at) => {
    const held = texts.get(at)
    if (held !== undefined) return held
    const { country, device, kind, genre, day, measuredAt, source, origin } = lists[at]!
    const ageDays = Math.max(0, daysFromEpoch(today) - daysFromEpoch(day))
    const text = membersOf({ country, device, kind, genre, day, measuredAt, ageDays, source, origin })
    texts.set(at, text)
    return text
  }
}

/** An object's JSON without its braces, behind `before` where there is anything. */
function membersOf(of: object, before = ""): string {
  const text = JSON.stringify(of).slice(1, -1)
  return text === "" ? "" : before + text
}

/** Which lists are behind the answer, of each storefront. */
function coverageOf(stand: readonly MarketStand[], lists: readonly MarketList[], { query, genres }: Question) {
  return stand.map(({ country, followedSince, followedGenres }) => {
    const read = lists.filter((list) => list.country === country)
    const days = read.map(({ day }) => day)
    const oldestDay = days.reduce<string | null>(
      (oldest, day) => (oldest !== null && oldest < day ? oldest : day),
      null,
    )
    const newestDay = days.reduce<string | null>(
      (newest, day) => (newest !== null && newest > day ? newest : day),
      null,
    )
    const followed = new Set(followedGenres?.filter((genre) => !genres || genres.includes(genre)))
    const wanted = followed.size * (query.kind === undefined ? LISTS_OF_GENRE : 1)
    const got = read.filter(
      ({ genre, device, kind }) => followed.has(genre) && (device === "iphone" || kind === "free"),
    )
    return {
      ...{ country, lists: read.length, oldestDay, newestDay, genres: new Set(read.map(({ genre }) => genre)).size },
      ...{ missing: followedGenres && wanted - got.length, followedSince },
    }
  })
}

/** Lists come in one order, and which of them come follows from the question. */
function stateOf(lists: readonly MarketList[], since: number | null, figures: string | undefined): string | null {
  if (lists.length === 0) return null
  const parts = new Float64Array(1 + 2 * lists.length)
  parts[0] = since ?? -1
  let at = 1
  for (const { genre, measuredMs } of lists) {
    parts[at++] = Number(genre)
    parts[at++] = measuredMs
  }
  const stood = hash("sha256", new Uint8Array(parts.buffer))
  return (figures === undefined ? stood : hash("sha256", `${stood} ${figures}`)).slice(0, 16)
}
