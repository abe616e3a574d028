import { storefrontOfTerritory } from "../accounts/territories.ts"
import { type BillingMessage, currency, decimal, environment, moment, record, signed, text } from "./told.ts"

const GROUPS: Record<string, BillingMessage["countsAs"]> = {
  TEST: "test",
  SUBSCRIBED: "paid_start",
  OFFER_REDEEMED: "paid_start",
  DID_RENEW: "renewal",
  ONE_TIME_CHARGE: "one_time",
  DID_CHANGE_RENEWAL_PREF: "plan_change",
  EXPIRED: "expiration",
  GRACE_PERIOD_EXPIRED: "expiration",
  DID_FAIL_TO_RENEW: "billing_issue",
  REFUND: "refund",
}

/** Of money the store tells thousandths. */
const MILLIUNITS = 1_000

/** A notification of the App Store (V2), its parts already taken out of their signatures; null = it is none. */
export function storeNotification(payload: unknown, transaction: unknown): BillingMessage | null {
  const [told, about, bought] = [record(payload), record(record(payload).data), record(transaction)]
  const [eventId, name, happenedAt] = [
    text(told.notificationUUID),
    text(told.notificationType),
    moment(told.signedDate),
  ]
  if (!eventId || !name || !happenedAt) return null
  const countsAs = groupOf(name, told.subtype, bought)
  const storefront = storefrontOfTerritory(String(bought.storefront))
  const subtype = text(told.subtype)
  return {
    ...{ eventId, type: subtype ? `${name} ${subtype}` : name, countsAs, happenedAt, store: "app_store" },
    environment: environment(about.environment),
    product: text(bought.productId),
    country: storefront,
    countryIs: storefront ? "storefront" : undefined,
    currency: currency(bought.currency),
    price: signed(decimal(bought.price, MILLIUNITS), countsAs),
    offer: text(bought.offerIdentifier),
  }
}

function groupOf(name: string, subtype: unknown, bought: Record<string, unknown>): BillingMessage["countsAs"] {
  if (name === "SUBSCRIBED" && bought.offerDiscountType === "FREE_TRIAL") return "trial_start"
  if (name === "DID_CHANGE_RENEWAL_STATUS") return subtype === "AUTO_RENEW_ENABLED" ? "uncancellation" : "cancellation"
  return GROUPS[name] ?? "other"
}
