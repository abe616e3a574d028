import type { Side } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import { figuresOf, type KeywordMetrics, type MetricsRow, metricsOf } from "../store/keyword-figures.ts"

/** The figures in a row about a market keyword. */
export type ShownFigures = Pick<
  KeywordMetrics,
  | "popularity"
  | "popularityLow"
  | "popularityHigh"
  | "popularitySource"
  | "popularityWeek"
  | "difficulty"
  | "difficultyBand"
>

/** Returns figures by list id, without an entry for a list that has none. Reads only the columns shown. */
export async function readShownFigures(
  sql: Db,
  lists: readonly number[],
  { platform, today }: Pick<Side, "platform"> & { today: string },
): Promise<Map<number, ShownFigures>> {
  if (lists.length === 0) return new Map()
  const rows = await sql<(FiguresRow & { listId: number })[]>`
    select n.list_id as "listId", ${shownColumns(sql)}
    from unnest(${lists as number[]}::int[]) l (id)
    cross join lateral (${figuresOf(sql, sql`l.id`)}) n
    order by n.list_id
    limit ${lists.length}`
  return new Map(rows.map((row) => [row.listId, metricsShown(row, platform, today)]))
}

/** Returns the columns of FiguresRow, of a row `n` of keyword_now. */
export function shownColumns(sql: Db) {
  return sql`
    n.difficulty, n.difficulty_day as "difficultyDay", n.estimate, n.estimate_day as "estimateDay", n.published,
    n.published_day as "publishedDay", n.published_by as "publishedBy"`
}

export type FiguresRow = Pick<
  MetricsRow,
  "difficulty" | "difficultyDay" | "estimate" | "estimateDay" | "published" | "publishedDay" | "publishedBy"
>

/** Converts a row to metrics. Figures that these answers do not show are null. */
export function metricsShown(row: FiguresRow, platform: Side["platform"], today: string): KeywordMetrics {
  const { difficulty, difficultyDay, estimate, estimateDay, published, publishedDay, publishedBy } = row
  const metrics: MetricsRow = {
    demand: null,
    demandDay: null,
    demandAt: null,
    hints: null,
    hintsDay: null,
    hintsAt: null,
    difficulty,
    difficultyDay,
    difficultyAt: null,
    estimate,
    estimateDay,
    estimateAt: null,
    published,
    publishedDay,
    publishedAt: null,
    publishedBy,
  }
  return metricsOf(metrics, platform, today)
}
