import * as v from "valibot"
import { bitsOf } from "../../formulas/places/app-bits.ts"
import { bestPlaces } from "../../formulas/places/best-places.ts"
import { indexedPlaces } from "../../formulas/places/indexed-places.ts"
import { type ChosenLists, chosenLists, indexChosen } from "../../history/market/chosen-lists.ts"
import { readFigureTable } from "../../history/market/figure-table.ts"
import { readShownPlaces } from "../../history/market/found-apps.ts"
import { loadMarketLists, type MarketList } from "../../history/market/lists.ts"
import { readMarketNews, standOf } from "../../history/market/market-news.ts"
import { readSoughtApps } from "../../history/market/sought-apps.ts"
import { CHARTS, DEVICES } from "../../observations/types-charts.ts"
import { type Context, nothing, operation } from "../../operation.ts"
import { dayOf, monthsBefore } from "../../vocabulary/days.ts"
import { WrittenAnswer } from "../../vocabulary/prepared.ts"
import { described, named } from "../../vocabulary/schema.ts"
import { refuseUnknownGenres } from "../charts/chart-genres.ts"
import { Source } from "../charts/charts.ts"
import { Count, Day, Origin, Rank, Store, Storefront, Time } from "../shapes.ts"
import { figureFits, figureState } from "./estimates/figure-fits.ts"
import { FoundFigures, figureRanges, hasFigure, readFoundFigures } from "./estimates/found-figures.ts"
import { readOwnLevel } from "./estimates/own-level.ts"
import { ESTIMATE_CREDITS } from "./estimates.ts"
import { checkFilters, DEEPEST, FindInput, type FindQuery, KINDS } from "./find-filters.ts"
import { coverageText, daysFromEpoch, rowTexts, stateOf } from "./find-texts.ts"
import { marketAppFields } from "./market-apps.ts"

const CREDITS = 20
const MOST = 200

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
  table: "apps",
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
  const { found, shown, figures, state, coverage } = await findPlaces(ctx, question)
  const head = {
    ...{ platform: "ios" as const, countries, kind: query.kind ?? null, genres: genres ?? null, page },
    ...{ total: found.count, state },
  }
  const covered = `{"storefronts":[${coverage.join()}],"firstSeenUnknown":${found.unknown}}`
  const tail = `"noEstimate":${found.unsure},"coverage":${covered}}`
  const apps = figures?.map((estimates) => ({ estimates })) ?? []
  const rows = rowTexts(found.page, shown, figures, today)
  const answer = new WrittenAnswer(`${JSON.stringify(head).slice(0, -1)},"apps":[${rows}],${tail}`, { apps })
  return rows === "" ? nothing(answer.toJSON() as object) : answer
})

interface Question {
  query: FindQuery
  countries: readonly string[]
  genres: readonly string[] | undefined
  since: number | null
}

async function findPlaces(ctx: Context, { query, countries, genres, since }: Question) {
  const { sql } = ctx
  const { kind, page, limit, rankMin = 1, rankMax = DEEPEST } = query
  const ranges = figureRanges(query)
  const isOfFigures = ranges !== null || query.estimates === true
  const [news, level] = await Promise.all([readMarketNews(sql), isOfFigures ? readOwnLevel(ctx) : null])
  const stand = standOf(news, countries)
  const { storefronts, storeIds } = await loadMarketLists(sql, stand)
  const wanted = { genres, list: listOf(kind) }
  const chosen = storefronts.map((storefront) => chosenLists(storefront, wanted))
  if (genres) await refuseUnknownGenres(sql, countries, withoutList(genres, chosen))
  const by = genres ? null : await indexChosen(storefronts, chosen, storeIds)
  const sought = await readSoughtApps(sql, news, () => appsOn(chosen), query)
  const ground = isOfFigures ? { figures: await readFigureTable(sql, news.figures), level } : null
  const highest = Math.max(...storefronts.map(({ highest }) => highest))
  const fits = ranges && figureFits(ground!, ranges, { highest, apps: () => appsOn(chosen) }, sought)
  const only = fits ? fits.fit : sought && bitsOf(sought)
  const part = { from: (page - 1) * limit, to: page * limit }
  const terms = { rankMin, rankMax, since, only, unsure: fits?.unsure ?? null, ...part }
  const found = by ? indexedPlaces(by.indexes, by.bits, terms, storeIds) : bestPlaces(listsIn(chosen), terms, storeIds)
  const state = stateOf(chosen, since, fits ? figureState(ground!) : undefined)
  const places = found.page.map(({ app, storeId, list }) => ({ app, storeId, country: list.country }))
  const [shown, figures] = await Promise.all([
    readShownPlaces(sql, news, ctx.caller.workspaceId, places),
    ground && readFoundFigures(ctx, places.map(({ app }) => app), ground),
  ]) // biome-ignore format: one line each
  const coverage = chosen.map((one, at) => coverageText(one, stand[at]!, genres, kind))
  return { found, shown, figures, state, coverage }
}

/** The overall ones first, as the place on them says most. */
function listsIn(chosen: readonly ChosenLists[]): MarketList[] {
  return [...chosen.flatMap(({ overall }) => overall), ...chosen.flatMap(({ others }) => others)]
}

function appsOn(chosen: readonly ChosenLists[]): Int32Array[] {
  return listsIn(chosen).map(({ apps }) => apps)
}

function listOf(kind: FindQuery["kind"]) {
  if (kind === undefined) return undefined
  return kind === "ipad" ? ({ device: "ipad", kind: "free" } as const) : ({ device: "iphone", kind } as const)
}

function withoutList(genres: readonly string[], chosen: readonly ChosenLists[]): string[] {
  const read = new Set(listsIn(chosen).map(({ genre }) => genre))
  return genres.filter((genre) => !read.has(genre))
}
