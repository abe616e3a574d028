import { foldReviewText } from "../../reviews/formulas/review-text.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Fails if the text repeats eight consecutive words of the prompt's instructions. */
export const promptEcho: TextRule = (text, { orders = "" }): TextProblem[] => {
  const orderRuns = new Set(runsOf(orders))
  const repeated = runsOf(text).find((run) => orderRuns.has(run))
  return repeated === undefined ? [] : [{ rule: "told", what: repeated }]
}

const RUN = 8

function runsOf(text: string): string[] {
  const words = foldReviewText(text).match(/[\p{L}\p{N}]+/gu) ?? []
  return words.slice(0, Math.max(0, words.length - RUN + 1)).map((_, at) => words.slice(at, at + RUN).join(" "))
}
