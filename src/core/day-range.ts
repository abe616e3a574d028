import * as v from "valibot"
import type { Caller } from "../access/caller.ts"
import { type PlannedDays, planFrom, unread } from "../access/plan-days.ts"
import { type Days, dayOf, earlier, later } from "../lib/days.ts"
import { Fault } from "../lib/faults.ts"
import { coded } from "../lib/schema.ts"
import { isRealDay } from "../lib/time.ts"

/** Returns the schema of the first or last day of a range. */
export function RangeDay(description: string) {
  return v.optional(coded(v.pipe(v.string(), v.isoDate(), v.check(isRealDay), v.description(description)), "bad_range"))
}

export const LAST_DAY = "Last UTC day, YYYY-MM-DD. Default, and latest: today."

/** Throws bad_range if the range ends before it begins. */
export function inOrder<Range extends { from?: string | undefined; to?: string | undefined }>(range: Range): Range {
  const { from, to } = range
  if (from !== undefined && to !== undefined && from > to)
    throw new Fault("bad_range", { field: "from", detail: `from (${from}) is after to (${to}).` })
  return range
}

/** Returns the range of all days of this data that the plan includes. */
export function planDays(what: PlannedDays, now: Date, caller: Caller): Days {
  const today = dayOf(now)
  return { from: planFrom(caller, what, today), to: today }
}

/**
 * Returns the days to read: `from` defaults to the first day the plan includes, `to` to today; a later `to` becomes
 * today. Throws bad_range if `from` lies after that, and plan_required or bad_range if the plan includes none of the
 * days.
 */
export function lookedAt(what: PlannedDays, range: { from?: string; to?: string }, now: Date, caller: Caller): Days {
  const plan = planDays(what, now, caller)
  const to = lastDay(range, now)
  const { from = plan.from } = range
  if (range.from !== undefined && from > to)
    throw new Fault("bad_range", { field: "from", detail: `from (${from}) is after the last available day, ${to}.` })
  if (to < plan.from) throw unread(caller, { what, day: to, today: plan.to, otherwise: "bad_range", field: "to" })
  return { from: later(from, plan.from), to }
}

/** Returns the last UTC day of a range: the requested day, but at most today. */
export function lastDay({ to }: { to?: string }, now: Date): string {
  return earlier(to ?? dayOf(now), dayOf(now))
}
