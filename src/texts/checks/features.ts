import { wordsOf } from "../../listings/checks/field-text.ts"
import { vocabularyOf } from "../../listings/checks/vocabulary.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** At most half of the text's words may be missing from the sources, so that a text may rephrase but not add topics. */
const MAX_NEW = 1 / 2
const MIN_WORDS = 3
/** Words that share their first 5 characters count as forms of one word. */
const STEM = 5

/** Fails if most words of the text are in no source. */
export const features: TextRule = (text, { sources, terms = [], language }): TextProblem[] => {
  const stems = stemsOf(text, language)
  const sourceStems = new Set([...sources, ...terms].flatMap((source) => [...stemsOf(source, language).keys()]))
  const added = [...stems].flatMap(([stem, word]) => (sourceStems.has(stem) ? [] : [word]))
  if (stems.size < MIN_WORDS || added.length <= stems.size * MAX_NEW) return []
  return [{ rule: "features", what: added.slice(0, 5).join(", ") }]
}

/** Returns the words without stop words, each once, by their stem. */
function stemsOf(text: string, language: string): Map<string, string> {
  const { stop } = vocabularyOf(language)
  const words = wordsOf(text, language).filter(
    ({ term, text: word }) => !stop.has(term) && /\p{L}{2}|\p{Script=Han}/u.test(word),
  )
  return new Map(words.map(({ term, text: word }) => [[...term].slice(0, STEM).join(""), word]))
}
