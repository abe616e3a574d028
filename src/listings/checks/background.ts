import { normalForm } from "../../lib/normal-form.ts"
import { APPLE_PRODUCTS, KNOWN_BRANDS, OTHER_PLATFORMS } from "../../lib/words/products.ts"
import type { AppBackground } from "./app-background.ts"
import { type Word, wordsOf } from "./field-text.ts"
import { type Phrases, phrasesFrom, phrasesOf } from "./phrases.ts"
import { rivalNames } from "./rival-names.ts"
import { vocabularyOf } from "./vocabulary.ts"
import { wordKeys } from "./word-keys.ts"

/** Facts about an app, prepared for checking any number of texts in one language. */
export interface Background {
  app: AppBackground
  /** For each tracked keyword, in order, the words that a listing must contain to cover it. */
  needed: { term: string; words: Word[] }[]
  /** Words of the app's own name and of its developer's name. */
  ownWords: { brand: string[]; maker: string[] }
  /** Names of other products and companies, except names that consist of the app's own words. */
  otherNames: { platforms: Phrases; apple: Phrases; brands: Phrases; rivals: Phrases; makers: Phrases }
}

export function backgroundIn(app: AppBackground, language: string): Background {
  const vocabulary = vocabularyOf(language)
  const tracked = app.tracked.map((term) => ({ term, words: wordsOf(normalForm(term, "NFC"), language) }))
  const needed = tracked.map(({ term, words }) => {
    const telling = words.filter((word) => !vocabulary.stop.has(word.term))
    return { term, words: telling.length > 0 ? telling : words }
  })
  const common = tracked.flatMap(({ words }) => words.map(({ term }) => term))
  const { brand, maker, rivals, makers } = rivalNames(app, { language, vocabulary, common })
  const alien = (phrases: Phrases) => without(phrases, ownWords(app))
  return {
    app,
    needed,
    ownWords: { brand, maker },
    otherNames: {
      platforms: alien(OTHERS),
      apple: alien(APPLE),
      brands: alien(BRANDS),
      rivals: alien(rivals),
      makers: alien(makers),
    },
  }
}

const APPLE = phrasesOf(APPLE_PRODUCTS)
const OTHERS = phrasesOf(OTHER_PLATFORMS)
const BRANDS = phrasesOf(KNOWN_BRANDS)

/**
 * Returns the words of the app's and the developer's store names, which are never reported as other companies' names.
 */
function ownWords({ name, developer }: AppBackground): string[] {
  return `${name ?? ""} ${developer ?? ""}`.split(/[^\p{L}\p{M}\p{N}]+/u).map((word) => wordKeys(word, "en").term)
}

function without({ byFirst, unspaced }: Phrases, appWords: readonly string[]): Phrases {
  if (appWords.length === 0) return { byFirst, unspaced }
  const words = new Set(appWords)
  const foreignPhrases = [...byFirst.values()].flat().filter((phrase) => !phrase.every((word) => words.has(word)))
  const foreign = unspaced.filter((phrase) => !appWords.some((word) => word.includes(phrase)))
  return phrasesFrom([...foreignPhrases, ...foreign.map((phrase) => [phrase])])
}
