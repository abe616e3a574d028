import { type Entry, type FieldText, UNSPACED, type Word } from "./field-text.ts"
import type { Stretch } from "./finding.ts"
import { wordKeys } from "./word-keys.ts"

/** Phrases to search for, by their first word, longest first. Phrases in scripts without spaces are kept as written. */
export interface Phrases {
  byFirst: ReadonlyMap<string, readonly string[][]>
  unspaced: readonly string[]
}

/** The parts of a field in which phrases are found. */
type PhraseText = Pick<FieldText, "text" | "words" | "entries">

export interface FoundPhrase extends Stretch {
  entry: Entry | null
  /** The phrase as given to `Phrases`: the terms of its words, joined by spaces. */
  phrase: string
}

/** Parses a list of phrases separated by spaces, with "_" between the words of a phrase. */
export function phrasesOf(list: string): Phrases {
  return phrasesFrom(list.split(" ").map((phrase) => phrase.split("_")))
}

export function phrasesFrom(phrases: readonly (readonly string[])[]): Phrases {
  const spaced = phrases.filter((phrase) => phrase.length > 0 && !UNSPACED.test(phrase.join("")))
  const terms = spaced.map((phrase) => phrase.map((word) => wordKeys(word, "en").term))
  const byFirst = Map.groupBy(terms, ([first]) => first as string)
  for (const same of byFirst.values()) same.sort((a, b) => b.length - a.length)
  const unspaced = phrases.map((phrase) => phrase.join("")).filter((phrase) => UNSPACED.test(phrase))
  return { byFirst, unspaced: unspaced.toSorted((a, b) => b.length - a.length) }
}

/** Finds the phrases in a field, without overlaps. A phrase never crosses a comma or the end of a sentence. */
export function findPhrases(field: PhraseText, { byFirst, unspaced }: Phrases): FoundPhrase[] {
  const found: FoundPhrase[] = []
  for (let place = 0; place < field.words.length; place++) {
    const first = field.words[place] as Word
    const phrase = byFirst.get(first.term)?.find((terms) => follows(field, place, terms))
    if (!phrase) continue
    const last = field.words[place + phrase.length - 1] as Word
    found.push({ at: first.at, end: last.end, entry: first.entry, phrase: phrase.join(" ") })
    place += phrase.length - 1
  }
  return unspaced.length === 0 ? found : [...found, ...findUnspaced(field, unspaced)]
}

function follows({ text, words }: PhraseText, place: number, terms: readonly string[]): boolean {
  return terms.every((term, step) => {
    const word = words[place + step]
    if (word?.term !== term) return false
    return step === 0 || BESIDE.test(text.slice((words[place + step - 1] as Word).end, word.at).slice(0, 3))
  })
}

const BESIDE = /^[\s'’\-‑·]{0,2}$/

function findUnspaced({ text, words, entries }: PhraseText, phrases: readonly string[]): FoundPhrase[] {
  if (!words.some(({ segmented }) => segmented)) return []
  const taken: Stretch[] = []
  for (const phrase of phrases)
    for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + phrase.length))
      taken.push({ at, end: at + phrase.length })
  taken.sort((a, b) => a.at - b.at || b.end - a.end)
  const bounds = new Set(words.flatMap(({ at, end }) => [at, end]))
  let [free, entry] = [0, 0]
  return taken.flatMap(({ at, end }) => {
    // A Thai or kana phrase inside a longer word is a different word.
    if (at < free || !(HAN.test(text.slice(at, end)) || (bounds.has(at) && bounds.has(end)))) return []
    free = end
    while (entry < entries.length && (entries[entry] as Entry).to < at) entry++
    return [{ at, end, entry: entries[entry] ?? null, phrase: text.slice(at, end) }]
  })
}

const HAN = /^\p{Script=Han}+$/u
