import { wordsOf } from "./field-text.ts"
import type { Listing } from "./listing.ts"
import { type Phrases, phrasesFrom } from "./phrases.ts"

interface KnownNames {
  ownNames: Phrases
  rivalNames: Phrases
  rivalDevelopers: Phrases
}

/**
 * The names to look for: what stands before the first dash, colon or bracket of an app's name, and a maker without its legal
 * form. Names made of nothing but common words tell nobody apart and are left out: common are the words of the tracked
 * keywords, fillers, small words, what two rivals or more have in their names, and what stands after that dash in one.
 */
export function knownNames(listing: Listing): KnownNames {
  const { known, fields } = listing
  const common = commonWords(listing)
  const telling = (names: string[][]) => names.filter((words) => isTelling(words, common))
  const brand = (name: string) => termsOf(headOf(name), listing.language)
  const maker = (name: string | null) =>
    termsOf((name ?? "").slice(0, LONGEST).replace(LEGAL_FORM, ""), listing.language)
  return {
    // with a name at hand, the words it shares with the keywords are repeats
    ownNames: phrasesFrom(
      [fields.name ? [] : brand(known.name ?? ""), maker(known.developer)].filter((words) => words.length > 0),
    ),
    rivalNames: phrasesFrom(telling(known.rivals.map(({ name }) => brand(name)))),
    rivalDevelopers: phrasesFrom(telling(known.rivals.map(({ developer }) => maker(developer)))),
  }
}

const ENDS_BRAND = /\s+[-–—|·•~]\s*|\s*[:：|(（,，、【「]|[-–—]\s+/u
const LEGAL_FORM =
  /(?:[\s,.]+(?:inc|llc|ltd|limited|gmbh|ug|ag|bv|oy|ab|as|aps|sa|sas|sarl|srl|spa|sl|kg|co|corp|corporation|company|pty|plc|pte|lda|ltda|kft|doo|sro|zoo|oü)\.?)+$|株式会社|有限公司|주식회사|\(주\)/giu

/** No name is longer; what an upstream says might be. */
const LONGEST = 200

function headOf(name: string): string {
  return name.slice(0, LONGEST).split(ENDS_BRAND)[0] as string
}

function termsOf(name: string, language: string): string[] {
  return wordsOf(name.slice(0, LONGEST), language).map(({ term }) => term)
}

function commonWords({ known, vocabulary, language }: Listing): ReadonlySet<string> {
  const names = [...new Set(known.rivals.map(({ name }) => name))]
  const held = names.flatMap((name) => [...new Set(termsOf(name, language))])
  const often = [...Map.groupBy(held, (term) => term)].filter(([, { length }]) => length > 1).map(([term]) => term)
  const tails = names.flatMap((name) => termsOf(name.slice(headOf(name).length), language))
  const fillers = [...vocabulary.filler.byFirst.values()].flat(2)
  return new Set([
    ...often,
    ...tails,
    ...fillers,
    ...vocabulary.stop,
    ...known.tracked.flatMap((term) => termsOf(term, language)),
  ])
}

/** One word of fewer than three letters is no name to look for, in scripts that spell. */
function isTelling(words: readonly string[], common: ReadonlySet<string>): boolean {
  if (words.length === 0 || words.length > 5 || words.every((word) => common.has(word))) return false
  return words.join("").length >= 3 || /^\p{Script=Han}{2}/u.test(words.join(""))
}
