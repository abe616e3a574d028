import { wordsOf } from "../../listings/checks/field-text.ts"
import { signsOf } from "../../listings/checks/languages.ts"
import { shareIn } from "../../listings/checks/scripts.ts"
import { vocabularyOf } from "../../listings/checks/vocabulary.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Fails if a text is in another language, judged by its script and by function words of other languages. */
export const language: TextRule = (text, { language: wanted }): TextProblem[] =>
  isOf(text, wanted) ? [] : [{ rule: "language", what: "" }]

/** Returns false only if the text is clearly in another language. A short text may pass in any language. */
function isOf(text: string, wanted: string): boolean {
  const { scripts } = vocabularyOf(wanted).lists
  const share = shareIn(text, scripts)
  if (share === null) return true
  if (share < MIN_SHARE) return false
  if (wanted === "ja") return !/\p{Script=Han}{12}/u.test(text) || /\p{Script=Hiragana}/u.test(text)
  const ownSigns = signsOf(wordsOf(text, wanted), wanted)
  return OTHERS.every((other) => {
    if (other === wanted || !vocabularyOf(other).lists.scripts.some((script) => scripts.includes(script))) return true
    const signs = signsOf(wordsOf(text, other), other)
    // a text with no function words of the requested language needs fewer function words of another language to fail
    return ownSigns === 0 ? signs < MIN_SIGNS_ALONE : signs < MIN_SIGNS || signs < 3 * ownSigns
  })
}

const MIN_SHARE = 1 / 3
const MIN_SIGNS = 3
const MIN_SIGNS_ALONE = 2
const OTHERS = ["en", "tr", "de", "es", "fr", "pt", "ru", "ja", "zh-Hans"]
