import type { Db } from "../../database/types.ts"

/** Changes found after `since` are new to the person. */
export interface SeenMark {
  since: Date
  /** True if the person was not here before: `since` is then seven days before the first visit. */
  isFirst: boolean
  /** True if the person marked everything as seen in this visit. */
  canUndo: boolean
}

/** A person who comes back after four hours starts a new visit. Until then, the same changes stay on the page. */
const VISIT_HOURS = 4
/** A visit is stored at most every ten minutes, because most page views change nothing. */
const STORED_MINUTES = 10
const FIRST_DAYS = 7

/**
 * Records that the person of a grant opened the overview, and returns since when changes are new to them. In a new
 * visit this is the time of the previous visit, or a later mark. Null if the grant belongs to nobody.
 */
export async function noteVisit(sql: Db, keyId: number): Promise<SeenMark | null> {
  await sql`
    update membership
    set visited_at = now(),
      seen_at = case
        when visited_at is null then now() - ${FIRST_DAYS}::int * interval '1 day'
        when visited_at < now() - ${VISIT_HOURS}::int * interval '1 hour' then greatest(seen_at, visited_at)
        else seen_at
      end,
      seen_before = case
        when visited_at >= now() - ${VISIT_HOURS}::int * interval '1 hour' then seen_before
      end
    where key_id = ${keyId}
      and (visited_at is null or visited_at < now() - ${STORED_MINUTES}::int * interval '1 minute')`
  const [mark] = await sql<SeenMark[]>`
    select seen_at as since, seen_at < created_at as "isFirst", seen_before is not null as "canUndo"
    from membership
    where key_id = ${keyId} and seen_at is not null`
  return mark ?? null
}

/** Marks everything found until a time as seen. The time is at most now, and never moves back. */
export async function markSeen(sql: Db, keyId: number, until: Date): Promise<void> {
  await sql`
    update membership
    set seen_before = seen_at, seen_at = least(${until}, now())
    where key_id = ${keyId} and seen_at < least(${until}, now())`
}

/** Undoes the last mark of this visit. */
export async function unmarkSeen(sql: Db, keyId: number): Promise<void> {
  await sql`
    update membership
    set seen_at = seen_before, seen_before = null
    where key_id = ${keyId} and seen_before is not null`
}
