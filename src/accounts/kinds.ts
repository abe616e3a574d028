import type { AccountKindName, AnyAccountKind } from "./kind.ts"
import { appStoreConnect } from "./kinds/app-store-connect.ts"
import { appleAds } from "./kinds/apple-ads.ts"
import { adapty, appStoreNotifications, revenueCat, superwall } from "./kinds/billing.ts"
import { revenueCatMetrics } from "./kinds/revenuecat-metrics.ts"

/** All that can be connected. */
export const ACCOUNT_KINDS: readonly AnyAccountKind[] = [
  appStoreConnect,
  appleAds,
  revenueCat,
  adapty,
  superwall,
  appStoreNotifications,
  revenueCatMetrics,
]

export function accountKind(name: AccountKindName): AnyAccountKind {
  return ACCOUNT_KINDS.find((kind) => kind.name === name)!
}
