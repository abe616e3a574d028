import type { Assistant } from "../upstreams.ts"

/** Price in dollars of a million input tokens, a million output tokens, and a thousand searches. */
export interface EnginePrice {
  input: number
  output: number
  searches: number
}

/** An assistant that this instance can ask. */
interface Engine {
  assistant: Assistant
  model: string
  /** Null if no price is configured. No cost is calculated then. */
  price: EnginePrice | null
}

/** How this instance checks assistants. */
export interface AssistantChecks {
  /** Empty if no assistant is configured. */
  engines: readonly Engine[]
  /** Number of answers requested per keyword and assistant. */
  runs: number
  /** Maximum number of answers per check. */
  mostAnswers: number
  /** Milliseconds between the runs of a keyword. */
  spreadMs: number
}

export const NO_ASSISTANTS: AssistantChecks = { engines: [], runs: 3, mostAnswers: 300, spreadMs: 60_000 }
