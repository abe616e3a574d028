import type { SourceName } from "../../lib/upstreams.ts"

export type Platform = "ios" | "android"

/** The origin of the demo's data: searches, charts and reviews, which `removeDemo` clears, and what its invented accounts say, which goes with these. */
export const DEMO = "demo"

/** What every observation says of itself. */
export interface Provenance {
  /** When the source answered. */
  seenAt: Date
  parser: number
  /** Who brought it: "own", "demo", or the name of another instance. */
  origin: string
  /** SHA-256 of the raw body. */
  sha256: Uint8Array
  /** Country of the address that read, where the answer depends on it. */
  egress?: string
}

/**
 * What is common to the observations of all kinds; `storefront` is missing where all storefronts say the same, `platform`
 * where what is seen is of no store.
 */
export interface AnyObservation extends Provenance {
  kind: string
  source: SourceName
  platform?: Platform
  storefront?: string
}

/** Of a store. */
export type StoreObservation = AnyObservation & { platform: Platform }

export function isOfStore<Seen extends AnyObservation>(seen: Seen): seen is Seen & StoreObservation {
  return seen.platform !== undefined
}

/** One storefront of one store. */
export interface Side {
  platform: Platform
  storefront: string
}

/** An app (store_app id), and the storefront in which something about it changed. */
export interface ChangedApp {
  appId: number
  storefront: string
}

/** An app (its store_app id) in a storefront. */
export interface StorefrontApp {
  app: number
  storefront: string
}
