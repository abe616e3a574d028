import type { Db } from "../database/types.ts"
import type { Platforms } from "../lib/accounts/platform.ts"
import type { Fault } from "../lib/faults.ts"

/** How one kind of write is done on an outside platform. No part is ever run inside a transaction. */
export interface OutsideWrite {
  /** The target now, as the preview stored it. May run several times. A Fault of a status below 500 is final. */
  read?(args: Record<string, unknown>, port: Port): Promise<unknown>
  /**
   * Runs once, with what was just read. A Fault means that nothing was applied; anything else thrown, that the write may
   * have been applied.
   */
  send(args: Record<string, unknown>, port: SendPort, seen: unknown): Promise<Record<string, unknown>>
  /** How an unknown outcome is found out by reading; left out = it stays unknown. */
  proof?: Proof
}

export interface Port {
  /** Aborted when the time is up, the server stops or the job is another process's. Hand it to every request. */
  signal: AbortSignal
  /** The job's id: the same for every attempt, for platforms that refuse a second write under one key. */
  idempotencyKey: string
  workspaceId: number
  appId: string | null
  /** For what is stored here of the target. */
  sql: Db
  platforms: Platforms
}

export interface SendPort extends Port {
  /** One request that changes something: written down before it goes out, and once more when its end is known. */
  step<T>(step: Step, request: () => Promise<T>): Promise<T>
}

export interface Step {
  /** "set status", "put back name, subtitle". */
  what: string
  /** The thing at the platform; null id = it is made by this. */
  entity: string
  id: string | null
  /** By field. */
  change: Record<string, { from: unknown; to: unknown }>
}

export interface Proof {
  /** Looks at the target again and says what it shows of the write. */
  look(args: Record<string, unknown>, port: Port, sent: SentWrite): Promise<ProofFinding>
  /** Minutes after sending, of PROOF_MINUTES, at each of which `absent` makes it a write that was not applied. */
  absentAt: readonly number[]
  /** What such a job failed with. */
  absence(): Fault
}

/** When an unknown outcome is looked at. */
export const PROOF_MINUTES = [1, 10, 60, 1_440] as const

export interface SentWrite {
  /** As it was read just before. */
  before: unknown
  sentAt: Date
}

/** `absent`: everything is as before; `unclear`: neither. `text` is ours and holds nothing of the platform's. */
export type ProofFinding = { verdict: "applied" | "absent" | "unclear"; text: string; result?: Record<string, unknown> }

export type OutsideWrites = ReadonlyMap<string, OutsideWrite>
