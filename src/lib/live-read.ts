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
  /** Of `app_ads`, which is the same in all, one that the app is sold in. */
  storefront: string
  /** A term, of a search, its suggestions or its difficulty, or of `app_names` one that apps are called by; a store id; a developer's id; or a chart, of itself or its first apps: "iphone free 6013". */
  subject: string
}

/** How old a stored reading may be, and how long a call may wait for a new one. */
export interface Patience {
  maxAgeMs: number
  waitMs: number
  /** It is of no use to anybody later: what was not read by then is not read at all. */
  onlyWhileWaiting?: true
  /** Is read after this one, even if nobody waits any more by then. */
  next?: LiveSubject
  /** Asked before a reading is started that nobody else has under way: false leaves it, and the call fails as refused. */
  mayBegin?: () => Promise<boolean>
  /** Called once it stands among what is due: whether this call began it, or joined. */
  onPut?: (isNew: boolean) => void
}

/** Fresh: what was wanted is stored, or the store does not have the app. Pending: `eta` in seconds. Failed: and why; unstored = it was read, gone = nobody reads it any more. */
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
      /** Why the store is not read, as a sentence for callers. */
      because?: string
    }
  | { state: "failed"; why: "off"; because?: string }

/** Who asks: each workspace has its share of what can be read at once. */
export interface Asker {
  workspaceId: number
}

/** The one port for live reads. It holds no connection while it waits. No asker = the operator, who has no share. */
export type Measure = (wanted: LiveSubject, patience: Patience, asker?: Asker) => Promise<LiveReadState>
