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

/** Faults of writes that use the seller's App Store Connect account. */
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
 * The context of `look` in a confirm. `look` locks the rows that it reads until the transaction ends, so that nobody
 * changes them before the write.
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
  /** Describes the write in one sentence. */
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
  /** Faults in addition to those of every write. */
  faults?: readonly FaultCode[]
  /** Sample arguments, shown in the reference. */
  example: v.InferInput<Args>
  /** Checks that the schema cannot express. Throws Faults. */
  refine?: (args: v.InferOutput<Args>) => v.InferOutput<Args>
  /**
   * Fixes the arguments at preview: open values such as "all so far" become explicit, so that the confirm does not
   * include later data. Runs outside a transaction and may read a store. Throws Faults.
   */
  settle?(args: v.InferOutput<Args>, looking: LookContext, measure: Measure): Promise<v.InferOutput<Args>>
  /** For arguments that must not be stored as sent, such as secrets. */
  secrets?: {
    /**
     * Returns the form that is stored until the confirm and then passed to `look`, `diff` and `write`. It must give the
     * same diff.
     */
    toStored(args: v.InferOutput<Args>): Promise<v.InferOutput<Args>>
    /** Returns the part that the audit log may store forever. */
    audited(args: v.InferOutput<Args>): v.InferOutput<Args>
  }
  /** Names the object that the write changes. A workspace can have one unfinished write per target. */
  target(args: v.InferOutput<Args>): string
  /**
   * Reads the stored state of the target: at preview, and again inside the transaction of the confirm. Throws Faults.
   */
  look(args: v.InferOutput<Args>, looking: LookContext): Promise<State>
  /**
   * Returns what the write would do; `seen` is the state of an outside target. Pure. Equal `before` and `after` mean
   * that the write changes nothing. Throws write_limit_reached.
   */
  diff(state: State, args: v.InferOutput<Args>, seen?: unknown): Diff
}

/** An applied write as the audit log has it, for `undo`. */
export interface MadeWrite {
  args: Record<string, unknown>
  before: Record<string, unknown>
  after: Record<string, unknown>
  /** Time of the write, to the microsecond. */
  at: string
}

interface Undo {
  /** True if an undo requires that the target is still as the write left it, so that no later change is lost. */
  needsSameState: boolean
  /** Restores the state before the write. Awaits only the transaction. */
  restore(made: MadeWrite, writing: WriteContext): Promise<void>
}

interface InsideAction<Args extends ObjectSchema, State> extends ActionBase<Args, State> {
  /** Applies the write and returns its result. Awaits only the transaction. */
  write(args: v.InferOutput<Args>, state: State, writing: WriteContext): Promise<Record<string, unknown>>
  /** Returns result fields that are shown only to the caller and only once, such as a secret link. */
  shownOnce?: readonly string[]
  /** Left out if the write cannot be undone. */
  undo?: Undo
  outside?: never
}

interface OutsideAction<Args extends ObjectSchema, State> extends ActionBase<Args, State> {
  /**
   * How the write to another platform is made: by one job after the confirm. `read` runs at preview, at confirm and in
   * the job.
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

/** The facts that writes.ts repeats, so that the compiler can compare them. */
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

/**
 * Returns the declaration of a write. The compiler refuses a name, price, plan or scope that differs from the
 * declaration.
 */
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
