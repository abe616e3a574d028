import { hash } from "node:crypto"
import * as v from "valibot"
import { refuseUnknownGenres } from "../../charts/operations/chart-genres.ts"
import { Source } from "../../charts/operations/charts.ts"
import { nothing, operation } from "../../core/operation.ts"
import { ALL_APPS, CHARTS, DEVICES } from "../../lib/charts.ts"
import { dayNumber, dayOf, monthsBefore } from "../../lib/days.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Day, Origin, Rank, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { readFollowedMarket } from "../read/followed.ts"
import { figureFilter, figureState } from "./estimates/figure-fits.ts"
import { FoundFigures, hasFigure, readFoundFigures } from "./estimates/found-figures.ts"
import { readOwnLevel } from "./estimates/own-level.ts"
import { ESTIMATE_CREDITS } from "./estimates.ts"
import { checkFilters, DEEPEST, FindInput, KINDS } from "./find-filters.ts"
import { type FoundApp, findApps, type SearchedList } from "./found-apps.ts"
import { marketAppFields } from "./market-apps.ts"

const CREDITS = 20
const MAX_ROWS = 200
/** Day zero for the first day of apps in `state`. */
const EPOCH = "2000-01-01"

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
  const { sql } = ctx
  const countries = [...new Set(query.country)]
  const genres = query.genre && [...new Set(query.genre)]
  const today = dayOf(ctx.now())
  const since = query.released === undefined ? null : monthsBefore(today, query.released)
  const hasFigures = query.estimates === true || figureFilter(query, null) !== null
  const level = hasFigures ? await readOwnLevel(ctx) : null
  const figures = figureFilter(query, level)
  const { text, publisher, kind, limit, page, rankMin = 1, rankMax = DEEPEST } = query
  const search = { countries, genres, kind, rankMin, rankMax, since, text, publisher, figures, limit, page }
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
})

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
 * Returns a hash of everything the answer depends on: the charts with their reading times, those of all apps first, and
 * the figures. Null without charts.
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

/** Three charts of the iPhone and the free one of the iPad. */
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
