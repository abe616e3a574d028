import { addDays, later } from "../lib/days.ts"
import { Fault, type FaultCode } from "../lib/faults.ts"
import type { Caller } from "./caller.ts"
import { ENTITLEMENTS, type Entitlements, PLANS } from "./plans.ts"

const READ = {
  history: { days: "historyDays", words: "history", since: "1900-01-01" },
  // There are no older reviews: the App Store opened on this day, Google Play three months later.
  reviews: { days: "reviewDays", words: "the reviews", since: "2008-07-10" },
} as const

export type PlannedDays = keyof typeof READ

export function planFrom({ entitlements }: Pick<Caller, "entitlements">, what: PlannedDays, today: string): string {
  return firstDay(entitlements, what, today)
}

interface UnreadDay {
  what: PlannedDays
  day: string
  today: string
  /** The error code for a day that no higher plan would show either. */
  otherwise: FaultCode
  field: string
}

/** Returns the fault for a day before the readable ones: plan_required only if a higher plan would show it. */
export function unread({ plan, entitlements }: Caller, { what, day, today, otherwise, field }: UnreadDay): Fault {
  const { days, words } = READ[what]
  const higher = PLANS.slice(PLANS.indexOf(plan) + 1)
  if (higher.some((above) => day >= firstDay(ENTITLEMENTS[above], what, today)))
    return new Fault("plan_required", { detail: `This plan includes ${words} of the last ${entitlements[days]} days.` })
  const first = firstDay(entitlements, what, today)
  return new Fault(otherwise, { field, detail: `${day} is before ${first}, the first available day.` })
}

function firstDay(entitlements: Entitlements, what: PlannedDays, today: string): string {
  const { days, since } = READ[what]
  return later(addDays(today, 1 - Math.min(entitlements[days], LONGEST)), since)
}

// An override may exceed the range of dates.
const LONGEST = 36_500
