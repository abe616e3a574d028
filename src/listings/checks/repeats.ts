import { type Code, type Field, LABELS, quoted } from "./finding.ts"
import { type Check, type FieldText, given, type Listing, type Mark, type Word, wasteMark } from "./listing.ts"

/**
 * Reports repeated words. Search combines the three fields, so a repetition gains nothing. Stop words do not count,
 * nor, in scripts without spaces, single characters and words in hiragana only.
 */
export const repeats: Check = (listing) => {
  const seen: FirstUses = { byKey: new Map(), byLoose: new Map() }
  return given(listing, "name", "subtitle", "keywords").flatMap((field) =>
    field.words.flatMap((word) => (counts(word, listing) ? repeatOf(field, word, seen) : [])),
  )
}

interface FirstUses {
  byKey: Map<string, Field>
  byLoose: Map<string, Word>
}

function counts({ text, key, term, segmented }: Word, { vocabulary }: Listing): boolean {
  if (segmented) return key.length > 1 && !HIRAGANA.test(text)
  return (key.length > 1 || !/^\p{L}/u.test(key)) && !/^\d$/.test(key) && !vocabulary.stop.has(term)
}

const HIRAGANA = /^\p{Script=Hiragana}+$/u

function repeatOf(field: FieldText, word: Word, { byKey, byLoose }: FirstUses): Mark[] {
  const where = byKey.get(word.key)
  const similar = byLoose.get(word.loose)
  if (where !== undefined) return [same(field, word, where)]
  byKey.set(word.key, field.field)
  if (similar === undefined) byLoose.set(word.loose, word)
  else if (word.loose.length >= 4) return [alike(field, word, similar)]
  return []
}

function same(field: FieldText, word: Word, where: Field): Mark {
  const inside = word.segmented && word.entry !== null && (word.at > word.entry.at || word.end < word.entry.end)
  const code = where === field.field ? "repeated_word" : CODE_OF[where]
  const message = `${quoted(word.text)} is already in ${where === field.field ? "this field" : `the ${LABELS[where]}`}.`
  return wasteMark(field, word, { code, severity: inside ? "hint" : "warning", message })
}

const CODE_OF: Readonly<Record<Field, Code>> = {
  name: "repeated_in_name",
  subtitle: "repeated_in_subtitle",
  keywords: "repeated_word",
  promotionalText: "repeated_word",
  description: "repeated_word",
}

function alike(field: FieldText, word: Word, similar: Word): Mark {
  const message = `${quoted(word.text)} is another form of ${quoted(similar.text)}, which search usually finds too.`
  return wasteMark(field, word, { code: "similar_word", severity: "hint", message })
}
