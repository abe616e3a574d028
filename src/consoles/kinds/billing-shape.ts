import * as v from "valibot"
import { hold } from "../../core/observation/invariants.ts"
import { Moment, Whole } from "../../core/observation/line-parts.ts"
import { rule, ruleBy } from "../../core/observation/shape.ts"
import { CountryCode, Currency, Money, Name, reportShape, Word } from "./reports-shape.ts"

/**
 * Types of events, the same for all senders. `upgrade`: a plan change that is charged immediately; `family_shared`: any
 * event of a member of the buyer's family, who pays nothing.
 */
const BILLING_GROUPS = [
  "trial_start",
  "trial_conversion",
  "paid_start",
  "renewal",
  "one_time",
  "cancellation",
  "uncancellation",
  "refund",
  "expiration",
  "billing_issue",
  "plan_change",
  "test",
  "other",
  "upgrade",
  "refund_reversed",
  "family_shared",
] as const

/** `other`: a store whose purchases are not counted. */
const BILLING_STORES = ["app_store", "play_store", "other"] as const
export type CountedStore = Exclude<(typeof BILLING_STORES)[number], "other">

const DAY_MS = 86_400_000

export const billingShape = v.strictObject({
  account: reportShape(v.strictObject({})).entries.account,
  eventId: Name,
  /** The sender's name of the event. */
  type: Name,
  countsAs: v.picklist(BILLING_GROUPS, "must be one of the types of billing events"),
  environment: v.picklist(["production", "sandbox"], "must be production or sandbox"),
  store: v.picklist(BILLING_STORES, "must be app_store, play_store or other"),
  happenedAt: v.pipe(
    Moment,
    ruleBy((at, { seenAt }) => {
      const isPossible = at.getTime() > Date.UTC(2008, 6) && at.getTime() < seenAt.getTime() + DAY_MS
      hold(isPossible, "bad_time", "the time must be before the message arrived, and after the store opened")
    }),
  ),
  product: Word,
  country: v.optional(CountryCode),
  countryIs: v.optional(v.picklist(["storefront", "last_contact"], "must be storefront or last_contact")),
  currency: v.optional(Currency),
  price: v.optional(Money),
  priceUsd: v.optional(Money),
  offer: Word,
  /** Number of units; the price is per unit. 1 if omitted. */
  quantity: v.optional(
    v.pipe(
      Whole,
      rule("bad_figure", "a quantity must be a whole number from 1", (n) => n >= 1 && n < 2 ** 31),
    ),
  ),
})
