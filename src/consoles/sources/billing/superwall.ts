import {
  type BillingMessage,
  country,
  currency,
  decimal,
  environment,
  happened,
  idText,
  moment,
  record,
  signed,
  storeIn,
  text,
} from "./message-fields.ts"

const GROUPS: Record<string, BillingMessage["countsAs"]> = {
  initial_purchase: "paid_start",
  renewal: "renewal",
  non_renewing_purchase: "one_time",
  cancellation: "cancellation",
  uncancellation: "uncancellation",
  expiration: "expiration",
  billing_issue: "billing_issue",
  product_change: "plan_change",
  refund_reversed: "refund_reversed",
  test: "test",
}

/**
 * Parses a Superwall webhook. Null if it is not an event. `price` is in dollars; `exchangeRate` converts it to the
 * local currency.
 */
export function superwallEvent(body: unknown): BillingMessage | null {
  const message = record(body)
  const event = record(message.data)
  const [eventId, type, reportedAt] = [idText(event.id), text(message.type ?? event.name), moment(event.ts)]
  if (!eventId || !type || !reportedAt) return null
  const countsAs = groupOf(type, event)
  return {
    eventId,
    type,
    countsAs,
    happenedAt: happened(reportedAt, event.purchasedAt, countsAs),
    environment: environment(event.environment),
    store: storeIn(event.store, { APP_STORE: "app_store", PLAY_STORE: "play_store" }),
    product: text(event.productId),
    country: country(event.countryCode),
    countryIs: country(event.countryCode) ? "last_contact" : undefined,
    currency: currency(event.currencyCode),
    price: signed(decimal(event.priceInPurchasedCurrency), countsAs),
    priceUsd: signed(decimal(event.price), countsAs),
    offer: text(event.offerCode),
  }
}

function groupOf(type: string, event: Record<string, unknown>): BillingMessage["countsAs"] {
  if (event.isFamilyShare === true) return "family_shared"
  if (type === "initial_purchase" && event.periodType === "TRIAL") return "trial_start"
  if (type === "renewal" && event.isTrialConversion === true) return "trial_conversion"
  if (typeof event.price === "number" && event.price < 0) return "refund"
  return GROUPS[type] ?? "other"
}
