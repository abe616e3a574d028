import type { Sql } from "../database/types.ts"
import type { LiveSubject } from "../lib/live-read.ts"
import type { Kind } from "./due-kind.ts"
import type { AskMark } from "./live-asks.ts"
import type { Failure } from "./rescheduling.ts"

/** A subject that a caller requests, and how it is read. */
interface Wanted {
  kind: Pick<Kind, "observes" | "latest" | "mayFindNothing">
  wanted: LiveSubject
}

/**
 * Returns the time of the latest reading since `since`. Null if there is none. Searches from other instances do not
 * count, because a live read is made by this instance.
 */
export async function findLatestReading(sql: Sql, { kind, wanted }: Wanted, since: Date): Promise<Date | null> {
  const latest = kind.latest ?? kind.observes?.latest
  if (!latest) throw new Error(`no reading of ${wanted.kind} can be requested`)
  const [row] = await sql<{ seenAt: Date | null }[]>`${latest(sql, wanted, since)}`
  return row?.seenAt ?? null
}

/**
 * Returns the failure of the reading since it was requested. Null if it did not fail. The row of an untracked subject
 * is deleted soon after the reading; the failure then comes from the log of failed reads, and is "gone" if the log has
 * none.
 */
export async function findFailureSince(
  sql: Sql,
  { kind: { observes, mayFindNothing }, wanted }: Wanted,
  { askedAt, lastAttempt }: AskMark,
): Promise<Failure | "gone" | null> {
  const { kind, platform, storefront, subject } = wanted
  const [row] = await sql<{ failure: Failure | "gone" | null }[]>`
    select case
        when d.kind is null then coalesce(a.outcome, 'gone')
        when d.failed_at >= ${askedAt} then d.failure
        else 'not_found'
      end as failure
    from (select 1) one
    left join due d on (d.kind, d.platform, d.storefront, d.subject) = (${kind}, ${platform}, ${storefront}, ${subject})
    left join lateral (
      select outcome
      from attempt
      where (kind, platform, storefront, subject) = (${observes!.name}, ${platform}, ${storefront}, ${subject})
        and id > ${lastAttempt}
      order by id desc
      limit 1
    ) a on true
    where d.kind is null
      or (d.lease is null
        and (d.failed_at >= ${askedAt} or ${mayFindNothing ?? false} and d.measured_at >= ${askedAt}))`
  return row?.failure ?? null
}
