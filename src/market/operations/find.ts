import { hash } from "node:crypto"
import * as v from "valibot"
import { refuseUnknownGenres } from "../../charts/operations/chart-genres.ts"
import { Source } from "../../charts/operations/charts.ts"
import { type Context, nothing, operation } from "../../core/operation.ts"
import { ALL_APPS, CHARTS, DEVICES } from "../../lib/charts.ts"
import { dayNumber, dayOf, monthsBefore } from "../../lib/days.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Day, Origin, Rank, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { readFollowedMarket } from "../read/followed.ts"
import { figureFilter, figureState } from "./estimates/figure-fits.ts"
import { FoundFigures, hasFigure, readFoundFigures } from "./estimates/found-figures.ts"
import { readOwnLevel } from "./estimates/own-level.ts"
import { ESTIMATE_CREDITS } from "./estimates.ts"
import { checkFilters, DEEPEST, FindInput, type FindQuery, KINDS } from "./find-filters.ts"
import { type FoundApp, type FoundOrder, findApps, type SearchedList } from "./found-apps.ts"
import { marketAppFields } from "./market-apps.ts"

const CREDITS = 20
const MAX_ROWS = 200
/** `state` encodes first days as numbers of days since this day. */
const EPOCH = "2000-01-01"

const Found = named(
  "FoundApp",
  v.strictObject({
    ...marketAppFields,
    rank: described(Rank, "Best rank on the selected charts."),
    country: described(Storefront, "Storefront of that chart."),
    device: described(v.picklist(DEVICES), "Device of that chart."),
    kind: described(v.picklist(CHARTS), "Kind of that chart."),
    genre: described(v.string(), "Genre of that chart: the App Store's id, 36 means all apps."),
    day: described(Day, "Day of the chart's latest reading."),
    measuredAt: described(Time, "Time of that reading."),
    ageDays: described(Count, "Age of that reading in days."),
    source: Source,
    origin: Origin,
    firstSeen: described(
      v.nullable(Day),
      "First day on which charts of that storefront showed it. Null if unknown because it was on the first reading.",
    ),
    estimates: v.optional(
      described(
        v.nullable(FoundFigures),
        "With estimates or a filter on figures. Null if there are none for this app.",
      ),
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
          lists: described(Count, "Selected charts that were read. 0 if there was none."),
          oldestDay: described(v.nullable(Day), "Day of the oldest of their latest readings. Null if none was read."),
          newestDay: described(v.nullable(Day), "Day of the newest of their latest readings. Null if none was read."),
          genres: described(Count, "Genres of those charts."),
          missing: described(
            v.nullable(Count),
            "Selected charts that are scheduled daily but not read yet. Null if they are not scheduled (see " +
              "followedSince).",
          ),
          followedSince: described(
            v.nullable(Day),
            "Time since when all its charts are read daily. Null if they are not.",
          ),
        }),
      ),
      "Coverage of each requested storefront.",
    ),
    firstSeenUnknown: described(
      Count,
      "Apps that match everything else but were excluded by released, because their first day is unknown. 0 " +
        "without released.",
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
  description: "Needs a filter; country=us alone does not count.",
  effect: "reads",
  scope: "hive:read",
  hive: "pack",
  price: {
    min: CREDITS,
    atMost: CREDITS + MAX_ROWS * ESTIMATE_CREDITS,
    of: (_, { apps }) => CREDITS + ESTIMATE_CREDITS * apps.filter(({ estimates }) => hasFigure(estimates)).length,
    note: `${ESTIMATE_CREDITS} a row with an estimate`,
  },
  faults: ["no_filters"],
  input: FindInput,
  refine: checkFilters,
  narrow: { rows: ["apps"] },
  table: "apps",
  output: v.strictObject({
    platform: described(Store, "Always ios: Google Play publishes no charts."),
    countries: described(v.array(Storefront), "The requested storefronts."),
    kind: described(v.nullable(v.picklist(KINDS)), "The requested chart. Null for all."),
    genres: described(v.nullable(v.array(v.string())), "The requested genres. Null for all."),
    page: Rank,
    total: described(Count, "Number of matching apps on all pages."),
    state: described(
      v.nullable(v.string()),
      "Identifies the state of the charts and, with a filter on figures, of the figures. Pages with the same " +
        "state do not repeat apps; another state means that a chart was read in between. Null if no chart was read.",
    ),
    apps: described(
      v.array(Found),
      "Best rank first, then lowest id. Of several charts with an app's best rank, the overall chart is shown, else " +
        "the first by storefront code, then iPhone before iPad, then free, grossing, paid.",
    ),
    noEstimate: described(
      Count,
      "Apps that match everything else but were excluded by a filter on revenue, downloads or growth, because the " +
        "figure is unknown or has only an upper bound that decides nothing.",
    ),
    coverage: Coverage,
  }),
}).run(async (query, ctx) => await foundIn(query, "rank", ctx))

/** Sorts all matches in the answer's order, and returns one page of them. */
export async function foundIn(query: FindQuery, order: FoundOrder, ctx: Context) {
  const { sql } = ctx
  const countries = [...new Set(query.country)]
  const genres = query.genre && [...new Set(query.genre)]
  const today = dayOf(ctx.now())
  const since = query.released === undefined ? null : monthsBefore(today, query.released)
  const hasFigures = query.estimates === true || figureFilter(query, null) !== null
  const level = hasFigures ? await readOwnLevel(ctx) : null
  const figures = figureFilter(query, level)
  const { text, publisher, kind, limit, page, rankMin = 1, rankMax = DEEPEST } = query
  const search = {
    countries,
    genres,
    kind,
    rankMin,
    rankMax,
    since,
    text,
    publisher,
    figures,
    level,
    order,
    limit,
    page,
  }
  const [found, followed] = await Promise.all([findApps(sql, search), readFollowedMarket(sql)])
  const { lists, total } = found
  const unread = (genres ?? []).filter((genre) => !lists.some((list) => list.genre === genre))
  await refuseUnknownGenres(sql, countries, unread)
  const ids = found.apps.map(({ app }) => app)
  const estimates = hasFigures ? await readFoundFigures(ctx, ids, level) : null
  const answer = {
    platform: "ios" as const,
    countries,
    kind: kind ?? null,
    genres: genres ?? null,
    page,
    total,
    state: stateOf(lists, since, figures ? figureState(found.figures, level) : null),
    apps: found.apps.map((app, at) => ({
      ...shownApp(app, today),
      ...(estimates && { estimates: estimates[at]! }),
    })),
    noEstimate: found.unsure,
    coverage: {
      storefronts: countries.toSorted().map((country) => coverageOf(country, { lists, followed, genres, kind })),
      firstSeenUnknown: found.unknown,
    },
  }
  return answer.apps.length === 0 ? nothing(answer) : answer
}

function shownApp({ app: _, measuredMs, ...app }: FoundApp, today: string) {
  const { id, name, publisher, publisherId, rank, country, device, kind, genre, day, source, origin, firstSeen } = app
  return {
    id,
    name,
    publisher,
    publisherId,
    rank,
    country,
    device,
    kind,
    genre,
    day,
    measuredAt: new Date(measuredMs).toISOString(),
    ageDays: Math.max(0, dayNumber(today) - dayNumber(day)),
    source,
    origin,
    firstSeen,
  }
}

/**
 * Returns a hash of everything the answer depends on: the charts and their reading times (overall charts first),
 * `since` and the version of the figures. Null without charts.
 */
function stateOf(lists: readonly SearchedList[], since: string | null, figures: string | null): string | null {
  if (lists.length === 0) return null
  const ordered = [
    ...lists.filter(({ genre }) => genre === ALL_APPS),
    ...lists.filter(({ genre }) => genre !== ALL_APPS),
  ]
  const first = since === null ? -1 : dayNumber(since) - dayNumber(EPOCH)
  const stamps = ordered.flatMap(({ genre, measuredMs }) => [Number(genre), measuredMs])
  const state = hash("sha256", new Uint8Array(Float64Array.of(first, ...stamps).buffer))
  return (figures === null ? state : hash("sha256", `${state} ${figures}`)).slice(0, 16)
}

interface CoverageScope {
  lists: readonly SearchedList[]
  followed: readonly { storefront: string; genres: readonly string[]; since: string }[]
  genres: readonly string[] | undefined
  kind: string | undefined
}

/** Number of charts per genre: three for the iPhone, and the free one for the iPad. */
const LISTS_OF_GENRE = 4

function coverageOf(country: string, { lists, followed, genres, kind }: CoverageScope) {
  const read = lists.filter((list) => list.country === country)
  const days = read.map(({ day }) => day).toSorted()
  const market = followed.find(({ storefront }) => storefront === country)
  const wanted = new Set(market?.genres.filter((genre) => !genres || genres.includes(genre)))
  const got = read.filter(
    ({ genre, device, kind }) => wanted.has(genre) && (device === "iphone" || kind === "free"),
  ).length
  return {
    country,
    lists: read.length,
    oldestDay: days[0] ?? null,
    newestDay: days.at(-1) ?? null,
    genres: new Set(read.map(({ genre }) => genre)).size,
    missing: market ? wanted.size * (kind === undefined ? LISTS_OF_GENRE : 1) - got : null,
    followedSince: market?.since ?? null,
  }
}
