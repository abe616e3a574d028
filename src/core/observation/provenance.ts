import type { SourceName } from "../../lib/upstreams.ts"

export type Platform = "ios" | "android"

/**
 * The origin of the demo's data: searches, charts and reviews, which `removeDemo` deletes, and reports of its invented
 * accounts, which are deleted with those accounts.
 */
export const DEMO = "demo"

/** The fields that describe the origin of an observation. */
export interface Provenance {
  /** Time of the source's response. */
  seenAt: Date
  parser: number
  /** "own", "demo", or the name of another instance. */
  origin: string
  /** SHA-256 of the raw body. */
  sha256: Uint8Array
  /** Country of the address that sent the request, if the answer depends on it. */
  egress?: string
}

/**
 * The fields of observations of every kind. `storefront` is missing if the observation is the same in all storefronts,
 * `platform` if it belongs to no store.
 */
export interface AnyObservation extends Provenance {
  kind: string
  source: SourceName
  platform?: Platform
  storefront?: string
}

/** An observation made in a store. */
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
