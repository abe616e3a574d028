export const EVENT_GROUPS = [
  "trialStarts", "trialConversions", "paidStarts", "reactivations", "renewals", "planChanges", "cancellations", "refunds",
  "billingIssues", "other",
] as const // biome-ignore format: a list to scan
export type EventGroup = (typeof EVENT_GROUPS)[number]

/** Of how an event's name begins; the first that fits. The list of names is open: what fits none is `other`, and kept. */
const BEGINS: readonly [RegExp, EventGroup][] = [
  [/^Refund/i, "refunds"],
  [/^Cancel/i, "cancellations"],
  [/^Reactivat/i, "reactivations"],
  [/^Renew/i, "renewals"],
  [/^(Upgrade|Downgrade|Crossgrade)/i, "planChanges"],
  [/^(Billing Retry|Grace Period)/i, "billingIssues"],
  [/^Paid Subscription from/i, "renewals"],
  [/^(Subscribe|Start |.*\bfrom (Offer Code|Promotional|Win-?Back))/i, "paidStarts"],
]

/** `offer` is the type of the offer that the event is of; a paid introductory price is no trial. */
export function eventGroup(event: string, offer: string | undefined): EventGroup {
  const ofTrial = /^Free Trial$/i.test(offer ?? "")
  if (ofTrial && /^Start Introductory (Offer|Price)/i.test(event)) return "trialStarts"
  if (ofTrial && /^Paid Subscription from Introductory (Offer|Price)/i.test(event)) return "trialConversions"
  return BEGINS.find(([begins]) => begins.test(event))?.[1] ?? "other"
}
