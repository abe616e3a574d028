import type { Db } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import { foldReview } from "../formulas/review-text.ts"
import {
  directionOf,
  type FoundReviews,
  isAfter,
  isWanted,
  milliseconds,
  type ReviewSearch,
  type ShownReview,
  type StoredReview,
  startOf,
  toStoredReview,
} from "./reviews.ts"

interface ReviewTextSearch extends ReviewSearch {
  text: string
}

/** Like findReviews, for reviews that contain a text. Works in chunks, so that no statement takes long. */
export async function findText(sql: Db, search: ReviewTextSearch, limit: number): Promise<FoundReviews> {
  const reviews: StoredReview[] = []
  let total = 0
  let last: number | null = null
  do {
    const part: Part = await readPart(sql, search, limit - reviews.length, last)
    const unsure = part.shown.filter(({ found }) => found === null)
    const matches = part.shown.filter((row) => row.found ?? foldReview(row).includes(search.text))
    total += part.found + unsure.filter((row) => matches.includes(row)).length
    reviews.push(...matches.slice(0, limit - reviews.length).map(toStoredReview))
    const isEnough = search.isCounted === false && reviews.length >= limit
    last = part.read < PART || isEnough ? null : part.last
  } while (last !== null)
  return { total, reviews }
}

// Reviews per chunk. Chunks of 5,000 blocked the embedded database for 60 ms and more during an import.
const PART = 2_000

interface Part {
  read: number
  found: number
  /** Time of the last review that was searched, in the order of the search, in milliseconds since 1970. */
  last: number | null
  /**
   * The first matches, as many as are needed, and every review without a stored folded text, which is compared in
   * memory.
   */
  shown: TextMatch[]
}

interface TextMatch extends ShownReview {
  /** Null if the folded text is not stored. */
  found: true | null
}

/**
 * Reads in the order of the index, and each shown review by the primary key: the embedded planner, which has no
 * statistics, then sorts only the matches.
 */
async function readPart(sql: Db, search: ReviewTextSearch, needed: number, last: number | null): Promise<Part> {
  const { appId, feed, from, to, text, stars, version, order } = search
  const direction = directionOf(sql, search)
  const edge = order === "oldest" ? sql`max` : sql`min`
  const isBehind = order === "oldest" ? sql`at >` : sql`at <`
  const [part] = await sql<Part[]>`
    with part as materialized (
      select review_id, at, strpos(folded, ${text}) > 0 as found
      from review_version
      where app_id = ${appId} and feed = ${feed} and current
        and at >= ${startOf(from)} and at < ${startOf(addDays(to, 1))}
        ${last === null ? isAfter(sql, search) : sql`and ${isBehind} ${new Date(last)}`}
        ${isWanted(sql, { stars, version })}
      order by at ${direction}
      fetch first (${PART}) rows with ties
    ), shown as (
      (
        select *
        from part
        where found
        order by at ${direction}, review_id collate "C"
        limit ${needed}
      )
      union all
      select *
      from part
      where found is null
    )
    select
      (select count(*) from part) as read,
      (select count(*) from part where found) as found,
      (select ${milliseconds(sql, "at")} from (select ${edge}(at) as at from part) p) as last,
      (
        select coalesce(
          json_agg(
            json_build_object(
              'id', p.review_id, 'at', ${milliseconds(sql, "p.at")}, 'found', p.found, 'stars', v.stars,
              'title', v.title, 'text', v.text, 'version', v.version,
              'firstSeenAt', ${milliseconds(sql, "v.first_seen_at")}, 'seenAt', ${milliseconds(sql, "v.seen_at")}
            )
            order by p.at ${direction}, p.review_id collate "C"
          ),
          '[]'
        )
        from shown p
        cross join lateral (
          select stars, title, text, version, first_seen_at, seen_at
          from review_version
          where (app_id, feed, review_id) = (${appId}, ${feed}, p.review_id) and current::int = 1
          offset 0
        ) v
      ) as shown`
  return part as Part
}
