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
  TEST: "test",
  INITIAL_PURCHASE: "paid_start",
  RENEWAL: "renewal",
  NON_RENEWING_PURCHASE: "one_time",
  CANCELLATION: "cancellation",
  UNCANCELLATION: "uncancellation",
  EXPIRATION: "expiration",
  BILLING_ISSUE: "billing_issue",
  PRODUCT_CHANGE: "plan_change",
  REFUND_REVERSED: "refund_reversed",
}

const STORES = { APP_STORE: "app_store", MAC_APP_STORE: "app_store", PLAY_STORE: "play_store" } as const

/**
 * Parses a RevenueCat webhook (api_version 1.0). Null if it is not an event. RevenueCat sends trials as purchases and
 * refunds as cancellations.
 */
export function revenueCatEvent(body: unknown): BillingMessage | null {
  const event = record(record(body).event)
  const [eventId, type, reportedAt] = [idText(event.id), text(event.type), moment(event.event_timestamp_ms)]
  if (!eventId || !type || !reportedAt) return null
  const countsAs = groupOf(type, event)
  return {
    eventId,
    type,
    countsAs,
    happenedAt: happened(reportedAt, event.purchased_at_ms, countsAs),
    environment: environment(event.environment),
    store: storeIn(event.store, STORES),
    product: text(event.product_id),
    country: country(event.country_code),
    // The country of the device's last contact, which may differ from the storefront.
    countryIs: country(event.country_code) ? "last_contact" : undefined,
    currency: currency(event.currency),
    price: signed(decimal(event.price_in_purchased_currency), countsAs),
    priceUsd: signed(decimal(event.price), countsAs),
    offer: text(event.offer_code),
  }
}

function groupOf(type: string, event: Record<string, unknown>): BillingMessage["countsAs"] {
  if (event.is_family_share === true) return "family_shared"
  if (type === "INITIAL_PURCHASE" && event.period_type === "TRIAL") return "trial_start"
  if (type === "RENEWAL" && event.is_trial_conversion === true) return "trial_conversion"
  if (type === "CANCELLATION" && event.cancel_reason === "CUSTOMER_SUPPORT") return "refund"
  return GROUPS[type] ?? "other"
}
