import type { Side } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import type { PopularitySource } from "../../lib/upstreams.ts"
import { type Band, bandOf } from "../formulas/difficulty.ts"
import { popularityBand, popularityOrder } from "../formulas/popularity.ts"

/** The source of a popularity that is calculated from readings. */
export const ESTIMATE = "estimate"

/** The figures of a keyword. Null if not measured, or if none can be calculated (then the flag …None is true). */
export interface KeywordMetrics {
  demand: number | null
  /**
   * Each …At is the time of the latest reading that the figure is based on, ISO 8601. It is also set if the readings
   * give no figure.
   */
  demandAt: string | null
  hintCount: number | null
  hintCountAt: string | null
  /** The published figure. Null for an estimate: its band is popularityLow to popularityHigh. */
  popularity: number | null
  popularityLow: number | null
  popularityHigh: number | null
  popularitySource: PopularitySource | null
  /** The month of a published popularity, "YYYY-MM". */
  popularityWeek: string | null
  popularityNone: boolean
  popularityAt: string | null
  /** Orders the keywords of one storefront by estimated searches. Never shown. */
  popularityOrder: number | null
  difficulty: number | null
  difficultyBand: Band | null
  difficultyNone: boolean
  difficultyAt: string | null
}

type Popularity = Pick<
  KeywordMetrics,
  | "popularity"
  | "popularityLow"
  | "popularityHigh"
  | "popularitySource"
  | "popularityWeek"
  | "popularityNone"
  | "popularityAt"
  | "popularityOrder"
>

const NO_POPULARITY: Popularity = {
  popularity: null,
  popularityLow: null,
  popularityHigh: null,
  popularitySource: null,
  popularityWeek: null,
  popularityNone: false,
  popularityAt: null,
  popularityOrder: null,
}

export const UNMEASURED: KeywordMetrics = {
  demand: null,
  demandAt: null,
  hintCount: null,
  hintCountAt: null,
  ...NO_POPULARITY,
  difficulty: null,
  difficultyBand: null,
  difficultyNone: false,
  difficultyAt: null,
}

/** Calculated figures older than this are not shown. */
export const SHOWN_DAYS = 90

/** Returns a query of the latest figures of a list: one row for `figures`, or none. */
export function figuresOf(sql: Db, list: ReturnType<Db>) {
  return sql`
    select *
    from keyword_now
    where list_id = ${list}
    offset 0`
}

/** Returns the columns of a MetricsRow, of a row `n` of keyword_now. */
export function figures(sql: Db) {
  return sql`
    n.demand, n.demand_day as "demandDay", n.demand_at as "demandAt", n.hints, n.hints_day as "hintsDay",
    n.hints_at as "hintsAt", n.difficulty, n.difficulty_day as "difficultyDay", n.difficulty_at as "difficultyAt",
    n.estimate, n.estimate_day as "estimateDay", n.estimate_at as "estimateAt", n.published,
    n.published_day as "publishedDay", n.published_at as "publishedAt", n.published_by as "publishedBy"`
}

export interface MetricsRow {
  demand: number | null
  demandDay: string | null
  demandAt: Date | null
  hints: number | null
  hintsDay: string | null
  hintsAt: Date | null
  difficulty: number | null
  difficultyDay: string | null
  difficultyAt: Date | null
  estimate: number | null
  estimateDay: string | null
  estimateAt: Date | null
  published: number | null
  publishedDay: string | null
  publishedAt: Date | null
  publishedBy: PopularitySource | null
}

export function metricsOf(row: MetricsRow, platform: Side["platform"], today: string): KeywordMetrics {
  const since = shownSince(today)
  const ifShown = (day: string | null, score: number | null, at: Date | null) =>
    day !== null && day >= since ? { score, at: iso(at) } : { score: null, at: null }
  const demand = ifShown(row.demandDay, row.demand, row.demandAt)
  const hints = ifShown(row.hintsDay, row.hints, row.hintsAt)
  const difficulty = difficultyOf(row, today)
  const popularity = popularityOf(row, platform, ifShown(row.estimateDay, row.estimate, row.estimateAt))
  // Written out because spreading took most of the time for 1,000 keywords.
  return {
    demand: demand.score,
    demandAt: demand.at,
    hintCount: hints.score,
    hintCountAt: hints.at,
    popularity: popularity.popularity,
    popularityLow: popularity.popularityLow,
    popularityHigh: popularity.popularityHigh,
    popularitySource: popularity.popularitySource,
    popularityWeek: popularity.popularityWeek,
    popularityNone: popularity.popularityNone,
    popularityAt: popularity.popularityAt,
    popularityOrder: popularity.popularityOrder,
    difficulty: difficulty.difficulty,
    difficultyBand: difficulty.difficultyBand,
    difficultyNone: difficulty.difficultyNone,
    difficultyAt: difficulty.difficultyAt,
  }
}

type DifficultyRow = Pick<MetricsRow, "difficulty" | "difficultyDay" | "difficultyAt">
type Difficulty = Pick<KeywordMetrics, "difficulty" | "difficultyBand" | "difficultyNone" | "difficultyAt">

/** Returns the difficulty fields of metricsOf. */
export function difficultyOf({ difficulty, difficultyDay, difficultyAt }: DifficultyRow, today: string): Difficulty {
  const isShown = difficultyDay !== null && difficultyDay >= shownSince(today)
  const score = isShown ? difficulty : null
  return {
    difficulty: score,
    difficultyBand: score === null ? null : bandOf(score),
    difficultyNone: isShown && score === null && difficultyAt !== null,
    difficultyAt: isShown ? iso(difficultyAt) : null,
  }
}

/** Cached for the next keyword of the same answer. */
let cached = { today: "", since: "" }

function shownSince(today: string): string {
  if (cached.today !== today) cached = { today, since: addDays(today, -SHOWN_DAYS) }
  return cached.since
}

/**
 * Returns the popularity fields. An estimate without a band (popularityBand) is not shown but still orders keywords.
 */
function popularityOf(
  { published, publishedBy, publishedDay, publishedAt }: MetricsRow,
  platform: Side["platform"],
  estimate: { score: number | null; at: string | null },
): Popularity {
  const band = published !== null || estimate.score === null ? null : popularityBand(platform, estimate.score)
  return {
    popularity: published,
    popularityLow: band?.low ?? null,
    popularityHigh: band?.high ?? null,
    popularitySource: published !== null ? publishedBy : band && ESTIMATE,
    popularityWeek: published === null ? null : (publishedDay?.slice(0, 7) ?? null),
    popularityNone: published === null && band === null && estimate.at !== null,
    popularityAt: published === null ? estimate.at : iso(publishedAt),
    popularityOrder: published ?? (estimate.score === null ? null : popularityOrder(platform, estimate.score)),
  }
}

function iso(at: Date | null): string | null {
  return at?.toISOString() ?? null
}

/** Returns the figures that answers show: all except the order. */
export function shownFigures({ popularityOrder: _, ...metrics }: KeywordMetrics) {
  return metrics
}
