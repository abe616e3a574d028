import type { EnginePrice } from "../lib/writing/assistant-checks.ts"

/** What answers took, on average or in sum. */
export interface AnswerUsage {
  inputTokens: number
  outputTokens: number
  searches: number
}

/** Of an answer before any was measured: what a search brings is read as input, and is most of it. */
export const ASSUMED_USAGE: AnswerUsage = { inputTokens: 12_000, outputTokens: 800, searches: 1 }

/** In US cents. */
export function centsOf({ inputTokens, outputTokens, searches }: AnswerUsage, price: EnginePrice): number {
  return (inputTokens * price.input + outputTokens * price.output) / 10_000 + (searches * price.searches) / 10
}
