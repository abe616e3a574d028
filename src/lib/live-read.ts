const BEING_READ = "It is being read now."

/** The explanation of an answer whose reading is under way. */
export const beingRead = (seconds: number) => `${BEING_READ} Try again in ${seconds} s.`

/** Whether an explanation is that of `beingRead`. */
export const isBeingRead = (detail: string | undefined) => detail?.startsWith(BEING_READ) === true

export interface LiveSubject {
  kind:
    | "search"
    | "app"
    | "app_names"
    | "listing"
    | "app_ads"
    | "chart"
    | "chart_apps"
    | "reviews"
    | "developer"
    | "hints"
    | "difficulty"
  platform: "ios" | "android"
  /** For `app_ads`, which is the same in all storefronts: one where the app is available. */
  storefront: string
  /**
   * A term, for a search, its suggestions or its difficulty (for `app_names`, a term in the names of apps); a store id;
   * a developer's id; or a chart, for itself or its first apps: "iphone free 6013".
   */
  subject: string
}

/** Maximum age of a stored reading, and maximum wait for a new one. */
export interface Patience {
  maxAgeMs: number
  waitMs: number
  /** The reading is useless later, so it is cancelled if it has not been read when the wait ends. */
  onlyWhileWaiting?: true
  /** Read after this subject, even if nobody is waiting then. */
  next?: LiveSubject
  /**
   * Called before a new reading is queued, unless one is already in progress. If false, nothing is read and the call
   * fails as refused.
   */
  mayBegin?: () => Promise<boolean>
  /** Called when the reading is queued. `isNew` is false if this call joined an existing one. */
  onPut?: (isNew: boolean) => void
}

/**
 * fresh: the result is stored, or the store does not have the app. pending: `eta` in seconds. failed: `why` has the
 * reason; unstored: it was read but not stored, gone: it is no longer queued.
 */
export type LiveReadState =
  | { state: "fresh"; measuredAt: Date }
  | { state: "pending"; eta: number }
  | {
      state: "failed"
      why:
        | "blocked"
        | "rate_limited"
        | "not_found"
        | "changed"
        | "mismatched"
        | "failed"
        | "gone"
        | "unstored"
        | "busy"
        | "refused"
      /** A sentence for callers: why the store is not read. */
      because?: string
    }
  | { state: "failed"; why: "off"; because?: string }

/** The workspace that asks. Each workspace has a share of the concurrent reads. */
export interface Asker {
  workspaceId: number
}

/**
 * The only interface for live reads. It holds no connection while it waits. Without an asker, the operator asks, who
 * has no share.
 */
export type Measure = (wanted: LiveSubject, patience: Patience, asker?: Asker) => Promise<LiveReadState>
