import { foldReviewText } from "../../reviews/formulas/review-text.ts"
import { sentencesOf } from "../sentences.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Of the sentences of four words and more so many may stand as they stood: a motto, a line of names. */
const MOST_SHARE = 0.1
const LEAST_WORDS = 4

/** Sentences that were left in the language of the text that was translated. */
export const untranslated: TextRule = (text, { translated, sameLanguage = false }): TextProblem[] => {
  if (translated === undefined || sameLanguage) return []
  const before = sentencesOf(translated).filter((one) => one.split(/\s+/).length >= LEAST_WORDS)
  const after = foldReviewText(text)
  const left = before.filter((sentence) => after.includes(foldReviewText(sentence)))
  const [first] = left
  if (first === undefined || left.length <= before.length * MOST_SHARE) return []
  return [{ rule: "untranslated", what: first.slice(0, 120) }]
}
