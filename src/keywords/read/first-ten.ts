import type { PendingQuery, Row } from "postgres"
import type { ListKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { RankSource, SourceName } from "../../lib/upstreams.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import type { DifficultyParts } from "../formulas/difficulty.ts"
import { currentTen, latestTen } from "../store/keyword-inputs.ts"
import { CALCULATED } from "../store/keyword-rows.ts"

export interface FirstTen {
  day: string
  source: RankSource
  origin: string
  depth: number
  seenAt: Date
  /** How many apps the whole reading contains. */
  results: number
  apps: RatedResult[]
  /** The parts of the latest difficulty. Null if there is none. */
  parts: DifficultyParts | null
}

export interface RatedResult {
  id: string
  /** Its name in the storefront. Null if no reading has shown one. */
  name: string | null
  publisher: string | null
  publisherId: string | null
  ratings: number | null
  ratingsDay: string | null
  ratingsSource: SourceName | null
}

/**
 * Returns the first ten results of the latest reading. Null if none is recent and was read ten places deep or to its
 * end. Uses only look-ups by key.
 */
export async function readFirstTen(sql: Sql, list: ListKey, now: Date): Promise<FirstTen | null> {
  return (await readTen(sql, list, currentTen(sql, now))) ?? (await readTen(sql, list, latestTen(sql, now)))
}

async function readTen(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  ten: PendingQuery<Row[]>,
): Promise<FirstTen | null> {
  const [row] = await sql<(Omit<FirstTen, "source"> & { source: number })[]>`
    select r.day, r.source, r.origin, r.depth, r.seen_at as "seenAt", r.results, d.parts, f.apps
    from list l
    cross join lateral (${ten}) r
    left join lateral (
      select parts
      from keyword_metric
      where list_id = l.id and metric = 'difficulty' and source = ${CALCULATED}
      order by day desc
      limit 1
    ) d on true
    cross join lateral (${ratedResults(sql, storefront)}) f
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${term})`
  return row ? { ...row, source: sourceOf(row.source) } : null
}

/** Returns a query of one row with the apps of the reading `r`. */
function ratedResults(sql: Sql, storefront: string) {
  return sql`
    select coalesce(
        json_agg(
          json_build_object(
            'id', s.store_id, 'name', ${nameIn(sql, sql`s.id`, { storefront, countries: [] })},
            'publisher', s.developer, 'publisherId', s.developer_id,
            'ratings', c.ratings, 'ratingsDay', c.day, 'ratingsSource', c.source
          )
          order by u.place
        ), '[]'
      ) as apps
    from unnest(r.app_ids) with ordinality u (app_id, place)
    -- Fenced with offset 0: the planner does not know the length of the array and would scan the whole table.
    cross join lateral (
      select id, store_id, developer, developer_id
      from store_app
      where id = u.app_id
      offset 0
    ) s
    left join lateral (
      select ratings, day, source
      from rating_count
      where app_id = s.id and storefront = ${storefront} and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) c on true`
}
