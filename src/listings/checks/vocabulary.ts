import type { WordLists } from "../../lib/words/entry.ts"
import { WORD_LISTS } from "../../lib/words/lists.ts"
import { type Phrases, phrasesOf } from "./phrases.ts"
import { wordKeys } from "./word-keys.ts"

/** A language's word lists, prepared for lookup by `term`. */
export interface Vocabulary {
  lists: WordLists
  stop: ReadonlySet<string>
  filler: Phrases
  /** The language's words for "free" and the English ones, which are understood everywhere. */
  free: Phrases
  deal: Phrases
}

const made = new Map<string, Vocabulary>()

/** Returns the vocabulary of a language. Throws when there are no lists for it. */
export function vocabularyOf(language: string): Vocabulary {
  const cached = made.get(language)
  if (cached) return cached
  const lists = WORD_LISTS[language]
  if (!lists) throw new Error(`no word lists for ${language}`)
  const vocabulary: Vocabulary = {
    lists,
    stop: new Set(lists.stop.split(" ").map((word) => wordKeys(word, language).term)),
    filler: phrasesOf(lists.filler),
    free: phrasesOf(`${lists.free} ${(WORD_LISTS.en as WordLists).free}`),
    deal: phrasesOf(lists.deal),
  }
  made.set(language, vocabulary)
  return vocabulary
}
