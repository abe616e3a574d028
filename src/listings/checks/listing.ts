import type { Background } from "./background.ts"
import type { Entry, FieldText, Word } from "./field-text.ts"
import type { Code, Field, Severity, Stretch } from "./finding.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** A listing's texts, prepared for the checks. */
export interface Listing {
  /** A missing field was not given, so its text is unknown. */
  fields: Partial<Record<Field, FieldText>>
  /** The language of the locale: a key of WORD_LISTS. */
  language: string
  vocabulary: Vocabulary
  background: Background
}

/** A finding of a check: a stretch of a field, in UTF-16 units of its text. */
export interface Mark {
  code: Code
  severity: Severity
  field: FieldText
  at: number
  end: number
  /** The missing words that the mark reports. The field does not contain them, so `at` and `end` are -1. */
  absent?: string
  /** The stretch that can be removed to save characters. Omitted if there is none. */
  waste?: Stretch
  message: string
}

export type Check = (listing: Listing) => Mark[]

/** Returns the fields that were given. */
export function given(listing: Listing, ...fields: Field[]): FieldText[] {
  return fields.flatMap((field) => listing.fields[field] ?? [])
}

interface MarkText {
  code: Code
  severity: Severity
  message: string
}

/** Returns a mark for a stretch of text that wastes no characters. */
export function markOf(field: FieldText, { at, end }: Stretch, markText: MarkText): Mark {
  return { ...markText, field, at, end }
}

/** Returns a mark for words whose characters could be saved. */
export function wasteMark(field: FieldText, stretch: Stretch & { entry: Entry | null }, markText: MarkText): Mark {
  return { ...markOf(field, stretch, markText), waste: wasteOf(field, stretch, stretch.entry) }
}

/** Returns a stretch of a field's text. */
export function textOf({ text }: FieldText, { at, end }: Stretch): string {
  return text.slice(at, end)
}

export type { AppBackground } from "./app-background.ts"
export type { Entry, FieldText, Stretch, Word }

/**
 * Returns the stretch to remove together with some words: the adjacent comma if the words are a whole keyword, else one
 * adjacent space.
 */
function wasteOf({ text, entries }: FieldText, { at, end }: Stretch, entry: Entry | null): Stretch {
  if (entry && at === entry.at && end === entry.end) return withComma(text, entries, entry)
  const [least, most] = entry ? [entry.at, entry.end] : [0, text.length]
  if (end < most && isBlank(text[end] as string)) return { at, end: end + 1 }
  return at > least && isBlank(text[at - 1] as string) ? { at: at - 1, end } : { at, end }
}

function withComma(text: string, entries: readonly Entry[], { from, to }: Entry): Stretch {
  if (entries.length === 1) return { at: from, end: to }
  return from > 0 ? { at: from - 1, end: to } : { at: from, end: Math.min(text.length, to + 1) }
}

function isBlank(character: string): boolean {
  return /\s/.test(character)
}
