import type { Caller } from "../../access/caller.ts"
import { planFrom, unread } from "../../access/plan-days.ts"
import { addDays, type Days, dayOf, earlier, later } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"

/** Of reviews, when nothing else is asked for. */
const REVIEW_DAYS = 90

export interface ExportDays extends Days {
  /** The first day that the plan reads. */
  planFrom: string
  /** Days that were asked for lie before it. */
  cut: boolean
}

/** Throws plan_required where only a higher plan reads any of the days, invalid_arguments where none does. */
export function exportDays(
  dataset: "history" | "reviews",
  asked: { from?: string | undefined; to?: string | undefined },
  now: Date,
  caller: Caller,
): ExportDays {
  const today = dayOf(now)
  const first = planFrom(caller, dataset, today)
  const to = earlier(asked.to ?? today, today)
  const from = asked.from ?? (dataset === "history" ? first : later(addDays(to, 1 - REVIEW_DAYS), first))
  if (to < first) throw unread(caller, { what: dataset, day: to, today, otherwise: "invalid_arguments", field: "to" })
  if (from > to) {
    const detail = `${from} lies after ${to}, the last day that there is.`
    throw new Fault("invalid_arguments", { field: "from", detail })
  }
  return { from: later(from, first), to, planFrom: first, cut: from < first }
}
