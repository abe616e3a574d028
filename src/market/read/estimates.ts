import type { Sql } from "../../database/types.ts"
import type { PlaceFigure } from "../formulas/place-curve.ts"

/** An app's latest monthly figures, as estimated with its store's prior. Null if unknown. */
export interface StoredEstimate {
  downloads: PlaceFigure | null
  revenue: (PlaceFigure & { markets: number }) | null
  growth: { percent: number; low: number; high: number } | null
  markets: number
  days: number | null
  day: string | null
  basis: "measured" | "own" | "genre" | "prior" | null
  pairs: number | null
  coverage: number | null
  formula: number
  madeAt: Date
  /** Genre whose downloads per rating were used. */
  genre: string | null
  /** The source of the revenue. Null without revenue, or if it was not stored. */
  revenueBy: "price" | "place" | null
}

/** Returns the estimates of apps (store_app ids), by id. Apps without an estimate are missing. */
export async function readEstimates(sql: Sql, apps: readonly number[]): Promise<Map<number, StoredEstimate>> {
  if (apps.length === 0) return new Map()
  const rows = await sql<EstimateRow[]>`
    select e.app_id as app, e.made_at as "madeAt", e.formula, e.day, e.markets, e.days, e.basis, e.pairs, e.coverage,
      e.downloads, e.downloads_low as "downloadsLow", e.downloads_high as "downloadsHigh",
      e.downloads_under as "downloadsUnder", e.revenue, e.revenue_low as "revenueLow", e.revenue_high as "revenueHigh",
      e.revenue_under as "revenueUnder", e.revenue_markets as "revenueMarkets", e.growth, e.growth_low as "growthLow",
      e.growth_high as "growthHigh", e.genre, e.revenue_by as "revenueBy"
    from unnest(${apps as number[]}::int[]) u (id)
    join app_estimate e on e.app_id = u.id
    order by e.app_id
    limit ${apps.length}`
  return new Map(rows.map((row) => [row.app, estimateOf(row)]))
}

/** Returns whether the estimate has any figure. */
export function isKnown({ downloads, revenue, growth }: StoredEstimate): boolean {
  return downloads !== null || revenue !== null || growth !== null
}

interface EstimateRow
  extends Pick<
    StoredEstimate,
    "markets" | "days" | "day" | "basis" | "pairs" | "coverage" | "formula" | "madeAt" | "genre" | "revenueBy"
  > {
  app: number
  downloads: number | null
  downloadsLow: number | null
  downloadsHigh: number | null
  downloadsUnder: number | null
  revenue: number | null
  revenueLow: number | null
  revenueHigh: number | null
  revenueUnder: number | null
  revenueMarkets: number | null
  growth: number | null
  growthLow: number | null
  growthHigh: number | null
}

function estimateOf(row: EstimateRow): StoredEstimate {
  const { markets, days, day, basis, pairs, coverage, formula, madeAt, genre, revenueBy } = row
  const { revenueMarkets, growth } = row
  const downloads = figureOf(row.downloads, row.downloadsLow, row.downloadsHigh, row.downloadsUnder)
  const revenue = figureOf(row.revenue, row.revenueLow, row.revenueHigh, row.revenueUnder)
  return {
    markets,
    days,
    day,
    basis,
    pairs,
    coverage,
    formula,
    madeAt,
    genre,
    revenueBy,
    downloads,
    revenue: revenue && { ...revenue, markets: revenueMarkets ?? 0 },
    growth: growth === null ? null : { percent: growth, low: row.growthLow!, high: row.growthHigh! },
  }
}

function figureOf(
  value: number | null,
  low: number | null,
  high: number | null,
  under: number | null,
): PlaceFigure | null {
  return value === null && under === null ? null : { value, low, high, under }
}
