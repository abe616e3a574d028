import { normalForm } from "../../lib/normal-form.ts"
import { type FieldText, UNSPACED, type Word } from "./field-text.ts"
import { quoted } from "./finding.ts"
import { type Check, given, type Listing } from "./listing.ts"

interface TermCoverage {
  term: string
  /** Null if words are missing and at least one of name, subtitle and keywords was not given. */
  covered: boolean | null
  missing: string[]
  /** Words that occur only in another form: plural or accents. */
  variants: string[]
}

/**
 * Returns how the name, subtitle and keywords cover each tracked keyword. Search combines words of all three fields;
 * stop words are not needed.
 */
export function coverageOf(listing: Listing): TermCoverage[] {
  const fields = given(listing, "name", "subtitle", "keywords")
  const fieldWords = wordsOf(fields)
  const all = fields.length === 3
  return listing.background.needed.map(({ term, words }) => {
    const missing = unique(words.filter((word) => !isCovered(word, fieldWords)).map(({ text }) => text))
    const variants = unique(
      words.filter((word) => isCovered(word, fieldWords) && !isSame(word, fieldWords)).map(({ text }) => text),
    )
    return { term, covered: missing.length === 0 ? true : all ? false : null, missing, variants }
  })
}

/** Reports each tracked keyword that the three fields do not cover. Reports nothing unless all three were given. */
export const leftOut: Check = (listing) => {
  const field = listing.fields.keywords
  if (!field) return []
  return coverageOf(listing).flatMap(({ term, covered, missing }) => {
    if (covered !== false) return []
    const message =
      `The tracked keyword ${quoted(term)} is not covered by name, subtitle and keywords. Missing: ` +
      `${missing.map(quoted).join(", ")}.`
    return [
      { code: "tracked_keyword_left_out", severity: "warning", field, at: -1, end: -1, absent: term, message } as const,
    ]
  })
}

interface FieldWords {
  terms: ReadonlySet<string>
  loose: ReadonlySet<string>
  /** All texts joined, to find words of scripts without spaces. */
  texts: string
}

function wordsOf(fields: readonly FieldText[]): FieldWords {
  const words = fields.flatMap((field) => field.words)
  return {
    terms: new Set(words.map(({ term }) => term)),
    loose: new Set(words.map(({ loose }) => loose)),
    texts: fields.map(({ text }) => normalForm(text, "NFKC").toLowerCase()).join("\n"),
  }
}

function isCovered(word: Word, fieldWords: FieldWords): boolean {
  return isSame(word, fieldWords) || (!word.segmented && fieldWords.loose.has(word.loose))
}

function isSame({ term, segmented }: Word, { terms, texts }: FieldWords): boolean {
  return terms.has(term) || (segmented && UNSPACED.test(term) && texts.includes(term))
}

function unique(words: string[]): string[] {
  return [...new Set(words)]
}
