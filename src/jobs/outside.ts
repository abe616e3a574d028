import type { Db } from "../database/types.ts"
import type { Platforms } from "../lib/accounts/platform.ts"
import type { Fault } from "../lib/faults.ts"

/** How one kind of write is done on another platform. No method runs inside a transaction. */
export interface OutsideWrite {
  /**
   * Reads the target's present state, in the form the preview stored. May run several times. A Fault with a status
   * below 500 is final.
   */
  read?(args: Record<string, unknown>, port: Port): Promise<unknown>
  /**
   * Sends the write; runs once. `seen` is the state just read. Throws a Fault if nothing was applied; any other error
   * means that the write may have been applied.
   */
  send(args: Record<string, unknown>, port: SendPort, seen: unknown): Promise<Record<string, unknown>>
  /** How reads settle an unknown outcome. If left out, it stays unknown. */
  proof?: Proof
}

export interface Port {
  /** Aborts on timeout, when the server stops, or when the lease is lost. Pass it to every request. */
  signal: AbortSignal
  /** The job's id, the same for every attempt: an idempotency key for platforms that support one. */
  idempotencyKey: string
  workspaceId: number
  appId: string | null
  /** For reading what is stored about the target. */
  sql: Db
  platforms: Platforms
}

export interface SendPort extends Port {
  /** Runs a request that changes something. Recorded before it is sent and again when its outcome is known. */
  step<T>(step: Step, request: () => Promise<T>): Promise<T>
}

export interface Step {
  /** For example "set status" or "put back name, subtitle". */
  what: string
  /** The object on the platform; `id` is null if the step creates it. */
  entity: string
  id: string | null
  /** The old and the new value of each field. */
  change: Record<string, { from: unknown; to: unknown }>
}

export interface Proof {
  /** Reads the target again and returns what it shows about the write. */
  look(args: Record<string, unknown>, port: Port, sent: SentWrite): Promise<ProofFinding>
  /** The checks (values of PROOF_MINUTES) that must all find `absent` before the write counts as not applied. */
  absentAt: readonly number[]
  /** Returns the fault for a write that was not applied. `before` is the state read just before sending. */
  absence(before: unknown): Fault
}

/** Minutes after sending at which an unknown outcome is checked. */
export const PROOF_MINUTES = [1, 10, 60, 1_440] as const

export interface SentWrite {
  /** The state read just before sending. */
  before: unknown
  sentAt: Date
}

/** `absent`: the target is unchanged; `unclear`: neither. `text` is our own and quotes nothing from the platform. */
export type ProofFinding = { verdict: "applied" | "absent" | "unclear"; text: string; result?: Record<string, unknown> }

export type OutsideWrites = ReadonlyMap<string, OutsideWrite>
