import { quoted } from "./finding.ts"
import { type Check, type FieldText, given, type Listing, type Mark, textOf, wasteMark } from "./listing.ts"
import { type FoundPhrase, findPhrases } from "./phrases.ts"

/**
 * Reports words of the keyword field that attract no searches: "app", praise and stop words, in the locale's language.
 */
export const fillers: Check = (listing) =>
  given(listing, "keywords").flatMap((field) => {
    const found = findPhrases(field, listing.vocabulary.filler).filter((phrase) => standsAlone(field, phrase))
    return [...found.map((phrase) => filler(field, phrase)), ...stopWords(field, listing, found)]
  })

/**
 * Returns whether the filler is a whole keyword. In scripts without spaces, a filler inside a longer keyword is part of
 * that keyword's meaning.
 */
function standsAlone(field: FieldText, { at, end, entry }: FoundPhrase): boolean {
  const segmented = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(
    field.text.slice(at, end),
  )
  return !segmented || (entry !== null && entry.at === at && entry.end === end)
}

function filler(field: FieldText, phrase: FoundPhrase): Mark {
  const message = `${quoted(textOf(field, phrase))} is a filler that attracts no searches.`
  return wasteMark(field, phrase, { code: "filler_word", severity: "warning", message })
}

function stopWords(field: FieldText, { vocabulary }: Listing, found: readonly FoundPhrase[]): Mark[] {
  const taken = new Set(found.map(({ at }) => at))
  return field.words.flatMap((word) => {
    if (word.segmented || taken.has(word.at) || !vocabulary.stop.has(word.term)) return []
    const message = `Search needs no stop words such as ${quoted(word.text)}.`
    return [wasteMark(field, word, { code: "stop_word", severity: "hint", message })]
  })
}
