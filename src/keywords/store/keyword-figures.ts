import type { Side } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import type { PopularitySource } from "../../lib/upstreams.ts"
import { type Band, bandOf } from "../formulas/difficulty.ts"
import { popularityBand, popularityOrder } from "../formulas/popularity.ts"

/** Where a popularity comes from that is made of readings. */
export const ESTIMATE = "estimate"

/** What is known of a keyword beside ranks. Null = not measured, or none can be given where the flag says so. */
export interface KeywordMetrics {
  demand: number | null
  /**
   * Each …At: when the youngest reading behind the figure was seen, ISO 8601; also where it was read and gives none.
   */
  demandAt: string | null
  hintCount: number | null
  hintCountAt: string | null
  /** As the store says it. Of an estimate null: popularityLow and popularityHigh are the band it lies in. */
  popularity: number | null
  popularityLow: number | null
  popularityHigh: number | null
  popularitySource: PopularitySource | null
  /** The month that a published popularity stands for, "YYYY-MM". */
  popularityWeek: string | null
  popularityNone: boolean
  popularityAt: string | null
  /** Orders keywords of one storefront by how much they may be searched for; shown to nobody. */
  popularityOrder: number | null
  difficulty: number | null
  difficultyBand: Band | null
  difficultyNone: boolean
  difficultyAt: string | null
}

type Popularity = Pick<
  KeywordMetrics,
  | "popularity" | "popularityLow" | "popularityHigh" | "popularitySource" | "popularityWeek" | "popularityNone" | "popularityAt"
  | "popularityOrder"
> // biome-ignore format: a list

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

/** A calculated figure that is older on `today` says nothing of today. */
export const SHOWN_DAYS = 90

/** A query of the latest figures of a list: one row for `figures`, or none. */
export function figuresOf(sql: Db, list: ReturnType<Db>) {
  return sql`
    select *
    from keyword_now
    where list_id = ${list}
    offset 0`
}

/** The columns of a MetricsRow, of a row `n` of keyword_now. */
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
  const shown = (day: string | null, score: number | null, at: Date | null) =>
    day !== null && day >= since ? { score, at: iso(at) } : { score: null, at: null }
  const demand = shown(row.demandDay, row.demand, row.demandAt)
  const hints = shown(row.hintsDay, row.hints, row.hintsAt)
  const difficulty = difficultyOf(row, today)
  const popularity = popularityOf(row, platform, shown(row.estimateDay, row.estimate, row.estimateAt))
  // written out: of a thousand keywords spreading took most of the time
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

/** What metricsOf says of it. */
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

/** Kept for the next keyword of the same answer. */
let kept = { today: "", since: "" }

function shownSince(today: string): string {
  if (kept.today !== today) kept = { today, since: addDays(today, -SHOWN_DAYS) }
  return kept.since
}

/** An estimate of which no band can be given (popularityBand) is none, and still orders. */
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

/** What answers say of it, as one piece. */
export function shownFigures({ popularityOrder: _, ...metrics }: KeywordMetrics) {
  return metrics
}
