import type { CallerKind } from "./keys.ts"
import type { Entitlements, Plan } from "./plans.ts"
import type { Scope } from "./scopes.ts"

/** The month's credits of a workspace as last known to this process. */
export interface Credits {
  used: number
  limit: number
  remaining: number
  /** ISO time of the next month's start, UTC. */
  resetsAt: string
}

export interface Budget {
  used: number
  limit: number
}

export interface Caller {
  workspaceId: number
  keyId: number
  kind: CallerKind
  plan: Plan
  explorer: boolean
  /** A credit pack has credits left. */
  hasPack: boolean
  /** One was bought within the last twelve months, whatever is left of it. */
  boughtPack: boolean
  entitlements: Entitlements
  scopes: readonly Scope[]
  /** App ids this key is limited to; null = every app of the workspace. */
  appList: readonly string[] | null
  credits: Credits
  /** The key's own monthly budget; null = none. */
  budget: Budget | null
}
