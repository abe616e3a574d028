import { foldReviewText } from "../../reviews/formulas/review-text.ts"
import { sentencesOf } from "../sentences.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** At most 10% of the sentences with four or more words may stay unchanged, such as a motto or a line of names. */
const MAX_SHARE = 0.1
const MIN_WORDS = 4

/** Fails if sentences were left in the language of the original. */
export const untranslated: TextRule = (text, { translated, sameLanguage = false }): TextProblem[] => {
  if (translated === undefined || sameLanguage) return []
  const before = sentencesOf(translated).filter((one) => one.split(/\s+/).length >= MIN_WORDS)
  const after = foldReviewText(text)
  const left = before.filter((sentence) => after.includes(foldReviewText(sentence)))
  const [first] = left
  if (first === undefined || left.length <= before.length * MAX_SHARE) return []
  return [{ rule: "untranslated", what: first.slice(0, 120) }]
}
