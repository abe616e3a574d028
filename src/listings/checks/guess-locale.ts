import { type ListingLocale, languageOf } from "../../lib/locales.ts"
import { normalForm } from "../../lib/normal-form.ts"
import { wordsOf } from "./field-text.ts"
import { signsOf } from "./languages.ts"
import { shareIn } from "./scripts.ts"
import { vocabularyOf } from "./vocabulary.ts"

/** By script, then by signs of the language, the first of equals. Null where the text has none of any. */
export function guessLocale(text: string, locales: readonly ListingLocale[]): ListingLocale | null {
  const read = normalForm(text.slice(0, READ), "NFC")
  const scored = locales.map((locale) => {
    const language = languageOf(locale)
    const share = shareIn(read, vocabularyOf(language).lists.scripts) ?? 0
    const latin = vocabularyOf(language).lists.scripts.includes("Latin")
    const signs = signsOf(wordsOf(read, language), language)
    // a script that is not everybody's tells the language alone
    return { locale, score: share < 1 / 3 ? 0 : signs + (latin ? 0 : 1) }
  })
  const best = scored.reduce((most, one) => (one.score > most.score ? one : most), { locale: null, score: 0 } as Score)
  return best.locale
}

interface Score {
  locale: ListingLocale | null
  score: number
}

/** So much of a text tells its language. */
const READ = 2_000
