import type { AccountKindName, AnyAccountKind } from "./account-kind.ts"
import { appStoreConnect } from "./account-kinds/app-store-connect.ts"
import { appleAds } from "./account-kinds/apple-ads.ts"
import { adapty, appStoreNotifications, revenueCat, superwall } from "./account-kinds/billing.ts"
import { googlePlayConsole } from "./account-kinds/google-play-console.ts"
import { revenueCatMetrics } from "./account-kinds/revenuecat-metrics.ts"

/** Every kind of account that can be connected. */
export const ACCOUNT_KINDS: readonly AnyAccountKind[] = [
  appStoreConnect,
  googlePlayConsole,
  appleAds,
  revenueCat,
  adapty,
  superwall,
  appStoreNotifications,
  revenueCatMetrics,
]

/** Kinds of accounts that accept writes. */
const WRITTEN: readonly AccountKindName[] = ["app-store-connect", "google-play-console", "apple-ads"]

export function takesWrites(name: AccountKindName): boolean {
  return WRITTEN.includes(name)
}

export function accountKind(name: AccountKindName): AnyAccountKind {
  return ACCOUNT_KINDS.find((kind) => kind.name === name)!
}
