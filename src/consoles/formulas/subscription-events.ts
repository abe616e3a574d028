export const EVENT_GROUPS = [
  "trialStarts",
  "trialConversions",
  "paidStarts",
  "reactivations",
  "renewals",
  "planChanges",
  "cancellations",
  "refunds",
  "billingIssues",
  "other",
] as const
export type EventGroup = (typeof EVENT_GROUPS)[number]

/**
 * The first matching pattern decides. New event names may appear: a name without a match is `other`, and the event is
 * stored under its name.
 */
const BEGINS: readonly [RegExp, EventGroup][] = [
  [/^Refund/i, "refunds"],
  [/^Cancel/i, "cancellations"],
  [/^Reactivat/i, "reactivations"],
  [/^Renew/i, "renewals"],
  [/^(Upgrade|Downgrade|Crossgrade)/i, "planChanges"],
  [/^(Billing Retry|Grace Period)/i, "billingIssues"],
  [/^Paid Subscription from/i, "renewals"],
  [/^(Subscribe|Start )/i, "paidStarts"],
  // A switch from one offer to another, or from a paid subscription to an offer, starts nothing new.
  [/ from (Billing Retry|Grace Period)/i, "renewals"],
]

/** Maps an event's group to the group that replaces it if the event's offer is free. */
const FREE: Partial<Record<EventGroup, EventGroup>> = { paidStarts: "trialStarts", reactivations: "trialStarts" }

/**
 * Returns the group of an event. Whether something starts free or paid is decided by `offer`, the type of the event's
 * offer, and not by the event's name.
 */
export function eventGroup(event: string, offer: string | undefined): EventGroup {
  const isFree = /^Free Trial$/i.test(offer?.trim() ?? "")
  if (isFree && /^Paid Subscription from/i.test(event)) return "trialConversions"
  const group = BEGINS.find(([begins]) => begins.test(event))?.[1] ?? "other"
  return (isFree ? FREE[group] : undefined) ?? group
}
