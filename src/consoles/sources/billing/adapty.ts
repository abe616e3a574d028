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
  subscription_started: "paid_start",
  subscription_renewed: "renewal",
  trial_started: "trial_start",
  trial_converted: "trial_conversion",
  subscription_renewal_cancelled: "cancellation",
  trial_renewal_cancelled: "cancellation",
  subscription_renewal_reactivated: "uncancellation",
  trial_renewal_reactivated: "uncancellation",
  subscription_expired: "expiration",
  trial_expired: "expiration",
  subscription_refunded: "refund",
  non_subscription_purchase: "one_time",
  non_subscription_purchase_refunded: "refund",
  billing_issue_detected: "billing_issue",
  entered_grace_period: "billing_issue",
}

/**
 * Returns the response to the request with which Adapty verifies an address before any message: an empty body, or a
 * text to be echoed. Null if it is not such a request.
 */
export function adaptyVerification(body: unknown): object | null {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return null
  if ("adapty_check" in body) return { adapty_check_response: body.adapty_check }
  return Object.keys(body).length === 0 ? { received: true } : null
}

/** Parses an Adapty webhook. Null if it is not an event. */
export function adaptyEvent(body: unknown): BillingMessage | null {
  const event = record(body)
  const about = record(event.event_properties)
  const eventId = idText(about.profile_event_id)
  const [type, reportedAt] = [text(event.event_type), moment(event.event_datetime ?? about.event_datetime)]
  if (!eventId || !type || !reportedAt) return null
  const countsAs = GROUPS[type] ?? "other"
  return {
    eventId,
    type,
    countsAs,
    happenedAt: happened(reportedAt, about.purchase_date, countsAs),
    environment: environment(about.environment),
    store: storeIn(about.store, { app_store: "app_store", play_store: "play_store" }),
    product: text(about.vendor_product_id),
    country: country(about.store_country),
    countryIs: country(about.store_country) ? "storefront" : undefined,
    currency: currency(about.currency),
    price: signed(decimal(about.price_local), countsAs),
    priceUsd: signed(decimal(about.price_usd), countsAs),
    offer: text(about.promotional_offer_id),
  }
}
