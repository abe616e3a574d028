const BEING_READ = "It is being read now."

/** Returns the explanation of an answer whose reading is in progress. */
export const beingRead = (seconds: number) => `${BEING_READ} Try again in ${seconds} s.`

/** Returns whether `beingRead` made this explanation. */
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
  /** The storefront. For `app_ads`, which is the same in all storefronts, any storefront where the app is available. */
  storefront: string
  /**
   * Depends on the kind: a term (search, suggestions, difficulty; for `app_names`, a term in the names of apps), a
   * store id, a developer's id, or a chart (itself or its first apps), such as "iphone free 6013".
   */
  subject: string
}

/** Maximum age of a stored reading, and maximum wait for a new one. */
export interface Patience {
  maxAgeMs: number
  waitMs: number
  /** If true, the reading is cancelled when the wait ends without a result, because it is useless later. */
  onlyWhileWaiting?: true
  /** A subject to read after this one, even if nobody is waiting then. */
  next?: LiveSubject
  /**
   * Called before a new reading is queued, but not if one is already in progress. If it returns false, nothing is read
   * and the state is failed, with the reason `refused`.
   */
  mayBegin?: () => Promise<boolean>
  /** Called when the reading is queued. `isNew` is false if this call joined an existing one. */
  onPut?: (isNew: boolean) => void
}

/**
 * fresh: the result is stored, or the store does not have the app. pending: the reading ends in about `eta` seconds.
 * failed: `why` has the reason, for example unstored (it was read but not stored) or gone (it is no longer queued).
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

/** The workspace that requests a reading. Each workspace has a share of the concurrent reads. */
export interface Asker {
  workspaceId: number
}

/**
 * The only interface for live reads. It holds no connection while it waits. Without `asker`, the operator requests the
 * reading, and no share applies.
 */
export type Measure = (wanted: LiveSubject, patience: Patience, asker?: Asker) => Promise<LiveReadState>
