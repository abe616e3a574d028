import type { RankSource } from "../../lib/upstreams.ts"
import type { ResultApp } from "./line-parts.ts"
import type { AnyObservation } from "./provenance.ts"

type ShowingSource =
  | RankSource
  | "itunes-search"
  | "itunes-lookup"
  | "itunes-developer"
  | "play-details"
  | "apple-app-page"
  | "apple-charts"

interface ShownApp extends ResultApp {
  /** The store's own ids of the main genre and of the publisher. */
  genre?: string
  /** All genres that the store names, the main genre first. */
  genres?: string[]
  developerId?: string
  developerSite?: string
}

/** Apps that a reading showed, with their surrogate ids, in order. */
export interface ShownApps {
  /** If the reading is of an app's page, `id` is the app of that page. */
  from: AnyObservation & { source: ShowingSource; storefront: string; id?: string }
  apps: readonly ShownApp[]
  appIds: readonly number[]
  /** True if the reading is now the stored one. It then takes precedence over other readings of the same moment. */
  placed: boolean
}

/** The apps that a reading shows, stored or not. */
export type NamingApps = Pick<ShownApps, "from" | "apps" | "appIds">

/** A stored reading of an app that came from a stale cache, as an earlier reading with a later release shows. */
export interface OutdatedReading {
  appId: number
  storefront: string
  source: string
  seenAt: Date
}
