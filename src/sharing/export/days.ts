import type { Caller } from "../../access/caller.ts"
import { planFrom, unread } from "../../access/plan-days.ts"
import { addDays, type Days, dayOf, earlier, later } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"

/** The default range of a review export, in days. */
const REVIEW_DAYS = 90

export interface ExportDays extends Days {
  /** The first UTC day that the plan may read. */
  planFrom: string
  /** True if the request includes days before `planFrom`. The export leaves out these days. */
  cut: boolean
}

/**
 * Returns the range of an export, which ends today at the latest and begins within the plan's history. Throws
 * `plan_required` if the whole range needs a higher plan, `invalid_arguments` if it is empty or no plan allows it.
 */
export function exportDays(
  dataset: "history" | "reviews",
  range: { from?: string | undefined; to?: string | undefined },
  now: Date,
  caller: Caller,
): ExportDays {
  const today = dayOf(now)
  const first = planFrom(caller, dataset, today)
  const to = earlier(range.to ?? today, today)
  const from = range.from ?? (dataset === "history" ? first : later(addDays(to, 1 - REVIEW_DAYS), first))
  if (to < first) throw unread(caller, { what: dataset, day: to, today, otherwise: "invalid_arguments", field: "to" })
  if (from > to) {
    const detail = `from (${from}) is after the last available day, ${to}.`
    throw new Fault("invalid_arguments", { field: "from", detail })
  }
  return { from: later(from, first), to, planFrom: first, cut: from < first }
}
