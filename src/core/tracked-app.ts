import type { Caller } from "../access/caller.ts"
import type { Db } from "../database/types.ts"

/** A workspace's app: up to two store apps under one name. iosApp and androidApp are store_app ids. */
export interface TrackedApp {
  id: string
  /** See shownName. */
  name: string
  icon: string | null
  iosId: string | null
  androidPkg: string | null
  bundleId: string | null
  iosApp: number | null
  androidApp: number | null
  /** Storefronts, the main one first. */
  countries: [string, ...string[]]
  manualRivals: string[] | null
  /** Rivals hidden by hand, which are never shown. No id is in both manualRivals and hiddenRivals. */
  hiddenRivals: string[] | null
  keywordTags: Record<string, string[]> | null
  buriedKeywords: string[] | null
  goal: "downloads" | "rank" | "revenue" | null
  tasksDone: string[] | null
}

/** How `invoke` finds the apps of a caller; src/tracking implements it. */
export interface AppPort {
  /** Returns an app. Throws not_found or app_not_allowed. */
  find(sql: Db, caller: Caller, id: string, country: string | undefined): Promise<TrackedApp>
  /** Returns the apps that the caller's key may see, oldest first. */
  listVisible(sql: Db, caller: Caller): Promise<TrackedApp[]>
}
