import type { Tx } from "../database/types.ts"
import type { Identified } from "./identified.ts"
import { hexOf, latestOf } from "./latest.ts"
import type { PopularityObservation } from "./types.ts"

/**
 * Stores figures that a store publishes itself, and returns those that are new. Formula 0 says that they are not
 * calculated; `parts` holds what the row has no columns for: month, genres, sha256 (hex), parser and origin. Needs the
 * lists' lock.
 */
export async function storePopularities(
  tx: Tx,
  figures: readonly PopularityObservation[],
  { listOf }: Identified,
): Promise<PopularityObservation[]> {
  if (figures.length === 0) return []
  const rows = latestOf(figures.map((from) => ({ from, listId: listOf(from), key: keyOf(listOf(from), from.month) })))
  const written = await tx<{ listId: number; day: string }[]>`
    insert into keyword_metric as held (list_id, metric, day, source, seen_at, score, formula, parts)
    select list_id, 'popularity', day, source, seen_at, score, 0, parts
    from jsonb_to_recordset(${tx.json(rows.map(stored))}) r (
      list_id int, day date, source text, seen_at timestamptz, score real, parts jsonb
    )
    order by list_id, day, source
    on conflict (list_id, metric, day, source) do update
    set seen_at = excluded.seen_at, score = excluded.score, formula = excluded.formula, parts = excluded.parts
    where (excluded.seen_at, (excluded.parts ->> 'parser')::int, excluded.parts ->> 'sha256')
      > (held.seen_at, (held.parts ->> 'parser')::int, held.parts ->> 'sha256')
    returning list_id as "listId", day`
  const keys = new Set(written.map(({ listId, day }) => keyOf(listId, day)))
  return rows.filter(({ key }) => keys.has(key)).map(({ from }) => from)
}

function keyOf(listId: number, day: string): string {
  return `${listId} ${day}`
}

function stored({ from, listId }: { from: PopularityObservation; listId: number }) {
  const { month, source, seenAt, popularity, genres, parser, origin, sha256 } = from
  return {
    list_id: listId,
    day: month,
    source,
    seen_at: seenAt.toISOString(),
    score: popularity,
    parts: { month, genres, sha256: hexOf(sha256), parser, origin },
  }
}
