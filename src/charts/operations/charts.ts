import * as v from "valibot"
import type { ChartKey } from "../../core/observation/subjects.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { ALL_APPS, CHART_SOURCES, CHARTS, DEVICES } from "../../lib/charts.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { AppCountry } from "../../lib/fields.ts"
import type { TableRow } from "../../lib/list-table.ts"
import { described, named } from "../../lib/schema.ts"
import { sourceOn, sourceRuns } from "../../lib/source-runs.ts"
import { Day, Rank, Storefront, Time } from "../../tracking/shapes.ts"
import { type ChartPoint, type ChartPosition, readChartPositions, readChartSeries } from "../read/charts.ts"
import { Genre, readCategory, readGenreNames } from "./chart-genres.ts"

/** The longest history: twelve lists have some 700 points, each searched in a reading of 200 apps. */
const HISTORY_DAYS = 60

/** The only platform with charts. */
export const ChartStore = described(v.picklist(["ios"]), "Always ios: of Google Play there is no chart data.")

export const Source = named(
  "ChartSource",
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

const Chart = named(
  "Chart",
  v.strictObject({
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
  }),
)

export const getChartPositions = operation({
  id: "get_chart_positions",
  method: "GET",
  path: "/apps/:appId/charts",
  group: "Your apps",
  toolset: "charts",
  summary: "Where the app stands in the App Store's top charts, now and over time.",
  description: `Twelve lists: free, paid and grossing, overall and in the app's category, on iPhone and iPad. Three states: measured false = nobody read the list; measured true and rank null = absent from the places read; a number = the rank. History of ${HISTORY_DAYS} days, or of the plan's where that is shorter, in today's category. iOS only: of Google Play there is no chart data. get_chart_movers has the others on a list.`,
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry }),
  narrow: { rows: ["charts"] },
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
  table: {
    columns: [
      "device",
      "kind",
      "scope",
      "genreId",
      "genreName",
      "measured",
      "day",
      "measuredAt",
      "rank",
      "depth",
      "source",
      "measuredSince",
      "categoryId",
      "categoryName",
    ],
    rows: ({ charts, category }) => {
      const categoryColumns = { categoryId: category?.id ?? null, categoryName: category?.name ?? null }
      return charts.flatMap(chartRows).map((row) => ({ ...row, ...categoryColumns }))
    },
  },
}).run(async ({ app, storefront }, { sql, now, caller }) => {
  const to = dayOf(now())
  const window = { from: addDays(to, 1 - Math.min(HISTORY_DAYS, caller.entitlements.historyDays)), to }
  const lists = await readLists(sql, app, storefront)
  const storeAppId = ownId(app, { platform: "ios", storefront })
  const keys = storeAppId === null ? [] : lists.flatMap(({ key }) => key ?? [])
  const [positions, series] = storeAppId === null ? [[], []] : await readCharts(sql, storeAppId, keys, window)
  const seen = positions.flatMap(({ seenAt }) => seenAt ?? []).sort((a, b) => b.getTime() - a.getTime())
  return {
    country: storefront,
    platform: "ios" as const,
    state: stateOf(app, storeAppId, seen.length > 0),
    category: lists.at(-1)?.genre ?? null,
    ...window,
    measuredAt: seen[0]?.toISOString() ?? null,
    charts: lists.map(({ key, ...list }) => {
      const place = key === null ? -1 : keys.indexOf(key)
      return { ...list, ...standing(positions[place]), ...history(series[place]?.points ?? []) }
    }),
  }
})

/**
 * One row per measured day, oldest first; a list that was never read has one row. The time is known only for the latest
 * day. If the fields about the latest day are not requested, only the series is returned.
 */
function chartRows(chart: Partial<v.InferOutput<typeof Chart>>): TableRow[] {
  const { device, kind, scope, genre, sources, series, measuredSince } = chart
  const { measured, day, measuredAt, source, depth, rank } = chart
  const ofGenre = genre === undefined ? {} : { genreId: genre?.id ?? null, genreName: genre?.name ?? null }
  const about = { device, kind, scope, ...ofGenre, measuredSince }
  const latest = { ...about, measured, day, measuredAt, rank, depth, source }
  if (!series) return [latest]
  // a column exists in every row or in none
  const knowsLatest = [measured, day, rank, depth].every((known) => known !== undefined)
  const runs = knowsLatest && source === undefined ? undefined : sources
  const rows = series.map(([of, rank, depth]) => ({
    ...about,
    measured: true,
    day: of,
    measuredAt: knowsLatest && measuredAt !== undefined ? null : undefined,
    rank,
    depth,
    source: runs && sourceOn(runs, of),
  }))
  const last = { ...latest, source: runs && source }
  return knowsLatest ? [...rows.filter((row) => row.day !== day), last] : rows
}

interface List extends Pick<v.InferOutput<typeof Chart>, "device" | "kind" | "scope" | "genre"> {
  /** Null if the app's category is unknown. */
  key: ChartKey | null
}

/** Returns the lists that an app can be on, in the order of the answer. Empty without an iOS side. */
async function readLists(sql: Sql, app: TrackedApp, storefront: string): Promise<List[]> {
  if (app.iosApp === null) return []
  const category = await readCategory(sql, app.iosApp)
  const names = await readGenreNames(sql, storefront, category === null ? [ALL_APPS] : [ALL_APPS, category])
  const scopes = [
    { scope: "overall", genre: ALL_APPS },
    { scope: "category", genre: category },
  ] as const
  return DEVICES.flatMap((device) =>
    scopes.flatMap(({ scope, genre }) =>
      CHARTS.map((kind) => ({
        device,
        kind,
        scope,
        genre: genre === null ? null : { id: genre, name: names.get(genre) ?? null },
        key: genre === null ? null : { platform: "ios" as const, storefront, device, chart: kind, genre },
      })),
    ),
  )
}

async function readCharts(
  sql: Sql,
  storeAppId: number,
  keys: readonly ChartKey[],
  window: { from: string; to: string },
) {
  return await Promise.all([readChartPositions(sql, storeAppId, keys), readChartSeries(sql, storeAppId, keys, window)])
}

function stateOf(app: TrackedApp, storeAppId: number | null, anyMeasured: boolean) {
  if (app.iosApp === null) return "no_ios_app" as const
  if (storeAppId === null) return "not_tracked" as const
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
