import { type ListingLocale, languageOf } from "../../lib/locales.ts"
import { normalForm } from "../../lib/normal-form.ts"
import { wordsOf } from "./field-text.ts"
import { signsOf } from "./languages.ts"
import { shareIn } from "./scripts.ts"
import { vocabularyOf } from "./vocabulary.ts"

/**
 * Returns the locale that fits a text best, first by script and then by signs of the language. If several fit equally
 * well, returns the first one. Null if the text has no sign of any locale.
 */
export function guessLocale(text: string, locales: readonly ListingLocale[]): ListingLocale | null {
  const read = normalForm(text.slice(0, READ), "NFC")
  const scored = locales.map((locale) => {
    const language = languageOf(locale)
    const share = shareIn(read, vocabularyOf(language).lists.scripts) ?? 0
    const latin = vocabularyOf(language).lists.scripts.includes("Latin")
    const signs = signsOf(wordsOf(read, language), language)
    // A script other than Latin counts as a sign of the language.
    return { locale, score: share < 1 / 3 ? 0 : signs + (latin ? 0 : 1) }
  })
  const best = scored.reduce((most, candidate) => (candidate.score > most.score ? candidate : most), {
    locale: null,
    score: 0,
  } as Score)
  return best.locale
}

interface Score {
  locale: ListingLocale | null
  score: number
}

/** Number of characters that suffice to detect the language. */
const READ = 2_000
