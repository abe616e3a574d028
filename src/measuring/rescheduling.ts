import type { Outcome } from "../core/observation/attempt.ts"
import type { Db } from "../database/types.ts"
import { PRIORITY } from "./priority.ts"

/** Why a row of `due` was not measured. `unstored`: it was read, but the database did not store it. */
export type Failure = Outcome | "unstored"

/** After this many failures in a row a subject rests until its next day. */
const RESTS_AFTER = 8
/**
 * Readings are spread over the first hours of a day: all terms of one app are due at the same time, and those of
 * another app at a different time.
 */
const SPREAD_SECONDS = 4 * 3_600

/** Returns SQL for the outcome of a row of `due`. A reading that could not be stored is reported as failed. */
export function outcomeOfDue(sql: Db) {
  return sql`case failure when 'unstored' then 'failed' else failure end`
}

/** Full jitter: the delay is random, up to `baseMs` doubled for each failure in a row, at most `capMs`. */
export interface Retry {
  baseMs: number
  capMs: number
}

export const RETRY: Retry = { baseMs: 60_000, capMs: 6 * 3_600_000 }

/**
 * SQL that selects, for the row `d` of `due`, its priority and its `place`, which is its offset within a day. All terms
 * of an app have the same offset, and so do all market subjects in a storefront: this way each request contains as many
 * subjects as possible.
 */
export function tracking(sql: Db) {
  return sql`
    select coalesce(min(s.priority),
      case when d.kind = 'canary' then greatest(d.priority, ${PRIORITY.paying}) else ${PRIORITY.free} end) as priority,
      interval '1 second' * ((
        hashtextextended(coalesce(
          (array_agg(s.app_id order by s.tracked_since, s.app_id))[1],
          case when min(s.priority) = ${PRIORITY.market} then d.storefront else d.subject end
        ), 0)
        & 2147483647
      ) % ${SPREAD_SECONDS}::int) as place
    from tracked_subject s
    where s.kind = d.kind and s.platform = d.platform and s.storefront = d.storefront and s.subject = d.subject`
}

export function dayAfter(sql: Db, at: Date | "now", days: number) {
  const moment = at === "now" ? sql`now()` : sql`${at}::timestamptz`
  return sql`date_trunc('day', ${moment}, 'UTC') + ${days}::int * interval '24 hours' + t.place`
}

/** Returns SQL for the `set` clause of a row `d` whose reading failed; `t` is the result of `tracking` for the row. */
export function fallenBack(sql: Db, failure: Failure, retry: Retry, random: number) {
  return sql`
    priority = t.priority, failures = d.failures + 1, failure = ${failure}, failed_at = now(), lease = null,
    lease_until = null, asked_by = null, asked_until = null,
      next_at = case
        when d.failures + 1 >= ${RESTS_AFTER}::int then ${dayAfter(sql, "now", 1)}
        else now() + ${random}::float8 * interval '1 millisecond'
          * least(${retry.capMs}::float8, ${retry.baseMs}::float8 * 2 ^ least(d.failures, 30))
      end`
}
