import type { Assistant } from "../upstreams.ts"

/** What a million tokens cost, read and written, and a thousand searches, in dollars. */
export interface EnginePrice {
  input: number
  output: number
  searches: number
}

/** An assistant that this instance may ask. */
interface Engine {
  assistant: Assistant
  model: string
  /** Null = not named: then no cents are reckoned. */
  price: EnginePrice | null
}

/** What checks of assistants are made of here. */
export interface AssistantChecks {
  /** Empty = none can be asked. */
  engines: readonly Engine[]
  /** Answers to a keyword, of each assistant. */
  runs: number
  /** Answers of a check at most. */
  mostAnswers: number
  /** How far the runs of a keyword are apart. */
  spreadMs: number
}

export const NO_ASSISTANTS: AssistantChecks = { engines: [], runs: 3, mostAnswers: 300, spreadMs: 60_000 }
