import type * as v from "valibot"
import type { Caller } from "../access/caller.ts"
import type { Plan } from "../access/plans.ts"
import type { Scope } from "../access/scopes.ts"
import type { Db, Tx } from "../database/types.ts"
import type { OutsideWrite, OutsideWrites } from "../jobs/outside.ts"
import type { FaultCode } from "../lib/faults.ts"
import type { Measure } from "../lib/live-read.ts"
import type { ObjectSchema, Schema } from "../lib/schema.ts"

/** What a write is about. */
export const TARGETS = [
  "app", "store_app", "alerts", "alert_rule", "review", "listing", "campaign", "ads_keyword", "negative_keyword",
] as const // biome-ignore format: a list to scan

/** What writes through the seller's console refuse. */
export const CONSOLE_FAULTS = ["asc_required", "asc_role", "asc_rejected", "asc_unavailable", "ios_only"] as const

/** What a write would do, for a person to approve. `before` and `after` hold all of the target that the write touches. */
export interface Diff {
  /** One sentence. */
  summary: string
  target: { kind: (typeof TARGETS)[number]; id: string; name: string }
  before: Record<string, unknown>
  after: Record<string, unknown>
  /** What else the person should know, in sentences. */
  notes: string[]
}

interface LookBase {
  caller: Caller
  /** What counts as today. */
  now: Date
}

/** What `look` reads with in a preview. */
interface PreviewLook extends LookBase {
  sql: Db
  lock: false
}

/** In a confirm it locks what it reads until the transaction ends, so that nobody changes it before the write. */
interface ConfirmLook extends LookBase {
  sql: Tx
  lock: true
}

export type LookContext = PreviewLook | ConfirmLook

/** What `write` may use. */
interface WriteContext {
  tx: Tx
  caller: Caller
  /** Where this instance is reached, without a trailing slash. */
  publicUrl: string
}

interface ActionBase<Args extends ObjectSchema, State> {
  name: string
  /** What it does, one sentence. */
  summary: string
  description?: string
  scope: Scope
  plan: Plan
  /** Credits of a confirm that changes something. */
  credits: number
  /** Takes something away, or shows to the world. */
  destructive: boolean
  args: Args
  /** What `before` and `after` hold. */
  state: Schema
  /** What `write`, or the job of an outside write, says was done. */
  result: Schema
  /** What it refuses beyond what any write does. */
  faults?: readonly FaultCode[]
  /** Arguments to try it with, for the reference. */
  example: v.InferInput<Args>
  /** Checks of the arguments beyond their schema. Throws Faults. */
  refine?: (args: v.InferOutput<Args>) => v.InferOutput<Args>
  /**
   * The arguments that the token stands for, at preview alone: what was left open, such as "all so far", is said here, so
   * that what comes after the preview is not part of it. May read a store, for it is never in a transaction. Throws Faults.
   */
  settle?(args: v.InferOutput<Args>, looking: LookContext, measure: Measure): Promise<v.InferOutput<Args>>
  /** For arguments that must not be stored as they were sent. */
  secrets?: {
    /** As they wait for the confirm: what `look`, `diff` and `write` get there. They must give the same diff. */
    kept(args: v.InferOutput<Args>): Promise<v.InferOutput<Args>>
    /** Of those, what the audit may hold for good. */
    audited(args: v.InferOutput<Args>): v.InferOutput<Args>
  }
  /** What only one write at a time may change, within the workspace. */
  target(args: v.InferOutput<Args>): string
  /** Reads of our own what the write touches: at preview, and at confirm once more inside its transaction. Throws Faults. */
  look(args: v.InferOutput<Args>, looking: LookContext): Promise<State>
  /**
   * What the write would do; `seen` is what an outside target was read as. Pure; throws write_limit_reached. The same
   * `before` and `after` mean that nothing would change.
   */
  diff(state: State, args: v.InferOutput<Args>, seen?: unknown): Diff
}

interface InsideAction<Args extends ObjectSchema, State> extends ActionBase<Args, State> {
  /** Writes, awaiting nothing but the transaction, and says what was done. */
  write(args: v.InferOutput<Args>, state: State, writing: WriteContext): Promise<Record<string, unknown>>
  /** Fields of what `write` says that the caller alone is shown, this once, such as a link that opens something. */
  shownOnce?: readonly string[]
  outside?: never
}

interface OutsideAction<Args extends ObjectSchema, State> extends ActionBase<Args, State> {
  /** Written to another platform by one job, after the confirm. Its `read` is asked at preview, confirm and by the job. */
  outside: OutsideWrite
  /** The account of the workspace that it is written with. */
  account?(state: State): string
  write?: never
  shownOnce?: never
}

/** One of the writes behind POST /actions. */
export type Action = InsideAction<ObjectSchema, unknown> | OutsideAction<ObjectSchema, unknown>

/** Declares a write. */
export function action<Args extends ObjectSchema, State>(
  declared: InsideAction<Args, State> | OutsideAction<Args, State>,
): Action {
  // each write is given arguments and a state of its own alone, once its schema has checked them
  return declared as unknown as Action
}

/** How the writes to other platforms are done, for the worker of jobs. */
export function outsideWrites(actions: readonly Action[]): OutsideWrites {
  return new Map(actions.flatMap(({ name, outside }) => (outside ? [[name, outside] as const] : [])))
}

/** True when the write would change something: otherwise it is free, and writes nothing. */
export function changes({ before, after }: Diff): boolean {
  return JSON.stringify(before) !== JSON.stringify(after)
}
