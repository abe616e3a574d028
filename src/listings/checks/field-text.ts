import { normalForm } from "../../lib/normal-form.ts"
import type { Field, Stretch } from "./finding.ts"
import { type WordKeys, wordKeys } from "./word-keys.ts"

export interface Word extends WordKeys, Stretch {
  text: string
  /** True for scripts without spaces between words, where a dictionary decides on the word boundaries. */
  segmented: boolean
  /** The keyword that contains the word. Null outside the keyword field. */
  entry: Entry | null
}

/** A keyword between two commas: `from` and `to` include the surrounding white space, `at` and `end` do not. */
export interface Entry extends Stretch {
  from: number
  to: number
  words: Word[]
}

/** A field's text in NFC with its words. All positions are UTF-16 units of that text. */
export interface FieldText {
  field: Field
  /** The name of the field in messages. */
  label: string
  /** The store's limits in code points. */
  limit: number
  minimum: number
  text: string
  /** Length in code points. */
  length: number
  words: Word[]
  /** The keywords. Empty for other fields. */
  entries: Entry[]
  /** Returns the number of code points before a position. */
  offsetOf(at: number): number
}

/** A store's name and limits of a field. */
export type FieldRule = Pick<FieldText, "label" | "limit"> & { minimum?: number }

/** Parses a field. Time and memory are linear in the length of the text. */
export function readField(field: Field, raw: string, language: string, rule: FieldRule): FieldText {
  const text = normalForm(raw, "NFC")
  const offsets = codePointOffsets(text)
  const entries = field === "keywords" ? entriesOf(text, language) : []
  return {
    field,
    label: rule.label,
    limit: rule.limit,
    minimum: rule.minimum ?? 0,
    text,
    length: offsets ? (offsets[text.length] as number) : text.length,
    words: field === "keywords" ? entries.flatMap(({ words }) => words) : wordsOf(text, language),
    entries,
    offsetOf: (at) => (offsets ? (offsets[at] as number) : at),
  }
}

/** Returns the words: runs of letters, marks and digits. In scripts without spaces, Intl.Segmenter splits the runs. */
export function wordsOf(text: string, language: string, from = 0, entry: Entry | null = null): Word[] {
  const words: Word[] = []
  const add = (run: string, at: number, segmented: boolean) =>
    words.push({ text: run, at, end: at + run.length, segmented, entry, ...wordKeys(run, language) })
  for (const { 0: run, index } of text.matchAll(RUN)) {
    if (!UNSPACED.test(run)) add(run, from + index, false)
    else
      for (const { segment, index: within } of segmenter(language).segment(run))
        add(segment, from + index + within, UNSPACED.test(segment))
  }
  return words
}

/** Letters of scripts without spaces between words. */
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー]/u

// Zero-width joiners occur within words of Indic and Arabic scripts.
const RUN = /[\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c\u200d]*/gu

const segmenters = new Map<string, Intl.Segmenter>()

function segmenter(language: string): Intl.Segmenter {
  const made = segmenters.get(language) ?? new Intl.Segmenter(language, { granularity: "word" })
  segmenters.set(language, made)
  return made
}

function entriesOf(text: string, language: string): Entry[] {
  const entries: Entry[] = []
  let from = 0
  for (let to = 0; to <= text.length; to++) {
    if (to < text.length && !isComma(text[to] as string)) continue
    const keyword = text.slice(from, to)
    const at = from + keyword.length - keyword.trimStart().length
    const entry: Entry = { from, to, at, end: Math.max(at, from + keyword.trimEnd().length), words: [] }
    entry.words = wordsOf(text.slice(entry.at, entry.end), language, entry.at, entry)
    entries.push(entry)
    from = to + 1
  }
  return text === "" ? [] : entries
}

/** Returns whether App Store Connect accepts the character as a comma: the English or the Chinese one. */
function isComma(character: string): boolean {
  return character === "," || character === "，"
}

/** Returns the code points before each UTF-16 unit. Null if every character is one unit. */
function codePointOffsets(text: string): Uint32Array | null {
  if (!/[\ud800-\udfff]/.test(text)) return null
  const offsets = new Uint32Array(text.length + 1)
  for (let at = 0, points = 0; at < text.length; points++) {
    const size = (text.codePointAt(at) as number) > 0xffff ? 2 : 1
    for (let unit = 0; unit < size; unit++) offsets[at + unit] = points
    at += size
    offsets[at] = points + 1
  }
  return offsets
}
