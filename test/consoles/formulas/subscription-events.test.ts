import { expect, test } from "bun:test"
import { eventGroup } from "../../../src/consoles/formulas/subscription-events.ts"

const CASES: [event: string, offer: string | undefined, group: string][] = [
  ["Start Offer Code", "Free Trial", "trialStarts"],
  ["Start Introductory Offer", "Free Trial", "trialStarts"],
  ["Start Promotional Offer", "Free Trial", "trialStarts"],
  ["Reactivation to Promotional Offer", "Free Trial", "trialStarts"],
  ["Start Offer Code", "Pay Up Front", "paidStarts"],
  ["Start Introductory Offer", "Pay As You Go", "paidStarts"],
  ["Reactivation to Promotional Offer", "Pay Up Front", "reactivations"],
  ["Subscribe", undefined, "paidStarts"],
  ["Paid Subscription from Offer Code", "Free Trial", "trialConversions"],
  ["Paid Subscription from Introductory Offer", "Free Trial", "trialConversions"],
  ["Paid Subscription from Introductory Offer", "Pay Up Front", "renewals"],
  ["Promotional Offer from Win-Back Offer", "Free Trial", "other"],
  ["Promotional Offer from Win-Back Offer", "Pay Up Front", "other"],
  ["Introductory Price from Paid Subscription", undefined, "other"],
  ["Introductory Offer from Introductory Offer", "Free Trial", "other"],
  ["Renewal from Billing Retry", undefined, "renewals"],
  ["Cancel", "Free Trial", "cancellations"],
]

test("a subscription event is grouped by its name and its offer type", () => {
  for (const [event, offer, group] of CASES)
    expect([event, offer, eventGroup(event, offer)]).toEqual([event, offer, group as never])
})
