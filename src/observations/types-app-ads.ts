import type { Platform, Provenance } from "./types.ts"

/**
 * How far the look for a developer's app-ads.txt came: `records` of ad systems; `no_file`, which also says that the file
 * names none; `no_site`, where the listing has no developer site; `unreachable`, where it could not be told.
 */
export const APP_ADS_STATES = ["records", "no_file", "no_site", "unreachable"] as const
export type AppAdsState = (typeof APP_ADS_STATES)[number]

/** The ad systems that a developer's app-ads.txt lets sell in an app. The same in every storefront. */
export interface AppAdsObservation extends Provenance {
  kind: "app_ads"
  source: "app-ads-txt"
  platform: Platform
  /** Store id of the app whose developer it is. */
  id: string
  /** The host that said so, or failed to; null where the listing names none. */
  domain: string | null
  state: AppAdsState
  /** In the file's order, each once; empty in every state but `records`. */
  records: AppAdsRecord[]
  /** Values in the file's order, each once. */
  variables: AppAdsVariables
}

export interface AppAdsRecord {
  /** The ad system's domain, lower-case. */
  system: string
  /** The developer's own id there, as written. */
  publisherId: string
  relation: "DIRECT" | "RESELLER"
  /** The system's id at an authority that certifies ad systems. */
  certId?: string
}

/** What a file may say of itself; CONTACT and SUBDOMAIN are of version 1.0, the others of 1.1. */
export const APP_ADS_VARIABLES = [
  "CONTACT", "SUBDOMAIN", "INVENTORYPARTNERDOMAIN", "OWNERDOMAIN", "MANAGERDOMAIN",
] as const // biome-ignore format: a list to scan
export type AppAdsVariables = Partial<Record<(typeof APP_ADS_VARIABLES)[number], string[]>>
