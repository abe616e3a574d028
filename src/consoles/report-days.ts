import type { Fragment } from "postgres"
import type { Db, Sql } from "../database/types.ts"
import { addDays } from "../lib/days.ts"
import { REPORTS, type Report } from "../lib/upstreams.ts"
import { fiveOnPacificDay, pacificDay } from "./pacific.ts"
import { makeFailedDue } from "./tasks.ts"

/** Number of days for which the console offers daily reports. */
const KEPT_DAYS = 365
/** Recent days still change, so days up to this age are read again every day. */
const WEEK = 7
/** Days up to this age are read again every fourth day. Older days are final. */
const SETTLED = 35
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** SQL: the tasks of all reports, for each day from a year ago to yesterday. */
export function reportDays(sql: Db, now: Date): Fragment {
  const today = pacificDay(now)
  return sql`
    select r.report, d.day::date::text, d.day::date
    from unnest(${[...REPORTS]}::text[]) r (report)
    cross join generate_series(${addDays(today, -KEPT_DAYS)}::date, ${addDays(today, -1)}::date,
      interval '1 day') d (day)`
}

/** Returns when to read a report again because it may have changed. Null if it is final. */
export function readAgainAt(day: string, now: Date): Date | null {
  const age = daysBetween(day, pacificDay(now))
  if (age > SETTLED) return null
  const next = addDays(pacificDay(now), age <= WEEK ? 1 : 4)
  return new Date(fiveOnPacificDay(next).getTime() + HOUR_MS)
}

/**
 * Returns when to retry a day that is not published yet or could not be read. Some days appear weeks later, so retries
 * are hourly for three days, then daily, and end after five weeks.
 */
export function lateAgainAt(day: string, now: Date): Date | null {
  const age = daysBetween(day, pacificDay(now))
  if (age > SETTLED) return null
  const published = fiveOnPacificDay(addDays(day, 1))
  if (now < published) return published
  return new Date(now.getTime() + (age <= 3 ? HOUR_MS : DAY_MS))
}

function daysBetween(day: string, today: string): number {
  return Math.round((Date.parse(today) - Date.parse(day)) / DAY_MS)
}

/**
 * Handles a report that the console denied to the key's role. If no day of the report was read in the last 24 hours,
 * the other days would be denied too, so they are postponed by a day, and the right is marked as denied.
 */
export async function putOffReport(
  sql: Sql,
  account: string,
  report: Report,
  { failure, why }: { failure: string; why: string },
): Promise<void> {
  const postponed = await sql`
    update account_task
    set state = case when state in ('read', 'empty') then state else 'denied' end, failure = ${failure},
      next_at = now() + interval '1 day'
    where account_id = ${account} and task = ${report} and next_at < now() + interval '1 day' and not exists (
      select
      from account_task
      where account_id = ${account} and task = ${report} and read_at > now() - interval '1 day'
    )
    returning day`
  if (postponed.length === 0) return
  await sql`
    insert into account_right (account_id, name, state, why)
    values (${account}, ${report}, 'denied', ${why})
    on conflict (account_id, name) do update
    set state = excluded.state, why = excluded.why, seen_at = now()`
}

/**
 * Handles a report that the console delivered: a denied right is marked as granted, and the postponed days become due.
 */
export async function noteReportAllowed(tx: Db, account: string, report: Report): Promise<void> {
  const allowed = await tx`
    update account_right
    set state = 'ok', why = null, seen_at = now()
    where account_id = ${account} and name = ${report} and state = 'denied'
    returning name`
  if (allowed.length > 0) await makeFailedDue(tx, account, report)
}
