import type { Db, Sql, Tx } from "../database/types.ts"
import { addDays } from "../vocabulary/days.ts"
import { REPORTS, type Report } from "../vocabulary/upstreams.ts"
import { growingGap } from "./failed-question.ts"
import { fiveOnPacificDay, pacificDay } from "./pacific.ts"

/** Reports of days are kept so long at the console. */
const KEPT_DAYS = 365
/** Days that still change are read again: all of the last week, and of the last weeks every fourth day. */
const WEEK = 7
const SETTLED = 35
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export interface Turn {
  report: Report
  day: string
}

type TurnState = "due" | "late" | "rows" | "none" | "unavailable" | "denied"

/** Makes due what is not yet asked for: each day from a year ago to yesterday. Days are made once, whoever makes them. */
export async function makeTurns(sql: Sql, account: string, now: Date): Promise<void> {
  const today = pacificDay(now)
  await sql`
    insert into report_turn (account_id, report, day, next_at)
    select ${account}, r.report, d.day::date, now()
    from unnest(${[...REPORTS]}::text[]) r (report)
    cross join generate_series(${addDays(today, -KEPT_DAYS)}::date, ${addDays(today, -1)}::date, interval '1 day') d (day)
    order by 2, 3
    on conflict (account_id, report, day) do nothing`
}

/** The newest day first, and of a day redemptions last: as owners look for them in the morning. Null = nothing is due. */
export async function readNextTurn(sql: Sql, account: string): Promise<Turn | null> {
  const [turn] = await sql<Turn[]>`
    select report, day
    from report_turn
    where account_id = ${account} and next_at <= now()
    order by day desc, report = 'offer_redemptions', report
    limit 1`
  return turn ?? null
}

/** When a report that was read may say something else; null = never any more. */
export function readAgainAt(day: string, now: Date): Date | null {
  const age = daysBetween(day, pacificDay(now))
  if (age > SETTLED) return null
  const next = addDays(pacificDay(now), age <= WEEK ? 1 : 4)
  return new Date(fiveOnPacificDay(next).getTime() + HOUR_MS)
}

/** A day that is not out yet, or could not be read. Days come weeks later too: after a week once a day, then never. */
export function lateAgainAt(day: string, now: Date): Date | null {
  const age = daysBetween(day, pacificDay(now))
  if (age > SETTLED) return null
  const published = fiveOnPacificDay(addDays(day, 1))
  if (now < published) return published
  return new Date(now.getTime() + (age <= 3 ? HOUR_MS : DAY_MS))
}

/** After a week the day counts as one that will not come; it is still unknown, and not empty. */
export function lateState(day: string, now: Date): TurnState {
  return daysBetween(day, pacificDay(now)) > WEEK ? "unavailable" : "late"
}

function daysBetween(day: string, today: string): number {
  return Math.round((Date.parse(today) - Date.parse(day)) / DAY_MS)
}

/** Stores the outcome of a task. A late answer does not undo a day that was read before. */
export async function endTurn(
  tx: Tx | Sql,
  account: string,
  { report, day }: Turn,
  { state, nextAt, putAside = null }: { state: TurnState; nextAt: Date | null; putAside?: string | null },
): Promise<void> {
  const wasRead = state === "rows" || state === "none"
  await tx`
    update report_turn
    set state = case when ${wasRead} or state not in ('rows', 'none') then ${state} else state end,
      read_at = case when ${wasRead} then now() else read_at end,
      tries = case when ${wasRead} then 0 else tries + 1 end,
      failure = null, put_aside = case when ${wasRead} then ${putAside} else put_aside end, next_at = ${nextAt}
    where account_id = ${account} and report = ${report} and day = ${day}`
  await noteReportAllowed(tx, account, report)
}

/** A day that was read before stays read. It is asked for again at growing gaps. */
export async function failTurn(
  sql: Sql,
  account: string,
  { report, day }: Turn,
  { state, failure }: { state: TurnState; failure: string },
): Promise<void> {
  await sql`
    update report_turn
    set state = case when state in ('rows', 'none') then state else ${state} end, tries = tries + 1, failure = ${failure},
      next_at = ${growingGap(sql)}
    where account_id = ${account} and report = ${report} and day = ${day}`
}

/**
 * The console refuses the report to the key's role. Where no day of it was read lately, the other days would be refused too: they are
 * put off for a day, and the right is shown as denied.
 */
export async function noteReportDenied(
  sql: Sql,
  account: string,
  turn: Turn,
  { failure, why }: { failure: string; why: string },
): Promise<void> {
  const { report } = turn
  await failTurn(sql, account, turn, { state: "denied", failure })
  const others = await sql`
    update report_turn
    set state = case when state in ('rows', 'none') then state else 'denied' end, failure = ${failure},
      next_at = now() + interval '1 day'
    where account_id = ${account} and report = ${report} and next_at < now() + interval '1 day' and not exists (
      select
      from report_turn
      where account_id = ${account} and report = ${report} and read_at > now() - interval '1 day'
    )
    returning day`
  if (others.length === 0) return
  await sql`
    insert into account_right (account_id, name, state, why)
    values (${account}, ${report}, 'denied', ${why})
    on conflict (account_id, name) do update
    set state = excluded.state, why = excluded.why, seen_at = now()`
}

/** The console answered for the report: a right that was missing is there, and the days that were put off are due. */
async function noteReportAllowed(tx: Tx | Sql, account: string, report: Report): Promise<void> {
  const allowed = await tx`
    update account_right
    set state = 'ok', why = null, seen_at = now()
    where account_id = ${account} and name = ${report} and state = 'denied'
    returning name`
  if (allowed.length > 0) await makeDeniedDue(tx, account, report)
}

/** Makes due again what the key's role did not include: its role, or the key, may have changed. Null: every report. */
export async function makeDeniedDue(tx: Db, account: string, report: Report | null = null): Promise<void> {
  await tx`
    update report_turn
    set state = case when state = 'denied' then 'due' else state end, failure = null, next_at = now()
    where account_id = ${account} and (state = 'denied' or failure is not null)
      and (${report}::text is null or report = ${report})`
}
