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
  /** The store's own ids of its main genre and of who sells it. */
  genre?: string
  /** All that the store names, the main one first. */
  genres?: string[]
  developerId?: string
  developerSite?: string
}

/** Apps as a reading showed them, with their surrogate ids, in order. */
export interface ShownApps {
  /** `id` is the app whose page was read, where it was one. */
  from: AnyObservation & { source: ShowingSource; storefront: string; id?: string }
  apps: readonly ShownApp[]
  appIds: readonly number[]
  /** Whether the reading is now the one that is held: it goes before what was seen in the same moment. */
  placed: boolean
}

/** What is shown of apps, whether its reading took a place or not. */
export type NamingApps = Pick<ShownApps, "from" | "apps" | "appIds">

/** A stored reading of an app that a stale cache answered, as an earlier reading with a later release shows. */
export interface OutdatedReading {
  appId: number
  storefront: string
  source: string
  seenAt: Date
}
