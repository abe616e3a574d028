import * as v from "valibot"
import type { Takings } from "../access/allowances.ts"
import type { Caller } from "../access/caller.ts"
import type { ChargeResult } from "../access/credits.ts"
import type { Plan } from "../access/plans.ts"
import type { Right } from "../access/scopes.ts"
import type { Sql } from "../database/types.ts"
import type { Platforms } from "../lib/accounts/platform.ts"
import type { Fault, FaultCode } from "../lib/faults.ts"
import { AppId } from "../lib/fields.ts"
import { listTable, type Table } from "../lib/list-table.ts"
import type { LiveReadState, LiveSubject, Patience } from "../lib/live-read.ts"
import { fieldsInput, type Narrow, narrowedSchema, narrowedTo } from "../lib/narrow.ts"
import { type Deprecation, deprecationOf, type ObjectSchema, type Schema, unwrap } from "../lib/schema.ts"
import type { AssistantChecks } from "../lib/writing/assistant-checks.ts"
import type { ReadPictures } from "../lib/writing/picture-text.ts"
import type { Write } from "../lib/writing/written-text.ts"
import type { TrackedApp } from "./tracked-app.ts"

/**
 * The effect of a call; tools derive their hints from it. A preview changes nothing but leads to a write. Internal
 * records of the call, such as its charge or its tasks, are no effect, because no answer contains them.
 */
export type Effect = "reads" | "measures" | "spends" | "previews" | "writes"

/** Groups of tools by subject; /mcp?tools=… limits the list to some of them. */
export const TOOLSETS = [
  "account",
  "apps",
  "keywords",
  "rivals",
  "reviews",
  "page",
  "charts",
  "revenue",
  "ads",
  "ai",
  "hive",
  "writes",
] as const
export type Toolset = (typeof TOOLSETS)[number]

/** How a handler takes from the workspace's allowances and returns units to them. */
export type AllowanceAccess = Omit<Takings, "keep" | "giveBack" | "ended">

/** The values that a handler gets with its checked input. */
export interface Context extends AllowanceAccess {
  /** Each statement and each transaction takes a database slot. Await nothing else within a transaction. */
  sql: Sql
  now: () => Date
  caller: Caller
  requestId: string
  /** Returns true once the caller got a timeout: nothing may be committed after that. */
  givenUp(): boolean
  /** Returns the workspace's apps that this key may see, oldest first. */
  visibleApps(): Promise<TrackedApp[]>
  /** Returns the workspace's Hive calls today (UTC). Null while the store that counts them is unavailable. */
  hiveUsedToday(): Promise<number | null>
  /** Reads a store now, or joins a read in progress. */
  measure: (wanted: LiveSubject, patience: Patience) => Promise<LiveReadState>
  /** Returns a text written by a model, from the cache if stored. */
  write: Write
  /** Returns the words in pictures, from the cache if stored. */
  pictures: ReadPictures
  /** The available assistants, and how to run a check. */
  assistants: AssistantChecks
  /** Access to the workspace's accounts on other platforms. */
  platforms: Platforms
  /** The public address of this instance, without a trailing slash. */
  publicUrl: string
  /** True if the client reports that a person has agreed to the call. */
  agreed: boolean
}

/** Credits of an answer: a fixed number, or a function with bounds. */
type Price<Input, Answer> =
  | number
  | {
      min: number
      atMost: number
      /** Returns the price of the answer. Left out if the handler charges the call itself (PaidAnswer). */
      of?: (input: Input, answer: Answer) => number
      note: string
    }

/** Returns the scope and plan that a call needs, for operations where the body or a token decides this. */
type Terms<Input> = (input: Input, ctx: Context) => Promise<{ scope: Right | null; plan: Plan }>

interface Declaration<Entries extends v.ObjectEntries, Output extends Schema> {
  id: string
  method: "GET" | "POST"
  /** Path below /v1, with :name for each path parameter. */
  path: string
  group: "Account" | "Your apps" | "Revenue and ads" | "Hive" | "Writes"
  toolset: Toolset
  summary: string
  description?: string
  /** Replaces the description where the schemas are shown next to it. */
  brief?: string
  effect: Effect
  scope: Right | null
  /** Returns whether a page asks for the passphrase again if it was last typed more than ten minutes ago. */
  asksProof?: (input: Record<string, unknown>) => boolean
  plan?: Plan
  /** For Hive calls: "pack" needs a credit pack or Explorer, "explorer" needs Explorer. */
  hive?: "pack" | "explorer"
  terms?: Terms<v.InferOutput<v.StrictObjectSchema<Entries, undefined>>>
  price: Price<v.InferOutput<v.StrictObjectSchema<Entries, undefined>>, v.InferOutput<Output>>
  /** Fault codes in addition to those of every call and those of its parameters. */
  faults: FaultCode[]
  /** The fault code for an unknown id in the path. Default: see missingCode. */
  missing?: FaultCode
  /** An input outside the path that names a record. In the sandbox only the sample's record exists. */
  names?: string
  input: v.StrictObjectSchema<Entries, undefined>
  /**
   * The input that names an app of either store. Without a `platform`, the app's store decides which storefronts exist.
   */
  appInput?: keyof Entries & string
  /** Checks what the schema cannot express and returns the input for the handler. Throws Faults. Reads no data. */
  refine?: (
    input: v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
  ) => v.InferOutput<v.StrictObjectSchema<Entries, undefined>>
  output: Output
  /**
   * The answer as a table: the name of its list, or a function that makes rows. Left out if the answer has no table.
   */
  table?: Table<v.InferInput<Output>> | (keyof v.InferInput<Output> & string)
  /** The parts of a large answer that `fields` may leave out. The parameter `fields` follows from it. */
  narrow?: { rows: readonly (keyof v.InferOutput<Output> & string)[] } | "parts"
  /** True if the operation may answer 202, in the same shape, while work continues. */
  pending?: true
  /**
   * Defaults of the tool that differ from those of HTTP. An input gets no default if the call sends another input that
   * the first one replaces.
   */
  toolDefaults?: Record<string, unknown>
  /**
   * For a tool whose shape ChatGPT's connectors define: the answer is exactly one text item, and `names` maps argument
   * names to input names.
   */
  connector?: { names: Readonly<Record<string, string>> }
  /** Inputs that replace other inputs, by name. A call cannot send both an input and the input that it replaces. */
  instead?: Readonly<Record<string, readonly string[]>>
  /** Set if the whole operation is deprecated. The schema of a deprecated input has its own deprecation. */
  deprecated?: Deprecation
  /** The question a person answers before the call runs, if their client can ask. */
  asks?: Question
  /** Deadline of a call. Default: 4.5 s, unless it waits for a live read. */
  deadlineMs?: number
}

/** A yes-or-no question. Without a yes, the tool does not run for a client that can ask. */
export interface Question {
  /** The name of this answer among the answers that a client sends. */
  name: string
  /** Takes the same input and returns {message}, the text for the person. Refuses whatever the call would refuse. */
  operation: Operation
  /** Returns the fault for a person who declined or did not answer in time. */
  refusal(why: "declined" | "unanswered"): Fault
}

/** The input of the handler. For calls about an app, also the app and the storefront (default: the app's first). */
type Arguments<Entries extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<Entries, undefined>> &
  (Entries extends { appId: typeof AppId } ? { app: TrackedApp; storefront: string } : unknown)

type Handler<Entries extends v.ObjectEntries, Output extends Schema> = (
  input: Arguments<Entries>,
  ctx: Context,
) => Promise<v.InferInput<Output> | EmptyAnswer | PendingAnswer | PaidAnswer>

/** A declared operation, as surfaces and invoke see it. */
export interface Operation
  extends Omit<Declaration<v.ObjectEntries, Schema>, "input" | "refine" | "price" | "terms" | "table" | "narrow"> {
  input: ObjectSchema
  refine?: (input: Record<string, unknown>) => Record<string, unknown>
  price: Price<Record<string, unknown>, unknown>
  table?: Table<unknown>
  narrow?: Narrow
  terms?: Terms<Record<string, unknown>>
  /** The name of the input that is a workspace's app. Undefined if there is none. */
  subject: string | undefined
  /** The deprecated inputs by name. */
  deprecatedInputs: ReadonlyMap<string, Deprecation>
  run: (input: Record<string, unknown>, ctx: Context) => Promise<unknown>
}

/**
 * An operation with its id, method, path, toolset, plan and credits as literal types, which catalog.ts checks. `types`
 * exists only for the compiler.
 */
interface TypedOperation<Id, Method, Path, Tools, Access, Credits, Input, Answer> extends Operation {
  id: Id & string
  method: Method & Operation["method"]
  path: Path & string
  toolset: Tools & Toolset
  readonly types?: { input: Input; answer: Answer; access: Access; credits: Credits }
}

/** A fixed price as a number, a range as "min-max". */
type Credits<Min extends number, Max extends number> = [Max] extends [Min] ? Min : `${Min}-${Max}`

/** The plan that an operation needs; for Hive operations "pack" or "explorer". */
type Access<Needed, Market> = [Market] extends [never] ? Needed : Market

/** Declares an operation; `.run` adds its handler. */
export function operation<
  const Id extends string,
  const Method extends "GET" | "POST",
  const Path extends string,
  const Tools extends Toolset,
  const Min extends number,
  Entries extends v.ObjectEntries,
  Output extends Schema,
  const Max extends number = Min,
  const Needed extends Plan = "free",
  const Market extends "pack" | "explorer" = never,
>(
  declared: Declaration<Entries, Output> & {
    id: Id
    method: Method
    path: Path
    toolset: Tools
    plan?: Needed
    hive?: Market
    price: Min | { min: Min; atMost: Max }
  },
) {
  type Input = v.InferInput<v.StrictObjectSchema<Entries, undefined>>
  type Answer = v.InferOutput<Output>
  type Typed = TypedOperation<Id, Method, Path, Tools, Access<Needed, Market>, Credits<Min, Max>, Input, Answer>
  return {
    run(handler: Handler<Entries, Output>): Typed {
      const subject = Object.keys(declared.input.entries).find((name) =>
        isAppId(declared.input.entries[name] as Schema),
      )
      const deprecatedInputs = deprecatedIn(declared.input.entries)
      const input = inputOf(declared)
      const table = typeof declared.table === "string" ? listTable(declared.output, declared.table) : declared.table
      const made = { ...declared, input, table, subject, deprecatedInputs, run: handler }
      // `types` has no value: it exists only for the compiler
      return made as unknown as Typed
    },
  }
}

type AnyTyped = TypedOperation<unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown>

/**
 * Returns the declaration of an operation. The compiler refuses a method, path, price, plan or toolset that differs
 * from the declaration.
 */
export function entry<const Declared extends AnyTyped>(
  _method: Declared["method"],
  _path: Declared["path"],
  declared: Declared,
  _credits: NonNullable<Declared["types"]>["credits"],
  _access: NonNullable<Declared["types"]>["access"],
  _toolset: Declared["toolset"],
): Declared {
  return declared
}

function inputOf({ input, output, narrow }: Pick<Operation, "input" | "output" | "narrow">): ObjectSchema {
  return narrow ? v.strictObject({ ...input.entries, fields: fieldsInput(output, narrow) }) : input
}

/** Returns the schema of every possible answer, including answers narrowed by `fields`. */
export function answerSchema({ output, narrow }: Pick<Operation, "output" | "narrow">): Schema {
  return narrow ? narrowedSchema(output, narrow) : output
}

function deprecatedIn(entries: v.ObjectEntries): Map<string, Deprecation> {
  const found = Object.entries(entries).map(([name, entry]) => [name, deprecationOf(entry as Schema)] as const)
  return new Map(found.flatMap(([name, deprecation]) => (deprecation ? [[name, deprecation] as const] : [])))
}

/**
 * Returns the deprecation of the operation, or else that of the first deprecated input of the call. Undefined if there
 * is none.
 */
export function deprecationIn({ deprecated, deprecatedInputs }: Operation, sent: object): Deprecation | undefined {
  if (deprecated || deprecatedInputs.size === 0) return deprecated
  return [...deprecatedInputs].find(([name]) => Object.hasOwn(sent, name))?.[1]
}

/** Returns the input schema of a call about one of the workspace's apps. */
export function ofApp<Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject({ appId: AppId, ...entries })
}

/**
 * An answer when nothing is measured yet. With data the status is 200, with a fault its 404; both have the price of an
 * empty answer.
 */
export class EmptyAnswer {
  readonly answer: unknown
  constructor(answer: unknown) {
    this.answer = answer
  }
}
export const nothing = (answer: object | Fault) => new EmptyAnswer(answer)

/** An answer while work continues. The status is 202; `eta` is in seconds, if known. */
export class PendingAnswer {
  readonly answer: Record<string, unknown>
  constructor(answer: Record<string, unknown>) {
    this.answer = answer
  }
}
export const pending = (hint: { eta?: number }, data: object = {}) => new PendingAnswer({ ...data, ...hint })

/** An answer that the handler has charged inside its own transaction. `paid` is null if it cost nothing. */
export class PaidAnswer {
  readonly answer: unknown
  readonly cost: number
  readonly paid: ChargeResult | null
  constructor(answer: unknown, cost: number, paid: ChargeResult | null) {
    this.answer = answer
    this.cost = cost
    this.paid = paid
  }
}

/** Returns the input of a tool call: the arguments plus the tool's own defaults. */
export function toolInput(operation: Operation, given: Record<string, unknown>) {
  const { toolDefaults = {}, instead = {}, connector } = operation
  const input = { ...given }
  for (const [name, parameter] of Object.entries(connector?.names ?? {})) {
    if (!Object.hasOwn(input, name) || Object.hasOwn(input, parameter)) continue
    input[parameter] = input[name]
    delete input[name]
  }
  const defaults = Object.entries(toolDefaults).filter(([name]) => !instead[name]?.some((other) => other in input))
  return { ...Object.fromEntries(defaults), ...input }
}

/** Returns a handler's outcome reduced to the requested fields. */
export function narrowed(
  { narrow, output }: Operation,
  { fields }: Record<string, unknown>,
  outcome: unknown,
): unknown {
  if (!narrow || fields === undefined) return outcome
  const narrowAnswer = (answer: unknown) => narrowedTo(fields as string[], narrow, output, answer)
  if (outcome instanceof PendingAnswer)
    return new PendingAnswer(narrowAnswer(outcome.answer) as Record<string, unknown>)
  if (!(outcome instanceof EmptyAnswer)) return narrowAnswer(outcome)
  return outcome.answer instanceof Error ? outcome : new EmptyAnswer(narrowAnswer(outcome.answer))
}

/** Returns true if the answer depends on stored data alone. A caller that already has it gets 304 and pays nothing. */
export function isConditional({ method, effect }: Pick<Operation, "method" | "effect">): boolean {
  return method === "GET" && effect === "reads"
}

/** Returns the names of a path's parameters: "/apps/:appId/keywords" → ["appId"]. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string)
}

/** Returns the fault code for an unknown id: not_measured for market data, which may still be read, else not_found. */
export function missingCode({ missing, hive }: Pick<Operation, "missing" | "hive">): FaultCode {
  return missing ?? (hive ? "not_measured" : "not_found")
}

/** Returns the minimum and maximum price of a call. */
export function priceRange(price: Operation["price"]): { min: number; atMost: number } {
  return typeof price === "number" ? { min: price, atMost: price } : price
}

/** Returns the price as text: "1 credit", "5 to 50 credits (5 a row)", or `nothing` if it is free. */
export function creditsText(price: Operation["price"], nothing: string): string {
  const { min, atMost } = priceRange(price)
  if (atMost === 0) return nothing
  const amount = min === atMost ? `${min}` : `${min} to ${atMost}`
  return `${amount} ${atMost === 1 ? "credit" : "credits"}${typeof price === "number" ? "" : ` (${price.note})`}`
}

function isAppId(schema: Schema): boolean {
  return unwrap(schema) === AppId
}
