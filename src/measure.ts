/** What a live read can be asked for. */
export interface Wanted {
  kind: "search"
  platform: "ios" | "android"
  storefront: string
  term: string
}

/** How old a stored reading may be, and how long a call may wait for a new one. */
export interface Patience {
  maxAgeMs: number
  waitMs: number
}

/**
 * Fresh: what was wanted is stored, and may be read there. Pending: under way, with about so many seconds to go. Failed:
 * the upstream refused or could not be read (its outcome), is too busy to wait for, or is not asked at all.
 */
export type Measured =
  | { state: "fresh"; measuredAt: Date }
  | { state: "pending"; eta: number }
  | { state: "failed"; why: "blocked" | "rate_limited" | "not_found" | "changed" | "failed" | "busy" | "off" }

/** The one port for live reads. Joins work that is under way, and holds no connection while it waits. */
export type Measure = (wanted: Wanted, patience: Patience) => Promise<Measured>
