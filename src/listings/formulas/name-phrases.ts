import { normaliseTerm } from "../../lib/term.ts"
import { wordsOf } from "../checks/field-text.ts"
import { vocabularyOf } from "../checks/vocabulary.ts"

/** Maximum number of words in a suggested keyword. */
export const MAX_WORDS = 3
/**
 * Minimum number of names in which a phrase must occur. A single word must occur in more names, because it is less
 * specific.
 */
const MIN_APPS = 2
const MIN_APPS_ONE_WORD = 3

/** Returns phrases of one to three words that occur in several app names, with the number of names. */
export function namePhrases(names: readonly string[], language: string): Map<string, number> {
  const carriers = new Map<string, number>()
  for (const name of new Set(names)) {
    for (const phrase of phrasesOf(name, language)) count(carriers, phrase)
  }
  return new Map([...carriers].filter(([phrase, apps]) => apps >= (isOneWord(phrase) ? MIN_APPS_ONE_WORD : MIN_APPS)))
}

function count(counted: Map<string, number>, phrase: string): void {
  counted.set(phrase, (counted.get(phrase) ?? 0) + 1)
}

const isOneWord = (phrase: string) => !phrase.includes(" ")

/** Returns the distinct phrases of a name. None begins or ends with a stop word or crosses a separator. */
export function phrasesOf(name: string, language: string): Set<string> {
  const { stop } = vocabularyOf(language)
  const found = new Set<string>()
  for (const part of name.split(/[:–—|,.•·/()[\]]| - /u)) {
    const words = wordsOf(part, language)
    words.forEach((first, at) => {
      for (let size = 1; size <= MAX_WORDS && at + size <= words.length; size++) {
        const last = words[at + size - 1]!
        if (stop.has(first.term) || stop.has(last.term)) continue
        // The phrase is sliced from the name, because scripts without spaces have none between words.
        const phrase = normaliseTerm(part.slice(first.at, last.end))
        if (phrase.length > 2 && !/^\d+$/.test(phrase)) found.add(phrase)
      }
    })
  }
  return found
}
