import * as v from "valibot"
import { Genre, genreId, readGenreNames, refuseUnknownGenre } from "../../charts/operations/chart-genres.ts"
import { ChartStore, Depth, Source } from "../../charts/operations/charts.ts"
import { readChart } from "../../charts/read/charts.ts"
import type { ChartKey } from "../../core/observation/subjects.ts"
import { operation } from "../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS } from "../../core/read-on-request.ts"
import type { Sql } from "../../database/types.ts"
import { ALL_APPS, CHARTS } from "../../lib/charts.ts"
import { wholeNumber } from "../../lib/fields.ts"
import { valueAt } from "../../lib/objects.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { Count, Day, Origin, Rank, Storefront, Time } from "../../tracking/shapes.ts"
import { placeCurve } from "../formulas/place-curve.ts"
import { readFigures, shownFigure } from "./estimates/figures.ts"
import type { OwnContext } from "./estimates/own-sales.ts"
import { ESTIMATE_CREDITS, Estimate, isEstimated } from "./estimates.ts"
import { MarketCountry } from "./inputs.ts"
import { marketAppFields, readMarketApps } from "./market-apps.ts"
import { readNow } from "./read-now.ts"

const CREDITS = 10
const MAX_ROWS = 100
/** Followed charts are read daily. */
const KEPT_DAYS = 1

const Row = named(
  "MarketChartRow",
  v.strictObject({
    rank: Rank,
    ...marketAppFields,
    estimate: v.optional(
      described(
        v.nullable(Estimate),
        "With estimates: the app's estimate, as in hive_estimate_app. Null if there is none.",
      ),
    ),
    rankEstimate: v.optional(
      described(
        v.nullable(Estimate),
        "With estimates: expected figure for the rank, from the median of nearby apps, falling with the rank. " +
          "Null if unknown.",
      ),
    ),
  }),
)

const Threshold = named(
  "ChartThreshold",
  v.strictObject({
    rank: Rank,
    estimate: Estimate,
    n: v.optional(described(Count, "Apps of the chart with a figure.")),
  }),
)
/** These ranks are fixed by the API specification. */
const THRESHOLDS = [10, 50, 100]

export const hiveGetChart = operation({
  id: "hive_get_chart",
  method: "GET",
  path: "/hive/charts",
  group: "Hive",
  toolset: "hive",
  summary: "Returns a top chart of the App Store, tracked or not.",
  description:
    "The latest reading of the iPhone chart. A chart that is not tracked is read on request and cached for " +
    `${KEPT_DAYS * 24} hours; if it cannot be read now, the answer is the earlier reading with its day. Rows ` +
    "without an estimate are not charged.",
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: {
    min: CREDITS,
    atMost: CREDITS + MAX_ROWS * ESTIMATE_CREDITS,
    of: (_, { apps }) => CREDITS + ESTIMATE_CREDITS * apps.filter(({ estimate }) => isEstimated(estimate)).length,
    note: `${ESTIMATE_CREDITS} a row with an estimate`,
  },
  faults: READING_FAULTS,
  deadlineMs: READING_DEADLINE_MS,
  input: v.strictObject({
    country: MarketCountry,
    kind: v.optional(coded(v.pipe(v.picklist(CHARTS), v.description("The chart. Default: free.")), "bad_kind")),
    genre: v.optional(genreId("The App Store's genre id. Default: all apps.")),
    limit: v.optional(wholeNumber(1, MAX_ROWS, `Maximum number of rows. Default: ${MAX_ROWS}.`, "invalid_arguments")),
    estimates: v.optional(v.pipe(v.boolean(), v.description("True adds estimated monthly figures of each app."))),
  }),
  table: "apps",
  output: v.strictObject({
    country: Storefront,
    platform: ChartStore,
    device: described(v.picklist(["iphone"]), "Device of the chart: always iPhone."),
    kind: described(v.picklist(CHARTS), "The chart."),
    genre: Genre,
    day: Day,
    measuredAt: described(Time, "Time of that reading."),
    source: Source,
    origin: Origin,
    depth: Depth,
    measuredSince: described(Day, "First measured day of this chart."),
    measure: v.optional(
      described(
        v.picklist(["downloads", "revenue"]),
        "With estimates: the estimated measure. Revenue for the grossing chart, else downloads.",
      ),
    ),
    apps: v.array(Row),
    thresholds: v.optional(
      described(
        v.nullable(v.array(Threshold)),
        "With estimates: the figure needed for ranks 10, 50 and 100; a rank outside all apps with an estimate is " +
          "missing. Null if fewer than five apps have one.",
      ),
    ),
  }),
}).run(async ({ country: storefront, kind = "free", genre = ALL_APPS, limit = MAX_ROWS, estimates }, ctx) => {
  const { sql } = ctx
  const key = { platform: "ios", storefront, device: "iphone", chart: kind, genre } as const
  await refuseUnknownGenre(sql, key)
  return await readNow(ctx, { wanted: wantedChart(key), keptDays: KEPT_DAYS }, async () => {
    const found = await readChart(sql, key)
    if (!found) return null
    const { day, seenAt, source, origin, depth, firstDay, appIds } = found
    return {
      country: storefront,
      platform: key.platform,
      device: key.device,
      kind,
      genre: await readGenre(sql, key),
      day,
      measuredAt: seenAt.toISOString(),
      source,
      origin,
      depth,
      measuredSince: firstDay,
      ...(await readRows(ctx, appIds, { storefront, limit, measure: estimates ? MEASURES[kind] : null })),
    }
  })
})

/** Returns the subject that is read for an answer about a chart. */
export function wantedChart({ platform, storefront, device, chart, genre }: ChartKey) {
  return { kind: "chart" as const, platform, storefront, subject: `${device} ${chart} ${genre}` }
}

export async function readGenre(sql: Sql, { storefront, genre }: ChartKey): Promise<v.InferOutput<typeof Genre>> {
  return { id: genre, name: (await readGenreNames(sql, storefront, [genre])).get(genre) ?? null }
}

/** The figure by which each kind of chart is ordered. */
const MEASURES = { free: "downloads", paid: "downloads", grossing: "revenue" } as const

interface RowTerms {
  storefront: string
  limit: number
  /** Null if no estimates are requested. */
  measure: "downloads" | "revenue" | null
}

async function readRows(ctx: OwnContext, appIds: readonly number[], { storefront, limit, measure }: RowTerms) {
  const firstIds = appIds.slice(0, limit)
  const named = await readMarketApps(ctx.sql, firstIds, storefront)
  const apps = firstIds.map((app, i) => ({ rank: i + 1, ...valueAt(named, app) }))
  if (measure === null) return { apps }
  const figures = await readFigures(ctx, appIds)
  const estimates = appIds.map((app) => figures.get(app)?.[measure] ?? null)
  const curve = placeCurve(estimates)
  const place = (at: number) => shownFigure(curve[at] ?? null)
  const thresholds = THRESHOLDS.flatMap((rank) => {
    const estimate = place(rank - 1)
    return estimate ? [{ rank, estimate, n: curve[rank - 1]!.n }] : []
  })
  return {
    measure,
    apps: apps.map((row, at) => ({ ...row, estimate: shownFigure(estimates[at] ?? null), rankEstimate: place(at) })),
    thresholds: curve.some((item) => item !== null) ? thresholds : null,
  }
}
