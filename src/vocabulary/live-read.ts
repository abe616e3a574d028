/** What a live read can be asked for. */
export interface Wanted {
  kind: "search" | "app" | "listing" | "app_ads" | "chart"
  platform: "ios" | "android"
  /** Of `app_ads`, which is the same in all, one that the app is sold in. */
  storefront: string
  /** A term, of a search; a store id; or a chart: "iphone free 6013". */
  subject: string
}

/** How old a stored reading may be, and how long a call may wait for a new one. */
export interface Patience {
  maxAgeMs: number
  waitMs: number
  /** It is of no use to anybody later: what was not read by then is not read at all. */
  onlyWhileWaiting?: true
}

/**
 * Fresh: what was wanted is stored, and may be read there; also that a store does not have the app. Pending: under way, with about so many seconds to go. Failed:
 * the upstream refused, could not be read or answered something else (its outcome), is too busy to wait for, or is not asked
 * at all, and why.
 */
export type Measured =
  | { state: "fresh"; measuredAt: Date }
  | { state: "pending"; eta: number }
  | { state: "failed"; why: "blocked" | "rate_limited" | "not_found" | "changed" | "mismatched" | "failed" | "busy" }
  | { state: "failed"; why: "off"; because?: string }

/** Who asks: each workspace has its share of what can be read at once. */
export interface Asker {
  workspaceId: number
}

/**
 * The one port for live reads. Joins work that is under way, and holds no connection while it waits. Without an asker it is
 * the operator, who has no share to keep to.
 */
export type Measure = (wanted: Wanted, patience: Patience, asker?: Asker) => Promise<Measured>
