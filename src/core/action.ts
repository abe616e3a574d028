import type * as v from "valibot"
import type { Caller } from "../access/caller.ts"
import type { Plan } from "../access/plans.ts"
import type { Scope } from "../access/scopes.ts"
import type { Db, Tx } from "../database/types.ts"
import type { OutsideWrite, OutsideWrites } from "../jobs/outside.ts"
import type { FaultCode } from "../lib/faults.ts"
import type { Measure } from "../lib/live-read.ts"
import type { ObjectSchema, Schema } from "../lib/schema.ts"

/** The kinds of object a write can change. */
export const TARGETS = [
  "app",
  "store_app",
  "alerts",
  "alert_rule",
  "review",
  "listing",
  "campaign",
  "ads_keyword",
  "negative_keyword",
] as const

/** Faults of writes that use the seller's console. */
export const CONSOLE_FAULTS = ["asc_required", "asc_role", "asc_rejected", "asc_unavailable", "ios_only"] as const

/**
 * The effect of a write, for a person to approve. `before` and `after` contain every part of the target that the write
 * touches.
 */
export interface Diff {
  /** One sentence. */
  summary: string
  target: { kind: (typeof TARGETS)[number]; id: string; name: string }
  before: Record<string, unknown>
  after: Record<string, unknown>
  /** Further sentences for the person who approves. */
  notes: string[]
}

interface LookBase {
  caller: Caller
  /** The current time. */
  now: Date
}

/** The context of `look` in a preview. */
interface PreviewLook extends LookBase {
  sql: Db
  lock: false
}

/**
 * The context of `look` in a confirm: it locks the rows it reads until the transaction ends, so that nobody changes
 * them before the write.
 */
interface ConfirmLook extends LookBase {
  sql: Tx
  lock: true
}

export type LookContext = PreviewLook | ConfirmLook

/** The context of `write`. */
interface WriteContext {
  tx: Tx
  caller: Caller
  /** The public address of this instance, without a trailing slash. */
  publicUrl: string
}

interface ActionBase<Args extends ObjectSchema, State> {
  name: string
  /** One sentence that says what the write does. */
  summary: string
  description?: string
  scope: Scope
  plan: Plan
  /** Credits charged for a confirm that changes something. */
  credits: number
  /** True if the write removes or publishes something. */
  destructive: boolean
  args: Args
  /** The schema of `before` and `after`. */
  state: Schema
  /** The schema of the result of `write`, or of the job for an outside write. */
  result: Schema
  /** Faults beyond those of every write. */
  faults?: readonly FaultCode[]
  /** Sample arguments for the reference. */
  example: v.InferInput<Args>
  /** Checks that the schema cannot express. Throws Faults. */
  refine?: (args: v.InferOutput<Args>) => v.InferOutput<Args>
  /**
   * Fixes the arguments at preview: open values such as "all so far" become explicit, so that later data is not
   * included. Runs outside a transaction and may read a store. Throws Faults.
   */
  settle?(args: v.InferOutput<Args>, looking: LookContext, measure: Measure): Promise<v.InferOutput<Args>>
  /** For arguments that must not be stored as sent. */
  secrets?: {
    /** The form stored until the confirm, and passed to `look`, `diff` and `write` then. It must give the same diff. */
    kept(args: v.InferOutput<Args>): Promise<v.InferOutput<Args>>
    /** The part that the audit log may store forever. */
    audited(args: v.InferOutput<Args>): v.InferOutput<Args>
  }
  /** Names what the write changes. A workspace can have one unfinished write per target. */
  target(args: v.InferOutput<Args>): string
  /**
   * Reads the stored state that the write touches: at preview, and again inside the transaction of the confirm. Throws
   * Faults.
   */
  look(args: v.InferOutput<Args>, looking: LookContext): Promise<State>
  /**
   * Returns what the write would do; `seen` is the state of an outside target. Pure. Equal `before` and `after` mean no
   * change. Throws write_limit_reached.
   */
  diff(state: State, args: v.InferOutput<Args>, seen?: unknown): Diff
}

/** A write as the audit has it, for `undo`. */
export interface MadeWrite {
  args: Record<string, unknown>
  before: Record<string, unknown>
  after: Record<string, unknown>
  /** When it was written, with microseconds. */
  at: string
}

interface Undo {
  /** True if the present state must still be the one after the write, so that no later change is lost. */
  needsSameState: boolean
  /** Restores the state before the write. Awaits nothing but the transaction. */
  restore(made: MadeWrite, writing: WriteContext): Promise<void>
}

interface InsideAction<Args extends ObjectSchema, State> extends ActionBase<Args, State> {
  /** Writes and returns the result. Awaits nothing but the transaction. */
  write(args: v.InferOutput<Args>, state: State, writing: WriteContext): Promise<Record<string, unknown>>
  /** Result fields shown only to the caller and only once, such as a secret link. */
  shownOnce?: readonly string[]
  /** Left out if the write cannot be undone. */
  undo?: Undo
  outside?: never
}

interface OutsideAction<Args extends ObjectSchema, State> extends ActionBase<Args, State> {
  /**
   * The write to another platform, run by one job after the confirm. Its `read` runs at preview, at confirm and in the
   * job.
   */
  outside: OutsideWrite
  /** Returns the connected account used for the write. */
  account?(state: State): string
  write?: never
  shownOnce?: never
  undo?: never
}

/** A write behind POST /actions. */
export type Action = InsideAction<ObjectSchema, unknown> | OutsideAction<ObjectSchema, unknown>

/** The facts that writes.ts lists. */
interface ActionFacts<Name extends string, Credits extends number, Access extends Plan, Right extends Scope> {
  name: Name
  credits: Credits
  plan: Access
  scope: Right
}

export function action<
  Args extends ObjectSchema,
  State,
  const Name extends string,
  const Credits extends number,
  const Access extends Plan,
  const Right extends Scope,
>(
  declared: (InsideAction<Args, State> | OutsideAction<Args, State>) & ActionFacts<Name, Credits, Access, Right>,
): Action & ActionFacts<Name, Credits, Access, Right> {
  // each write gets only its own arguments and state, after its schema has checked them
  return declared as unknown as Action & ActionFacts<Name, Credits, Access, Right>
}

/** A line of writes.ts. The compiler refuses a name, price, plan or scope that differs from the declaration. */
export function writeEntry<const Declared extends Action>(
  _name: Declared["name"],
  declared: Declared,
  _credits: Declared["credits"],
  _plan: Declared["plan"],
  _scope: Declared["scope"],
): Declared {
  return declared
}

/** Returns the outside writes by action name, for the job worker. */
export function outsideWrites(actions: readonly Action[]): OutsideWrites {
  return new Map(actions.flatMap(({ name, outside }) => (outside ? [[name, outside] as const] : [])))
}

/** Returns true if the write would change something. A write without changes is free and writes nothing. */
export function changes({ before, after }: Diff): boolean {
  return JSON.stringify(before) !== JSON.stringify(after)
}
