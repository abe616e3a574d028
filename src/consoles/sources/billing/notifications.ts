import { storefrontOfTerritory } from "../territories.ts"
import {
  type BillingMessage,
  currency,
  decimal,
  environment,
  happened,
  idText,
  moment,
  record,
  signed,
  text,
} from "./message-fields.ts"

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
  REFUND_REVERSED: "refund_reversed",
}

/** Prices are in thousandths of the currency. */
const MILLIUNITS = 1_000
/** `revocationPercentage` is in thousandths of a percent. */
const WHOLE_PERCENTAGE = 100_000

/** The properties that may identify the notification's app. Which one is used depends on the type of notification. */
const PLACES = ["data", "summary", "externalPurchaseToken", "appData"] as const

/** Returns the app of a notification. In the sandbox Apple omits the app's number. */
export function notifiedApp(payload: unknown): { appAppleId: unknown; bundleId: unknown; environment: unknown } {
  const notification = record(payload)
  const place = PLACES.map((name) => record(notification[name])).find((about) => Object.keys(about).length > 0) ?? {}
  // A token for external purchases marks the sandbox only in its id.
  const isSandboxToken = String(place.externalPurchaseId ?? "").startsWith("SANDBOX")
  return {
    appAppleId: place.appAppleId,
    bundleId: place.bundleId,
    environment: place.environment ?? (isSandboxToken ? "Sandbox" : undefined),
  }
}

/** Parses an App Store Server Notification (V2) whose signed parts are already decoded. Null if it is not one. */
export function storeNotification(payload: unknown, transaction: unknown): BillingMessage | null {
  const [notification, purchase] = [record(payload), record(transaction)]
  const [eventId, name, reportedAt] = [
    idText(notification.notificationUUID),
    text(notification.notificationType),
    moment(notification.signedDate),
  ]
  if (!eventId || !name || !reportedAt) return null
  const countsAs = groupOf(name, notification.subtype, purchase)
  const storefront = storefrontOfTerritory(String(purchase.storefront))
  const subtype = text(notification.subtype)
  const quantity = quantityOf(purchase)
  return {
    eventId,
    type: subtype ? `${name} ${subtype}` : name,
    countsAs,
    happenedAt: happened(reportedAt, purchase.purchaseDate, countsAs),
    store: "app_store",
    environment: environment(notifiedApp(payload).environment),
    product: text(purchase.productId),
    country: storefront,
    countryIs: storefront ? "storefront" : undefined,
    currency: currency(purchase.currency),
    price: countsAs === "family_shared" ? undefined : signed(priceOf(purchase, countsAs, quantity), countsAs),
    offer: text(purchase.offerIdentifier),
    ...(quantity > 1 && { quantity }),
  }
}

function quantityOf({ quantity }: Record<string, unknown>): number {
  return typeof quantity === "number" && Number.isSafeInteger(quantity) && quantity > 1 ? quantity : 1
}

/**
 * Returns the price of a single unit. A prorated refund counts only the refunded part. Undefined if the notification
 * has no price.
 */
function priceOf(
  { price, revocationType, revocationPercentage: part }: Record<string, unknown>,
  countsAs: BillingMessage["countsAs"],
  quantity: number,
): string | undefined {
  if (typeof price !== "number") return undefined
  const isPart = typeof part === "number" && part >= 0 && part <= WHOLE_PERCENTAGE
  if (countsAs !== "refund" || revocationType !== "REFUND_PRORATED") return decimal(price, MILLIUNITS * quantity)
  return isPart ? decimal(price * part, MILLIUNITS * WHOLE_PERCENTAGE * quantity) : undefined
}

function groupOf(name: string, subtype: unknown, bought: Record<string, unknown>): BillingMessage["countsAs"] {
  // Each family member has a separate notification, which repeats the price that the buyer paid.
  if (bought.inAppOwnershipType === "FAMILY_SHARED") return "family_shared"
  if (name === "DID_CHANGE_RENEWAL_STATUS") return subtype === "AUTO_RENEW_ENABLED" ? "uncancellation" : "cancellation"
  const isRedeemed = name === "OFFER_REDEEMED"
  // An upgrade is charged immediately without a renewal event; a downgrade applies at the next renewal.
  if (isRedeemed || name === "DID_CHANGE_RENEWAL_PREF") {
    if (subtype === "UPGRADE") return "upgrade"
    if (subtype === "DOWNGRADE") return "plan_change"
  }
  // Without a subtype the offer applies to an active subscription, so nothing starts.
  if (isRedeemed && !subtype) return "other"
  const group = GROUPS[name] ?? "other"
  return group === "paid_start" && bought.offerDiscountType === "FREE_TRIAL" ? "trial_start" : group
}
