import type { ObjectSchema } from "../schema.ts"

/** What language models are asked in. */
export const WIRE_NAMES = ["chat", "responses", "messages"] as const
export type WireName = (typeof WIRE_NAMES)[number]

/** A text that a model is to write. `Value` is what may be shown of it: JSON. */
export interface WritingTask<Value> {
  /** Of [a-z_]: what is written. */
  kind: string
  /** Names what it is made from; of a workspace's own data the workspace is part of it. */
  digest: string
  /** Of orders and schema. */
  version: number
  orders: string
  records: readonly object[]
  answer: ObjectSchema
  mostTokens: number
  /** The longest text of a record in code points; 1,000 when left out. */
  longest?: number
  /** Judges an answer of that shape: what may be shown, or what is to be mended. After `isLast` there is no other try. */
  judge(answer: unknown, isLast: boolean): { value: Value; dropped: readonly object[] } | { fixes: string[] }
}

export interface WrittenText<Value> {
  value: Value
  dropped: readonly object[]
  model: string
  version: number
  at: Date
}

/**
 * off: no writer, or it refuses the key or the model. spent: the day's tokens are. busy: the provider asks to wait. unusable:
 * no answer that may be shown.
 */
export type WritingFailure = "off" | "spent" | "busy" | "unusable"

export type WritingState<Value> =
  | ({ state: "done" } & WrittenText<Value>)
  | { state: "pending" }
  | { state: "failed"; why: WritingFailure; retryAfter?: number }

/** The one port for texts of a model. It holds no connection while it waits. */
export interface Write {
  /** Whether there is a writer. */
  isOn: boolean
  /** Tokens that one request may take, its answer among them; 0 = there is no writer. */
  room: number
  /** The stored text, or else it is written, once for all who ask; who waits no longer finds it later. */
  <Value>(task: WritingTask<Value>, waitMs: number): Promise<WritingState<Value>>
  /** What is stored or under way; a failure is told once. Null = neither. */
  find<Value>(task: Pick<WritingTask<Value>, "kind" | "digest">): Promise<WritingState<Value> | null>
  /** What takes several texts, one after another: all of them are written, also when nobody waits any more. */
  inSteps<Value>(steps: (write: Write) => Promise<Value>, waitMs: number): Promise<Value | { state: "pending" }>
}

/** There is none, and nothing is stored. */
export const NO_WRITER: Write = Object.assign(async () => ({ state: "failed", why: "off" }) as const, {
  isOn: false,
  room: 0,
  find: async () => null,
  inSteps: async <Value>(steps: (write: Write) => Promise<Value>) => await steps(NO_WRITER),
})
