import type { AccountKindName, AnyAccountKind } from "./kind.ts"
import { appStoreConnect } from "./kinds/app-store-connect.ts"
import { appleAds } from "./kinds/apple-ads.ts"

/** All that can be connected. */
export const ACCOUNT_KINDS: readonly AnyAccountKind[] = [appStoreConnect, appleAds]

export function accountKind(name: AccountKindName): AnyAccountKind {
  return ACCOUNT_KINDS.find((kind) => kind.name === name)!
}
