import * as v from "valibot"
import type { Takings } from "../access/allowances.ts"
import type { Caller } from "../access/caller.ts"
import type { ChargeResult } from "../access/credits.ts"
import type { Plan } from "../access/plans.ts"
import type { Scope } from "../access/scopes.ts"
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
 * What a call does to the world; tools derive their hints from it. A preview changes nothing, but leads to a write. What the
 * service notes of a call for itself is no effect: its charge, or the tasks it gave, which no answer reads.
 */
export type Effect = "reads" | "measures" | "spends" | "previews" | "writes"

/** Tools by what they are about; /mcp?tools=… narrows the list to some of them. */
export const TOOLSETS = [
  "account", "apps", "keywords", "rivals", "reviews", "page", "charts", "revenue", "ads", "ai", "hive", "writes",
] as const // biome-ignore format: a list to scan
export type Toolset = (typeof TOOLSETS)[number]

/** What a handler takes and gives back of the workspace's allowances. */
export type AllowanceAccess = Omit<Takings, "keep" | "giveBack" | "ended">

/** What a handler may use besides its checked input. */
export interface Context extends AllowanceAccess {
  /** Each statement and each transaction takes a database slot; nothing else may be awaited within a transaction. */
  sql: Sql
  now: () => Date
  caller: Caller
  requestId: string
  /** True once the caller was told that the call took too long: what is not committed by then must not be. */
  givenUp(): boolean
  /** The workspace's apps that this key may see, oldest first. */
  visibleApps(): Promise<TrackedApp[]>
  /** Hive calls of the workspace today (UTC); null while the store that counts them does not answer. */
  hiveUsedToday(): Promise<number | null>
  /** Reads a store now, or joins who does. */
  measure: (wanted: LiveSubject, patience: Patience) => Promise<LiveReadState>
  /** Has a text written by a model, or finds it stored. */
  write: Write
  /** Reads the words in pictures, or finds them kept. */
  pictures: ReadPictures
  /** Who can be asked for apps, and how a check is made here. */
  assistants: AssistantChecks
  /** Ways to the workspace's accounts on other platforms. */
  platforms: Platforms
  /** Where this instance is reached, without a trailing slash. */
  publicUrl: string
  /** A person was asked at their client before the call, and agreed: so the client says. */
  agreed: boolean
}

/** Credits of an answer: a fixed number, or a function between two bounds. */
type Price<Input, Answer> =
  | number
  | {
      min: number
      atMost: number
      /** Left out where the handler charges itself (Settled). */
      of?: (input: Input, answer: Answer) => number
      note: string
    }

/** The right a call needs where it lies in its body or token instead of its declaration. */
type Terms<Input> = (input: Input, ctx: Context) => Promise<{ scope: Scope | null; plan: Plan }>

interface Declaration<Entries extends v.ObjectEntries, Output extends Schema> {
  id: string
  method: "GET" | "POST"
  /** Below /v1, with :name for each path parameter. */
  path: string
  group: "Account" | "Your apps" | "Revenue and ads" | "Hive" | "Writes"
  toolset: Toolset
  summary: string
  description?: string
  /** In place of the description where the schemas stand beside it and say the rest. */
  brief?: string
  effect: Effect
  scope: Scope | null
  plan?: Plan
  /** Hive calls: open with a credit pack or Explorer ("pack"), or with Explorer only. */
  hive?: "pack" | "explorer"
  terms?: Terms<v.InferOutput<v.StrictObjectSchema<Entries, undefined>>>
  price: Price<v.InferOutput<v.StrictObjectSchema<Entries, undefined>>, v.InferOutput<Output>>
  /** Codes beyond those any call can raise and those of its parameters. */
  faults: FaultCode[]
  /** The code of an id in the path that names nothing, where it is none of the usual two (missingCode). */
  missing?: FaultCode
  /** An input outside the path that names a record: in the sandbox only the sample's exists. */
  names?: string
  input: v.StrictObjectSchema<Entries, undefined>
  /** The input that names an app of either store: its store decides which storefronts there are, where no platform does. */
  appInput?: keyof Entries & string
  /** Checks what the schema alone cannot, and gives the input as the handler gets it. Throws Faults; no look-ups. */
  refine?: (
    input: v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
  ) => v.InferOutput<v.StrictObjectSchema<Entries, undefined>>
  output: Output
  /** The list of its answers that is a table, by its name, or how rows are made of several; left out where there is none. */
  table?: Table<v.InferInput<Output>> | (keyof v.InferInput<Output> & string)
  /** What `fields` may leave out of an answer that can be large; the parameter follows from it. */
  narrow?: { rows: readonly (keyof v.InferOutput<Output> & string)[] } | "parts"
  /** It may answer 202, in the same shape, while work goes on. */
  pending?: true
  /** Where a tool's default differs from HTTP's; an input that stands in place of one that is sent has none. */
  toolDefaults?: Record<string, unknown>
  /**
   * A tool that ChatGPT's connectors ask for by its shape: the answer is exactly one text item, and an argument may have
   * another name there, which is given with the input's own.
   */
  connector?: { names: Readonly<Record<string, string>> }
  /** Inputs that stand in place of others, by their names: they cannot come beside them. */
  instead?: Readonly<Record<string, readonly string[]>>
  /** Set where the operation goes; of a single input its schema says it (deprecated). */
  deprecated?: Deprecation
  /** What a person is asked before it runs, where their client can ask them. */
  asks?: Question
  /** The longest a call may take; 4.5 s unless it waits for a live read. */
  deadlineMs?: number
}

/** A yes or no of a person, without which a tool does not run for a client that can ask them. */
export interface Question {
  /** Names the answer among those that a client sends along. */
  name: string
  /** Takes the same input and answers {message}: what the person reads. What it refuses, the call would. */
  operation: Operation
  /** What is said where they did not agree, or said nothing in time. */
  refusal(why: "declined" | "unanswered"): Fault
}

/** Input plus, for calls about one app, the app and the storefront asked for or else the app's first. */
type Arguments<Entries extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<Entries, undefined>> &
  (Entries extends { appId: typeof AppId } ? { app: TrackedApp; storefront: string } : unknown)

type Handler<Entries extends v.ObjectEntries, Output extends Schema> = (
  input: Arguments<Entries>,
  ctx: Context,
) => Promise<v.InferInput<Output> | EmptyAnswer | PendingAnswer | PaidAnswer>

/** A declared operation as surfaces and invoke see it. */
export interface Operation
  extends Omit<Declaration<v.ObjectEntries, Schema>, "input" | "refine" | "price" | "terms" | "table" | "narrow"> {
  input: ObjectSchema
  refine?: (input: Record<string, unknown>) => Record<string, unknown>
  price: Price<Record<string, unknown>, unknown>
  table?: Table<unknown>
  narrow?: Narrow
  terms?: Terms<Record<string, unknown>>
  /** The name of the input that is a workspace's app, if one is. */
  subject: string | undefined
  /** Inputs that go, by their names. */
  deprecatedInputs: ReadonlyMap<string, Deprecation>
  run: (input: Record<string, unknown>, ctx: Context) => Promise<unknown>
}

/**
 * An operation with what catalog.ts checks as literal types: its id, method, path, toolset, plan and credits. `types`
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

/** The plan an operation needs, or for Hive operations "pack" or "explorer". */
type Access<Needed, Market> = [Market] extends [never] ? Needed : Market

/** Declares an operation; `.run` gives its handler. */
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
 * A line of catalog.ts. The compiler refuses a method, path, price, plan or toolset that differs from the declaration.
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

/** The schema of all that an operation answers, to calls that ask for some of it too. */
export function answerSchema({ output, narrow }: Pick<Operation, "output" | "narrow">): Schema {
  return narrow ? narrowedSchema(output, narrow) : output
}

function deprecatedIn(entries: v.ObjectEntries): Map<string, Deprecation> {
  const found = Object.entries(entries).map(([name, entry]) => [name, deprecationOf(entry as Schema)] as const)
  return new Map(found.flatMap(([name, deprecation]) => (deprecation ? [[name, deprecation] as const] : [])))
}

/** What of a call goes: its operation, else the first input that it sends; undefined where nothing does. */
export function deprecationIn({ deprecated, deprecatedInputs }: Operation, sent: object): Deprecation | undefined {
  if (deprecated || deprecatedInputs.size === 0) return deprecated
  return [...deprecatedInputs].find(([name]) => Object.hasOwn(sent, name))?.[1]
}

/** The input of a call about one of the workspace's apps. */
export function ofApp<Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject({ appId: AppId, ...entries })
}

/** Nothing is measured yet: data answers 200, a fault its 404, both at the price of an empty answer. */
export class EmptyAnswer {
  readonly answer: unknown
  constructor(answer: unknown) {
    this.answer = answer
  }
}
export const nothing = (answer: object | Fault) => new EmptyAnswer(answer)

/** Work goes on: 202 with eta in seconds where one is known. */
export class PendingAnswer {
  readonly answer: Record<string, unknown>
  constructor(answer: Record<string, unknown>) {
    this.answer = answer
  }
}
export const pending = (hint: { eta?: number }, data: object = {}) => new PendingAnswer({ ...data, ...hint })

/** Charged already, inside the handler's own transaction; `paid` is null when it cost nothing. */
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

/** The input of a tool's call: what is given, and the tool's own defaults beside it. */
export function toolInput(operation: Operation, given: Record<string, unknown>) {
  const { toolDefaults = {}, instead = {}, connector } = operation
  const input = { ...given }
  for (const [name, own] of Object.entries(connector?.names ?? {})) {
    if (!Object.hasOwn(input, name) || Object.hasOwn(input, own)) continue
    input[own] = input[name]
    delete input[name]
  }
  const defaults = Object.entries(toolDefaults).filter(([name]) => !instead[name]?.some((other) => other in input))
  return { ...Object.fromEntries(defaults), ...input }
}

/** An outcome as the call asked for it: its answer with some fields alone. */
export function narrowed(
  { narrow, output }: Operation,
  { fields }: Record<string, unknown>,
  outcome: unknown,
): unknown {
  if (!narrow || fields === undefined) return outcome
  const asked = (answer: unknown) => narrowedTo(fields as string[], narrow, output, answer)
  if (outcome instanceof PendingAnswer) return new PendingAnswer(asked(outcome.answer) as Record<string, unknown>)
  if (!(outcome instanceof EmptyAnswer)) return asked(outcome)
  return outcome.answer instanceof Error ? outcome : new EmptyAnswer(asked(outcome.answer))
}

/** Whether an answer rests on stored data alone: whoever holds it is told so, 304, and pays nothing. */
export function isConditional({ method, effect }: Pick<Operation, "method" | "effect">): boolean {
  return method === "GET" && effect === "reads"
}

/** The names of a path's parameters: "/apps/:appId/keywords" → ["appId"]. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string)
}

/** The code of an id that names nothing. What is not of the workspace is unknown as long as nobody has read it. */
export function missingCode({ missing, hive }: Pick<Operation, "missing" | "hive">): FaultCode {
  return missing ?? (hive ? "not_measured" : "not_found")
}

/** The least and the most a call can cost. */
export function priceRange(price: Operation["price"]): { min: number; atMost: number } {
  return typeof price === "number" ? { min: price, atMost: price } : price
}

/** What a call costs: "1 credit", "5 to 50 credits (5 a row)", or the word for nothing. */
export function creditsText(price: Operation["price"], nothing: string): string {
  const { min, atMost } = priceRange(price)
  if (atMost === 0) return nothing
  const amount = min === atMost ? `${min}` : `${min} to ${atMost}`
  return `${amount} ${atMost === 1 ? "credit" : "credits"}${typeof price === "number" ? "" : ` (${price.note})`}`
}

function isAppId(schema: Schema): boolean {
  return unwrap(schema) === AppId
}
