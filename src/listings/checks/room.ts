import type { Entry, FieldText } from "./field-text.ts"
import type { Stretch } from "./finding.ts"

/**
 * Returns the stretch to remove together with some words: the comma if the whole keyword goes, else one adjacent space.
 */
export function wasteOf({ text, entries }: FieldText, { at, end }: Stretch, entry: Entry | null): Stretch {
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
