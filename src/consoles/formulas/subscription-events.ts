export const EVENT_GROUPS = [
  "trialStarts", "trialConversions", "paidStarts", "reactivations", "renewals", "planChanges", "cancellations", "refunds",
  "billingIssues", "other",
] as const // biome-ignore format: a list to scan
export type EventGroup = (typeof EVENT_GROUPS)[number]

/** The first pattern that fits decides. The list of names is open: what fits none is `other`, and kept under its name. */
const BEGINS: readonly [RegExp, EventGroup][] = [
  [/^Refund/i, "refunds"],
  [/^Cancel/i, "cancellations"],
  [/^Reactivat/i, "reactivations"],
  [/^Renew/i, "renewals"],
  [/^(Upgrade|Downgrade|Crossgrade)/i, "planChanges"],
  [/^(Billing Retry|Grace Period)/i, "billingIssues"],
  [/^Paid Subscription from/i, "renewals"],
  [/^(Subscribe|Start )/i, "paidStarts"],
  // who goes on from one offer to another, or to an offer from a paid subscription, begins nothing
  [/ from (Billing Retry|Grace Period)/i, "renewals"],
]

/** The group of the same event with a free offer. */
const FREE: Partial<Record<EventGroup, EventGroup>> = { paidStarts: "trialStarts", reactivations: "trialStarts" }

/** `offer` is the type of the offer that the event is of. It decides whether something begins free or paid, not the event's name. */
export function eventGroup(event: string, offer: string | undefined): EventGroup {
  const isFree = /^Free Trial$/i.test(offer?.trim() ?? "")
  if (isFree && /^Paid Subscription from/i.test(event)) return "trialConversions"
  const group = BEGINS.find(([begins]) => begins.test(event))?.[1] ?? "other"
  return (isFree ? FREE[group] : undefined) ?? group
}
