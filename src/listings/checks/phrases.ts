import { type Entry, type FieldText, UNSPACED, type Word } from "./field-text.ts"
import type { Stretch } from "./finding.ts"
import { wordKeys } from "./word-keys.ts"

/** Phrases to look for: by their first word, the longest first; those of scripts without blanks as they are written. */
export interface Phrases {
  byFirst: ReadonlyMap<string, readonly string[][]>
  unspaced: readonly string[]
}

export interface FoundPhrase extends Stretch {
  entry: Entry | null
  /** As `Phrases` was given it: its words' terms, joined by blanks. */
  phrase: string
}

/** Phrases from a list apart by blanks, "_" joining the words of one. */
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

/** Where a field holds one of the phrases, none within another. A phrase never goes over a comma or the end of a sentence. */
export function findPhrases(field: FieldText, { byFirst, unspaced }: Phrases): FoundPhrase[] {
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

function follows({ text, words }: FieldText, place: number, terms: readonly string[]): boolean {
  return terms.every((term, step) => {
    const word = words[place + step]
    if (word?.term !== term) return false
    return step === 0 || BESIDE.test(text.slice((words[place + step - 1] as Word).end, word.at).slice(0, 3))
  })
}

const BESIDE = /^[\s'’\-‑·]{0,2}$/

function findUnspaced({ text, words, entries }: FieldText, phrases: readonly string[]): FoundPhrase[] {
  if (!words.some(({ segmented }) => segmented)) return []
  const taken: Stretch[] = []
  for (const phrase of phrases)
    for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + phrase.length))
      taken.push({ at, end: at + phrase.length })
  taken.sort((a, b) => a.at - b.at || b.end - a.end)
  const bounds = new Set(words.flatMap(({ at, end }) => [at, end]))
  let [free, entry] = [0, 0]
  return taken.flatMap(({ at, end }) => {
    // a phrase of Thai or kana within a longer word is another word
    if (at < free || !(HAN.test(text.slice(at, end)) || (bounds.has(at) && bounds.has(end)))) return []
    free = end
    while (entry < entries.length && (entries[entry] as Entry).to < at) entry++
    return [{ at, end, entry: entries[entry] ?? null, phrase: text.slice(at, end) }]
  })
}

const HAN = /^\p{Script=Han}+$/u
