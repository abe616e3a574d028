import type { Db } from "../../database/types.ts"
import { type KeywordMetrics, type MetricsRow, metricsOf } from "../../observations/derived/keyword-figures.ts"
import type { Side } from "../../observations/provenance.ts"

/** What a row about a keyword of the market shows of its figures. */
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

/** Returns the figures by list id. A list without figures has no entry. */
export async function readShownFigures(
  sql: Db,
  lists: readonly number[],
  { platform, today }: Pick<Side, "platform"> & { today: string },
): Promise<Map<number, ShownFigures>> {
  if (lists.length === 0) return new Map()
  const rows = await sql<(FiguresRow & { listId: number })[]>`
    select n.list_id as "listId", n.difficulty, n.difficulty_day as "difficultyDay", n.estimate,
      n.estimate_day as "estimateDay", n.published, n.published_day as "publishedDay", n.published_by as "publishedBy"
    from unnest(${lists as number[]}::int[]) l (id)
    cross join lateral (
      select *
      from keyword_now
      where list_id = l.id
      offset 0
    ) n
    order by n.list_id
    limit ${lists.length}`
  return new Map(rows.map((row) => [row.listId, metricsShown(row, platform, today)]))
}

/** What they are made of. */
export type FiguresRow = Pick<
  MetricsRow,
  "difficulty" | "difficultyDay" | "estimate" | "estimateDay" | "published" | "publishedDay" | "publishedBy"
>

/** What answers do not show is left open. */
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
