import { normalForm } from "../../vocabulary/normal-form.ts"
import { type FieldText, UNSPACED, type Word, wordsOf } from "./field-text.ts"
import { quoted } from "./finding.ts"
import { type Check, given, type Listing } from "./listing.ts"

export interface Covered {
  term: string
  /** Null = words are missing from the fields that were given, and name, subtitle or keywords was not. */
  covered: boolean | null
  missing: string[]
  /** Words found in another form alone: plural or accents. */
  variants: string[]
}

/**
 * Whether the words of each tracked keyword stand in name, subtitle and keywords, wherever: search makes phrases of the words
 * of all three. Small words are not needed. In scripts without blanks it is enough that the characters stand in a row.
 */
export function coverageOf(listing: Listing): Covered[] {
  const fields = given(listing, "name", "subtitle", "keywords")
  const held = heldBy(fields)
  const all = fields.length === 3
  return listing.known.tracked.map((term) => {
    const words = needed(term, listing)
    const missing = unique(words.filter((word) => !isHeld(word, held)).map(({ text }) => text))
    const variants = unique(words.filter((word) => isHeld(word, held) && !isSame(word, held)).map(({ text }) => text))
    return { term, covered: missing.length === 0 ? true : all ? false : null, missing, variants }
  })
}

/** A mark for each tracked keyword that cannot be made of the three fields; none unless all three were given. */
export const leftOut: Check = (listing) => {
  const field = listing.fields.keywords
  if (!field) return []
  return coverageOf(listing).flatMap(({ term, covered, missing }) => {
    if (covered !== false) return []
    const message = `The tracked keyword ${quoted(term)} cannot be made of name, subtitle and keywords: ${missing.map(quoted).join(", ")} missing.`
    return [
      { code: "tracked_keyword_left_out", severity: "warning", field, at: -1, end: -1, absent: term, message } as const,
    ]
  })
}

interface Held {
  terms: ReadonlySet<string>
  loose: ReadonlySet<string>
  /** All texts, for words of scripts without blanks. */
  texts: string
}

function heldBy(fields: readonly FieldText[]): Held {
  const words = fields.flatMap((field) => field.words)
  return {
    terms: new Set(words.map(({ term }) => term)),
    loose: new Set(words.map(({ loose }) => loose)),
    texts: fields.map(({ text }) => normalForm(text, "NFKC").toLowerCase()).join("\n"),
  }
}

function needed(term: string, { language, vocabulary }: Listing): Word[] {
  const words = wordsOf(normalForm(term, "NFC"), language)
  const telling = words.filter((word) => !vocabulary.stop.has(word.term))
  return telling.length > 0 ? telling : words
}

function isHeld(word: Word, held: Held): boolean {
  return isSame(word, held) || (!word.segmented && held.loose.has(word.loose))
}

function isSame({ term, segmented }: Word, { terms, texts }: Held): boolean {
  return terms.has(term) || (segmented && UNSPACED.test(term) && texts.includes(term))
}

function unique(words: string[]): string[] {
  return [...new Set(words)]
}
