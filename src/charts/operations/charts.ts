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
export const ChartStore = described(v.picklist(["ios"]), "Always ios: Google Play publishes no charts.")

export const Source = named(
  "ChartSource",
  v.picklist(CHART_SOURCES),
  "apple-charts: read from the App Store by this instance; import: from a file. Ranks from different sources " +
    "cannot be compared.",
)

export const Depth = described(v.pipe(v.number(), v.integer(), v.minValue(0)), "Number of places read.")

const Point = described(
  v.strictTuple([Day, v.nullable(Rank), Depth]),
  "[day, rank, depth] triples. A null rank means measured and absent from the depth places read. Days without a " +
    "triple were not measured.",
)

const Run = described(
  v.strictObject({ source: Source, from: Day, to: Day }),
  "Runs of consecutive points from one source. Compare ranks only within a run.",
)

const Chart = named(
  "Chart",
  v.strictObject({
    device: described(v.picklist(DEVICES), "Device of the chart."),
    kind: described(v.picklist(CHARTS), "Free apps, paid apps, or all apps by revenue."),
    scope: described(v.picklist(["overall", "category"]), "All apps of the store, or the app's category."),
    genre: described(v.nullable(Genre), "Null if the app's category is unknown; its chart is then not measured."),
    measured: described(
      v.boolean(),
      "False if this chart was never read or the app does not track the storefront (see state).",
    ),
    day: described(
      v.nullable(Day),
      "The latest UTC day on which the chart was measured; rank is of that day. Null if never.",
    ),
    measuredAt: described(v.nullable(Time), "Time of that day's reading. Null if never measured."),
    measuredSince: described(v.nullable(Day), "First measured day of the chart. Null if never measured."),
    source: described(v.nullable(Source), "Source of that day's reading. Null if measured is false."),
    depth: described(v.nullable(Depth), "Number of places read that day. Null if measured is false."),
    rank: described(
      v.nullable(Rank),
      "Null if absent from the places read (measured is true) or unknown (measured is false).",
    ),
    sources: described(v.array(Run), "Oldest first. Empty if series is empty."),
    series: described(v.array(Point), "Measured days from `from` to `to`, oldest first."),
  }),
)

export const getChartPositions = operation({
  id: "get_chart_positions",
  method: "GET",
  path: "/apps/:appId/charts",
  group: "Your apps",
  toolset: "charts",
  summary: "Returns the app's positions in the App Store's top charts, now and over time.",
  description:
    "Twelve charts: free, paid and grossing, overall and in the app's category, on iPhone and iPad. A chart has " +
    "one of three states: measured false means not read; measured true with a null rank means absent from the " +
    `places read; a number is the rank. The history covers ${HISTORY_DAYS} days, or the plan's history if ` +
    "shorter, in the current category. iOS only: Google Play publishes no chart data. get_chart_movers has the " +
    "other apps of a chart.",
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
      "measured: at least one chart was read; not_measured: none was read; not_tracked: the app does not track " +
        "this storefront, so its charts are not read; no_ios_app: the app is only on Google Play, and charts is " +
        "empty.",
    ),
    category: described(v.nullable(Genre), "The app's primary genre in the App Store. Null if unknown."),
    from: described(
      Day,
      `First UTC day of the history: ${HISTORY_DAYS} days including today, or the plan's history if shorter.`,
    ),
    to: described(Day, "Last UTC day of the history: today."),
    measuredAt: described(v.nullable(Time), "Time of the latest reading of any chart. Null if never read."),
    charts: described(v.array(Chart), "iPhone before iPad, overall before category, then free, paid and grossing."),
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
 * Returns one row per measured day, oldest first; a list that was never read has one row. The time is known only for
 * the latest day. If the fields about the latest day are not requested, only the series is returned.
 */
function chartRows(chart: Partial<v.InferOutput<typeof Chart>>): TableRow[] {
  const { device, kind, scope, genre, sources, series, measuredSince } = chart
  const { measured, day, measuredAt, source, depth, rank } = chart
  const ofGenre = genre === undefined ? {} : { genreId: genre?.id ?? null, genreName: genre?.name ?? null }
  const about = { device, kind, scope, ...ofGenre, measuredSince }
  const latest = { ...about, measured, day, measuredAt, rank, depth, source }
  if (!series) return [latest]
  // a column exists in every row or in none
  const knowsLatest = [measured, day, rank, depth].every((value) => value !== undefined)
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
