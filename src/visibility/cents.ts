import type { EnginePrice } from "../lib/writing/assistant-checks.ts"

/** Tokens and searches that answers used, as a sum or an average. */
export interface AnswerUsage {
  inputTokens: number
  outputTokens: number
  searches: number
}

/** Usage assumed for an answer before any was measured. Search results count as input tokens, and are most of them. */
export const ASSUMED_USAGE: AnswerUsage = { inputTokens: 12_000, outputTokens: 800, searches: 1 }

/** Returns the cost in US cents. */
export function centsOf({ inputTokens, outputTokens, searches }: AnswerUsage, price: EnginePrice): number {
  return (inputTokens * price.input + outputTokens * price.output) / 10_000 + (searches * price.searches) / 10
}
