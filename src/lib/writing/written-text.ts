import type { ObjectSchema } from "../schema.ts"

/** The protocols of language models. */
export const WIRE_NAMES = ["chat", "responses", "messages"] as const
export type WireName = (typeof WIRE_NAMES)[number]

/** A text that a model is to write. `Value` is the JSON form of the text that may be shown. */
export interface WritingTask<Value> {
  /** The kind of text, in [a-z_]. */
  kind: string
  /** Identifies the input. For a workspace's own data, the workspace is part of it. */
  digest: string
  /** Version of instructions and schema. */
  version: number
  orders: string
  records: readonly object[]
  answer: ObjectSchema
  mostTokens: number
  /** Maximum length of each text in `records`, in code points. Longer ones are cut. Default: 1,000. */
  longest?: number
  /**
   * Validates an answer: returns the value that may be shown, or the faults that the model must fix. After the attempt
   * with `isLast` there is no further one.
   */
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
 * off: there is no model, or it refuses the key or the model name. spent: the day's tokens are used up. busy: the
 * provider asks to wait. unusable: no answer may be shown.
 */
export type WritingFailure = "off" | "spent" | "busy" | "unusable"

export type WritingState<Value> =
  | ({ state: "done" } & WrittenText<Value>)
  | { state: "pending" }
  | { state: "failed"; why: WritingFailure; retryAfter?: number }

/** The only interface for texts of a model. It holds no connection while it waits. */
export interface Write {
  /** True if a model is configured. */
  isOn: boolean
  /** Maximum number of tokens per request, including its answer. 0 without a model. */
  contextTokens: number
  /**
   * Returns the stored text. If there is none, writes it, once for all callers. Returns pending if that takes longer
   * than `waitMs`; the text is stored when it is finished.
   */
  <Value>(task: WritingTask<Value>, waitMs: number): Promise<WritingState<Value>>
  /** Returns the state of a stored or pending text. Returns a failure only once. Null if there is none. */
  find<Value>(task: Pick<WritingTask<Value>, "kind" | "digest">): Promise<WritingState<Value> | null>
  /**
   * Runs steps, one after another, that need several texts. All of the texts are written even if the caller stops
   * waiting.
   */
  inSteps<Value>(steps: (write: Write) => Promise<Value>, waitMs: number): Promise<Value | { state: "pending" }>
}

/** No model is configured, and nothing is stored. */
export const NO_WRITER: Write = Object.assign(async () => ({ state: "failed", why: "off" }) as const, {
  isOn: false,
  contextTokens: 0,
  find: async () => null,
  inSteps: async <Value>(steps: (write: Write) => Promise<Value>) => await steps(NO_WRITER),
})
