import type { Caller } from "../access/caller.ts"
import { Fault } from "../faults.ts"
import { commonDays, type Days, later } from "../formulas/day-range.ts"
import { addDays, dayOf } from "../formulas/days.ts"

/** Of reviews, when nothing else is asked for. */
const REVIEW_DAYS = 90

/** No review is older: the App Store opened then, Google Play three months later. */
const STORES_OPENED = "2008-07-10"

export interface ExportDays extends Days {
  /** The first day that the plan reads. */
  planFrom: string
  /** Days that were asked for lie before it. */
  cut: boolean
}

/**
 * The UTC days of an export: those asked for that the plan reads, up to today. Throws plan_required where it reads none of
 * them, invalid_arguments where none of them has begun yet or `from` lies after today and `to` is left out.
 */
export function exportDays(
  dataset: "history" | "reviews",
  asked: { from?: string | undefined; to?: string | undefined },
  now: Date,
  { entitlements }: Caller,
): ExportDays {
  const today = dayOf(now)
  const { historyDays, reviewDays } = entitlements
  const planFrom =
    dataset === "history"
      ? addDays(today, 1 - Math.min(historyDays, LONGEST))
      : later(addDays(today, 1 - Math.min(reviewDays, LONGEST)), STORES_OPENED)
  const to = asked.to ?? today
  if (to < planFrom) {
    const [what, days] = dataset === "history" ? ["history", historyDays] : ["the reviews", reviewDays]
    throw new Fault("plan_required", { detail: `This plan reads ${what} of ${days} days back.` })
  }
  const from = asked.from ?? (dataset === "history" ? planFrom : later(addDays(to, 1 - REVIEW_DAYS), planFrom))
  const days = commonDays({ from: planFrom, to: today }, { from, to })
  if (!days || from > to) throw new Fault("invalid_arguments", { field: "from" })
  return { ...days, planFrom, cut: from < planFrom }
}

// an override may be so large that no calendar goes back as far
const LONGEST = 36_500
