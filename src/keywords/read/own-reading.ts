import type { ListKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { RankSource } from "../../lib/upstreams.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { isOwnSearch } from "../store/own-searches.ts"

export interface OwnReading {
  source: RankSource
  origin: string
  depth: number
  seenAt: Date
  /** The country of the address that read it. Null if the response does not depend on the country. */
  egress: string | null
  /** SHA-256 of the body, in hexadecimal digits. */
  sha256: string
  appIds: number[]
}

/** Returns this instance's best complete reading of a term since that moment. Null if there is none. */
export async function readOwn(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  since: Date,
): Promise<OwnReading | null> {
  const [row] = await sql<(Omit<OwnReading, "source"> & { source: number })[]>`
    select r.source, r.origin, r.depth, r.seen_at as "seenAt", r.egress, encode(r.sha256, 'hex') as sha256,
      r.app_ids as "appIds"
    from list l
    cross join lateral (
      select source, origin, depth, seen_at, egress, sha256, app_ids
      from search_results
      where list_id = l.id and day >= (${since}::timestamptz at time zone 'utc')::date and seen_at >= ${since}
        and complete and ${isOwnSearch(sql)}
      order by ${bestFirst(sql)}
      limit 1
    ) r
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${term})`
  return row ? { ...row, source: sourceOf(row.source) } : null
}
