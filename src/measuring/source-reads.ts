import type { Outcome } from "../core/observation/attempt.ts"
import type { Sql } from "../database/types.ts"
import type { SourceName } from "../lib/upstreams.ts"

/**
 * Counts a read in its hour. `outcome` null means answered. `mayAlert` is true after a failure and after the first
 * answer that follows one.
 */
export async function noteRead(
  sql: Sql,
  source: SourceName,
  outcome: Outcome | null,
  detail: string | null,
  now: Date,
): Promise<{ mayAlert: boolean; isFirstFailure: boolean }> {
  const failed = outcome === null ? 0 : 1
  // both rows are written by data-modifying CTEs, so that every read locks them in the same order
  const [row] = await sql<{ failures: number | null }[]>`
    with before as materialized (
      select failures
      from source_state
      where source = ${source}
    ), counted as (
      insert into source_hour as h (source, hour, answered, failed)
      values (${source}, date_trunc('hour', ${now}::timestamptz, 'UTC'), ${1 - failed}, ${failed})
      on conflict (source, hour) do update
      set answered = h.answered + excluded.answered, failed = h.failed + excluded.failed
    ), noted as (
      ${outcome === null ? answer(sql, source, now) : failure(sql, source, { outcome, detail, now })}
    )
    select (select failures from before) as failures`
  const hadFailed = (row?.failures ?? 0) > 0
  return { mayAlert: outcome !== null || hadFailed, isFirstFailure: outcome !== null && !hadFailed }
}

function answer(sql: Sql, source: SourceName, now: Date) {
  return sql`
    insert into source_state as s (source, answered_at)
    values (${source}, ${now})
    on conflict (source) do update
    set answered_at = greatest(s.answered_at, excluded.answered_at), failures = 0, unparsed = 0, mismatched = 0,
      refused_since = null`
}

interface Failure {
  outcome: Outcome
  detail: string | null
  now: Date
}

function failure(sql: Sql, source: SourceName, { outcome, detail, now }: Failure) {
  const isRefusal = outcome === "blocked" || outcome === "rate_limited"
  return sql`
    insert into source_state as s (source, failed_at, failure, detail, failures, unparsed, mismatched, refused_since)
    values (
      ${source}, ${now}, ${outcome}, ${detail}, 1, ${outcome === "changed" ? 1 : 0},
      ${outcome === "mismatched" ? 1 : 0}, ${isRefusal ? now : null}
    )
    on conflict (source) do update
    set failed_at = excluded.failed_at, failure = excluded.failure, detail = excluded.detail,
      failures = s.failures + 1, unparsed = s.unparsed + excluded.unparsed,
      mismatched = s.mismatched + excluded.mismatched,
      refused_since = coalesce(s.refused_since, excluded.refused_since)`
}
