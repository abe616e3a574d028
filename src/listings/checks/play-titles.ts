import { matches, PICTOGRAPHS, UNSEEN } from "./characters.ts"
import { quoted } from "./finding.ts"
import { type Check, given, type Mark, markOf, textOf } from "./listing.ts"
import { findPhrases } from "./phrases.ts"
import { isIdiom } from "./prices.ts"

/**
 * Checks a Google Play title by the metadata policy: no emoji, no price or promotion, and no claim of a rank or award.
 * Source: support.google.com/googleplay/android-developer/answer/9898842.
 */
export const playTitles: Check = (listing) => {
  const { vocabulary } = listing
  return given(listing, "name").flatMap((field): Mark[] => {
    const promotions = [
      ...findPhrases(field, vocabulary.free)
        .filter((phrase) => !isIdiom(field, phrase))
        .map((phrase) => ({ ...phrase, code: "price_word" as const })),
      ...findPhrases(field, vocabulary.deal).map((phrase) => ({ ...phrase, code: "deal_word" as const })),
    ]
    return [
      ...matches(field, PICTOGRAPHS, "refused_character", "error", "Google Play allows no emoji in a title:"),
      ...promotions.map(({ code, at, end }) => {
        const words = quoted(textOf(field, { at, end }))
        const message = `Google Play allows no price or promotion such as ${words} in a title.`
        return markOf(field, { at, end }, { code, severity: "error", message })
      }),
      ...matches(field, CLAIMS, "filler_word", "error", "Google Play allows no claim of a rank or award in a title:"),
    ]
  })
}

export const playCharacters: Check = (listing) =>
  given(listing, "name", "subtitle").flatMap((field) =>
    matches(field, UNSEEN, "invisible_character", "warning", "This invisible character counts toward the limit:"),
  )

// English only: a word of another language may be part of a name.
const CLAIMS =
  /#\s?1(?!\d)|\bno\.? ?1(?!\d)|\bnumber one\b|\b(?:best|top) (?:app|game)s?\b|\b(?:app|game) of the year\b/gi
