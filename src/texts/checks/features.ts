import { wordsOf } from "../../listings/checks/field-text.ts"
import { vocabularyOf } from "../../listings/checks/vocabulary.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Of the words that say something so many may be new: what a text adds in its own words is said in few. */
const MOST_NEW = 1 / 2
const LEAST_WORDS = 3
/** Words that begin alike are taken for forms of one. */
const STEM = 5

/** A text most of whose words no source has: it speaks of something else than they do. */
export const features: TextRule = (text, { sources, terms = [], language }): TextProblem[] => {
  const said = stemsOf(text, language)
  const known = new Set([...sources, ...terms].flatMap((source) => [...stemsOf(source, language).keys()]))
  const added = [...said].flatMap(([stem, word]) => (known.has(stem) ? [] : [word]))
  if (said.size < LEAST_WORDS || added.length <= said.size * MOST_NEW) return []
  return [{ rule: "features", what: added.slice(0, 5).join(", ") }]
}

/** Its words without those of which a language is made, each once, by their beginnings. */
function stemsOf(text: string, language: string): Map<string, string> {
  const { stop } = vocabularyOf(language)
  const words = wordsOf(text, language).filter(
    ({ term, text: word }) => !stop.has(term) && /\p{L}{2}|\p{Script=Han}/u.test(word),
  )
  return new Map(words.map(({ term, text: word }) => [[...term].slice(0, STEM).join(""), word]))
}
