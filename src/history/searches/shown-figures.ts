import type { Db } from "../../database/types.ts"
import { type KeywordMetrics, type MetricsRow, metricsOf } from "../../observations/derived/keyword-figures.ts"
import type { Side } from "../../observations/provenance.ts"

/** What a row about a keyword of the market shows of its figures. */
export type ShownFigures = Pick<
  KeywordMetrics,
  "popularity" | "popularityLow" | "popularityHigh" | "popularitySource" | "popularityWeek" | "difficulty"
>

/**
 * By the ids of lists; one of which nothing is known has no entry. No more than is shown: the whole rows of a thousand keywords
 * (readMetricsOfLists) take twice as long to read.
 */
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
  return new Map(rows.map(({ listId, ...row }) => [listId, metricsOf({ ...NOT_READ, ...row }, platform, today)]))
}

/** What answers do not show. */
export const NOT_READ = {
  ...{ demand: null, demandDay: null, demandAt: null, hints: null, hintsDay: null, hintsAt: null },
  ...{ difficultyAt: null, estimateAt: null, publishedAt: null },
}

/** What they are made of. */
export type FiguresRow = Omit<MetricsRow, keyof typeof NOT_READ>
