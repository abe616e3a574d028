import * as v from "valibot"
import { kind, type ObservationOf } from "../../core/kind.ts"
import { replaceFacts } from "../store/derived/facts.ts"
import { OFFER_REDEMPTIONS, SUBSCRIPTION_EVENTS, SUBSCRIPTIONS } from "../store/derived/reports.ts"
import { readReports, storeReports } from "../store/reports.ts"
import { Amount, CountryCode, Currency, Money, Name, reportShape, Units, Word } from "./reports-shape.ts"

const Subscription = {
  /** The store's id of the app. */
  app: Name,
  /** The store's id of the subscription, because its name can change. */
  product: Name,
  name: Name,
  country: CountryCode,
}

export const StockRow = v.strictObject({
  ...Subscription,
  price: Money,
  currency: Currency,
  active: Amount,
  trials: Amount,
  /** Subscriptions at a paid introductory, promotional, offer code or win-back price. */
  offers: Amount,
  grace: Amount,
  retry: Amount,
})
export type StockRow = v.InferOutput<typeof StockRow>

const stockShape = reportShape(StockRow)
export type SubscriptionsObservation = Omit<
  ObservationOf<"subscriptions", "asc-subscriptions", typeof stockShape>,
  "storefront"
>

const HEAD = {
  platform: "ios",
  seenAt: "2025-10-25T03:25:01Z",
  account: "ac_0123456789abcdef01",
  day: "2025-10-23",
}
const TEA = { app: "310633997", product: "6702026751", name: "Tea Pro", country: "de" }

/** The subscriptions that exist at the end of a day. */
export const subscriptions = kind<SubscriptionsObservation>({
  name: "subscriptions",
  sources: ["asc-subscriptions"],
  private: true,
  demo: true,
  everywhere: true,
  shape: stockShape,
  facts: SUBSCRIPTIONS,
  store: async (tx, seen, _, staged) => ({ placed: await storeReports(tx, "subscriptions", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "subscriptions", SUBSCRIPTIONS, placed, staged),
  stored: (sql, range) => readReports<SubscriptionsObservation>(sql, "subscriptions", range),
  example: {
    source: "asc-subscriptions",
    ...HEAD,
    rows: [{ ...TEA, price: "19.99", currency: "EUR", active: 12, trials: 3, offers: 0, grace: 1, retry: 0 }],
  },
})

export const EventRow = v.strictObject({
  ...Subscription,
  /** The console's name of the event. */
  event: Name,
  /** The type of the event's offer. */
  offer: Word,
  quantity: Units,
})
export type EventRow = v.InferOutput<typeof EventRow>

const eventShape = reportShape(EventRow)
export type SubscriptionEventsObservation = Omit<
  ObservationOf<"subscription_events", "asc-subscription-events", typeof eventShape>,
  "storefront"
>

/** Subscription events of a day, dated as the console dates them. */
export const subscriptionEvents = kind<SubscriptionEventsObservation>({
  name: "subscription_events",
  sources: ["asc-subscription-events"],
  private: true,
  demo: true,
  everywhere: true,
  shape: eventShape,
  facts: SUBSCRIPTION_EVENTS,
  store: async (tx, seen, _, staged) => ({ placed: await storeReports(tx, "subscription_events", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "subscription_events", SUBSCRIPTION_EVENTS, placed, staged),
  stored: (sql, range) => readReports<SubscriptionEventsObservation>(sql, "subscription_events", range),
  example: {
    source: "asc-subscription-events",
    ...HEAD,
    rows: [{ ...TEA, event: "Start Introductory Offer", offer: "Free Trial", quantity: 3 }],
  },
})

export const RedemptionRow = v.strictObject({
  ...Subscription,
  /** The reference name of the offer, as the console lists it. */
  offer: Name,
  /** A code that many customers may use. Omitted for single-use codes. */
  code: Word,
  redemptions: Amount,
})
export type RedemptionRow = v.InferOutput<typeof RedemptionRow>

const redemptionShape = reportShape(RedemptionRow)
export type OfferRedemptionsObservation = Omit<
  ObservationOf<"offer_redemptions", "asc-offer-redemptions", typeof redemptionShape>,
  "storefront"
>

/** Redemptions of offer codes on a day. */
export const offerRedemptions = kind<OfferRedemptionsObservation>({
  name: "offer_redemptions",
  sources: ["asc-offer-redemptions"],
  private: true,
  demo: true,
  everywhere: true,
  shape: redemptionShape,
  facts: OFFER_REDEMPTIONS,
  store: async (tx, seen, _, staged) => ({ placed: await storeReports(tx, "offer_redemptions", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "offer_redemptions", OFFER_REDEMPTIONS, placed, staged),
  stored: (sql, range) => readReports<OfferRedemptionsObservation>(sql, "offer_redemptions", range),
  example: {
    source: "asc-offer-redemptions",
    ...HEAD,
    rows: [{ ...TEA, offer: "Welcome back", code: "SPRING", redemptions: 4 }],
  },
})
