import type { CallerKind } from "./keys.ts"
import type { Entitlements, Plan } from "./plans.ts"
import type { Right } from "./scopes.ts"

/** The workspace's credits of the month, as this process last read or charged them. */
export interface Credits {
  used: number
  limit: number
  remaining: number
  /** ISO time of the start of the next month, UTC. */
  resetsAt: string
}

export interface Budget {
  used: number
  limit: number
}

/** The person whom a key belongs to. */
interface CallerPerson {
  id: number
  name: string
}

export interface Caller {
  workspaceId: number
  keyId: number
  kind: CallerKind
  /** Null for a key that belongs to nobody, because it was created on the machine. */
  person: CallerPerson | null
  plan: Plan
  explorer: boolean
  /** Whether a credit pack has credits left. */
  hasPack: boolean
  /** Whether a pack was bought within the last twelve months, even if it is used up. */
  boughtPack: boolean
  entitlements: Entitlements
  /** The rights of the key, without those that its person lacks. */
  scopes: readonly Right[]
  /** Ids of the apps that this key is limited to. Null if it may read every app of the workspace. */
  appList: readonly string[] | null
  credits: Credits
  /** The key's monthly budget. Null if it has none. */
  budget: Budget | null
}
