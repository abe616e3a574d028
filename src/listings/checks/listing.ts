import type { Background } from "./background.ts"
import type { Entry, FieldText, Word } from "./field-text.ts"
import type { Code, Field, Severity, Stretch } from "./finding.ts"
import { wasteOf } from "./room.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** A listing's texts as the checks see them. */
export interface Listing {
  /** A field that was not given is not there: nothing is known of it. */
  fields: Partial<Record<Field, FieldText>>
  /** The language of the locale: a key of WORD_LISTS. */
  language: string
  vocabulary: Vocabulary
  background: Background
}

/** What a check found: a stretch of a field, in UTF-16 units of its text. */
export interface Mark {
  code: Code
  severity: Severity
  field: FieldText
  at: number
  end: number
  /** Words that stand nowhere in the field, which the mark is about; at and end are -1 then. */
  absent?: string
  /** What would be saved without it; nothing where left out. */
  waste?: Stretch
  message: string
}

export type Check = (listing: Listing) => Mark[]

/** Those of the fields that were given. */
export function given(listing: Listing, ...fields: Field[]): FieldText[] {
  return fields.flatMap((field) => listing.fields[field] ?? [])
}

interface MarkText {
  code: Code
  severity: Severity
  message: string
}

/** A mark on a stretch of text that costs nothing. */
export function markOf(field: FieldText, { at, end }: Stretch, said: MarkText): Mark {
  return { ...said, field, at, end }
}

/** A mark on some words whose room could be saved. */
export function wasteMark(field: FieldText, stretch: Stretch & { entry: Entry | null }, said: MarkText): Mark {
  return { ...markOf(field, stretch, said), waste: wasteOf(field, stretch, stretch.entry) }
}

/** The words of a field as its text spells them. */
export function textOf({ text }: FieldText, { at, end }: Stretch): string {
  return text.slice(at, end)
}

export type { AppBackground } from "./app-background.ts"
export type { Entry, FieldText, Stretch, Word }
