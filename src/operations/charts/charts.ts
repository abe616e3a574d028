import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { sourceRuns } from "../../formulas/source-runs.ts"
import { type ChartPoint, type ChartPosition, chartPositions, chartSeries } from "../../history/charts.ts"
import { ownId } from "../../history/ranks.ts"
import type { ChartKey } from "../../observations/rows/chart-identities.ts"
import { ALL_APPS, CHART_SOURCES, CHARTS, DEVICES } from "../../observations/types-charts.ts"
import { ofApp, operation } from "../../operation.ts"
import type { TrackedApp } from "../../tracking/tracked-app.ts"
import { addDays, dayOf } from "../../vocabulary/days.ts"
import { AppCountry } from "../../vocabulary/fields.ts"
import { described } from "../../vocabulary/schema.ts"
import { Day, Rank, Storefront, Time } from "../shapes.ts"

/** The longest history: twelve lists of it are some 700 points, and each is looked for in a reading of 200 apps. */
const HISTORY_DAYS = 60

/** The one platform with charts. */
export const ChartStore = described(v.picklist(["ios"]), "Always ios: of Google Play there is no chart data.")

export const Genre = v.strictObject({
  id: described(v.string(), `The App Store's own id; ${ALL_APPS} = all apps.`),
  name: described(
    v.nullable(v.string()),
    "As the store names it in that storefront; null = its names were not read yet.",
  ),
})

export const Source = described(
  v.picklist(CHART_SOURCES),
  "Where a reading comes from: apple-charts = read from the App Store by this instance, import = from a file. Ranks of two sources cannot be compared.",
)

export const Depth = described(v.pipe(v.number(), v.integer(), v.minValue(0)), "How many places were read.")

const Point = described(
  v.strictTuple([Day, v.nullable(Rank), Depth]),
  "[day, rank, depth]; rank null = measured, and the app was not among the depth places read. Days without a point were not measured.",
)

const Run = described(
  v.strictObject({ source: Source, from: Day, to: Day }),
  "Points next to each other that one source gave: compare ranks within one of these only.",
)

const Chart = v.strictObject({
  device: described(v.picklist(DEVICES), "Whose chart."),
  kind: described(v.picklist(CHARTS), "Of free apps, of paid ones, or of all by what they earn."),
  scope: described(v.picklist(["overall", "category"]), "All apps of the store, or those of the app's category."),
  genre: described(v.nullable(Genre), "Null = the app's category is not known yet, so its chart is not measured."),
  measured: described(
    v.boolean(),
    "False = nobody ever read this list, or the app does not track the storefront (state).",
  ),
  day: described(
    v.nullable(Day),
    "The latest UTC day on which the list was measured: rank is of that day. Null = never.",
  ),
  measuredAt: described(v.nullable(Time), "When that day's answer was seen; null = never."),
  measuredSince: described(v.nullable(Day), "The first day on which the list was measured; null = never."),
  source: described(v.nullable(Source), "Where that day's answer comes from; null where measured is false."),
  depth: described(v.nullable(Depth), "How many places were read that day; null where measured is false."),
  rank: described(
    v.nullable(Rank),
    "Null with measured true = the app was not among the depth places read; null with measured false = unknown.",
  ),
  sources: described(v.array(Run), "Oldest first; empty where series is."),
  series: described(v.array(Point), "The measured days from `from` to `to`, oldest first."),
})

export const getChartPositions = operation({
  id: "get_chart_positions",
  method: "GET",
  path: "/apps/:appId/charts",
  group: "Your apps",
  toolset: "charts",
  summary: "Where the app stands in the App Store's top charts, now and over time.",
  description: `Twelve lists: free, paid and grossing, overall and in the app's category, on iPhone and iPad. Three states: measured false = nobody read the list; measured true and rank null = absent from the places read; a number = the rank. History of ${HISTORY_DAYS} days, or of the plan's where that is shorter, in today's category. iOS only: of Google Play there is no chart data.`,
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry }),
  output: v.strictObject({
    country: Storefront,
    platform: ChartStore,
    state: described(
      v.picklist(["measured", "not_measured", "not_tracked", "no_ios_app"]),
      "measured = at least one list is; not_measured = none yet; not_tracked = the app does not track this storefront, so nothing there is measured for it; no_ios_app = the app is on Google Play alone, and charts is empty.",
    ),
    category: described(v.nullable(Genre), "The app's main genre in the App Store; null = not known yet."),
    from: described(
      Day,
      `The first UTC day of the history: ${HISTORY_DAYS} days with today, or the plan's where those are fewer.`,
    ),
    to: described(Day, "The last UTC day of the history: today."),
    measuredAt: described(v.nullable(Time), "When the latest of all the lists' answers was seen; null = never."),
    charts: described(v.array(Chart), "iPhone before iPad, overall before category; then free, paid, grossing."),
  }),
}).run(async ({ app, storefront }, { sql, now, caller }) => {
  const to = dayOf(now())
  const window = { from: addDays(to, 1 - Math.min(HISTORY_DAYS, caller.entitlements.historyDays)), to }
  const lists = await listsOf(sql, app, storefront)
  const own = ownId(app, { platform: "ios", storefront })
  const keys = own === null ? [] : lists.flatMap(({ key }) => key ?? [])
  const [positions, series] = own === null ? [[], []] : await readCharts(sql, own, keys, window)
  const seen = positions.flatMap(({ seenAt }) => seenAt ?? []).sort((a, b) => b.getTime() - a.getTime())
  return {
    country: storefront,
    platform: "ios" as const,
    state: stateOf(app, own, seen.length > 0),
    category: lists.at(-1)?.genre ?? null,
    ...window,
    measuredAt: seen[0]?.toISOString() ?? null,
    charts: lists.map(({ key, ...list }) => {
      const place = key === null ? -1 : keys.indexOf(key)
      return { ...list, ...standing(positions[place]), ...history(series[place]?.points ?? []) }
    }),
  }
})

interface List extends Pick<v.InferOutput<typeof Chart>, "device" | "kind" | "scope" | "genre"> {
  /** Null where the app's category is not known. */
  key: ChartKey | null
}

/** The lists that an app can be on, in the answer's order; none without an iOS side. */
async function listsOf(sql: Sql, app: TrackedApp, storefront: string): Promise<List[]> {
  if (app.iosApp === null) return []
  const category = await categoryOf(sql, app.iosApp)
  const names = await genreNames(sql, storefront, category === null ? [ALL_APPS] : [ALL_APPS, category])
  const scopes = [
    { scope: "overall", genre: ALL_APPS },
    { scope: "category", genre: category },
  ] as const
  return DEVICES.flatMap((device) =>
    scopes.flatMap(({ scope, genre }) =>
      CHARTS.map((kind) => ({
        ...{ device, kind, scope },
        genre: genre === null ? null : { id: genre, name: names.get(genre) ?? null },
        key: genre === null ? null : { platform: "ios" as const, storefront, device, chart: kind, genre },
      })),
    ),
  )
}

/** The store's id of a store app's main genre; null = not known yet. */
export async function categoryOf(sql: Sql, app: number): Promise<string | null> {
  const [row] = await sql<{ genre: string | null }[]>`
    select genre
    from store_app
    where id = ${app}`
  return row?.genre ?? null
}

/** What the App Store calls genres in a storefront; one that it has not named yet is left out. */
export async function genreNames(
  sql: Sql,
  storefront: string,
  genres: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ genre: string; name: string }[]>`
    select genre, name
    from genre
    where platform = 'ios' and storefront = ${storefront} and genre = any(${genres as string[]}::text[])
    order by genre
    limit ${genres.length}`
  return new Map(rows.map(({ genre, name }) => [genre, name]))
}

async function readCharts(sql: Sql, own: number, keys: readonly ChartKey[], window: { from: string; to: string }) {
  return await Promise.all([chartPositions(sql, own, keys), chartSeries(sql, own, keys, window)])
}

function stateOf(app: TrackedApp, own: number | null, anyMeasured: boolean) {
  if (app.iosApp === null) return "no_ios_app" as const
  if (own === null) return "not_tracked" as const
  return anyMeasured ? ("measured" as const) : ("not_measured" as const)
}

const UNMEASURED = {
  measured: false,
  day: null,
  measuredAt: null,
  measuredSince: null,
  source: null,
  depth: null,
  rank: null,
}

function standing(position: ChartPosition | undefined) {
  if (!position?.measured) return UNMEASURED
  const { day, seenAt, firstDay, source, depth, rank } = position
  return {
    measured: true,
    day,
    measuredAt: seenAt?.toISOString() ?? null,
    measuredSince: firstDay,
    source,
    depth,
    rank,
  }
}

function history(points: readonly ChartPoint[]) {
  return {
    sources: sourceRuns(points),
    series: points.map(({ day, rank, depth }): [string, number | null, number] => [day, rank, depth]),
  }
}
