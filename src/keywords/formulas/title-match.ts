import { foldText } from "../../lib/matching.ts"
import { normalForm } from "../../lib/normal-form.ts"

/**
 * How far a title is about a keyword, 0 to 1:
 *
 *     1     it holds the keyword: its words one after another, or written as one ("prize picks" in "PrizePicks - Fantasy")
 *     0.5   each of its words begins some word of the title ("araba oyun" in "Oyunlar: Araba ve Yarış")
 *     less  a share of its words does: a quarter of the share
 *
 * Words are runs of letters, marks and digits, as foldText spells them, so that "İ", "I", "ı" and "i" are one letter; width
 * and ligatures count for nothing. A script that writes no blanks between words has no words to compare: there the title
 * must hold the keyword's characters in a row, or holds a share of its pairs of characters.
 *
 * Source: the grades are those of facundoolano/aso (exact 10, broad 5, partial 2.5). Limits: only the title is known, not
 * subtitle or keyword field; no stemming, no synonyms.
 */
export function titleMatch(term: string, title: string): number {
  return matchOf(wordsOf(term), wordsOf(title))
}

/** The same of many keywords and titles, each of which is parted into its words once. */
export function titleMatcher(): typeof titleMatch {
  const parted = onceEach(wordsOf)
  return (term, title) => matchOf(parted(term), parted(title))
}

/** Whether that is 1, of as many: a tenth of the work where few titles hold a keyword. */
export function titleHolder(): (term: string, title: string) => boolean {
  const parted = onceEach((text) => {
    const words = wordsOf(text)
    return { words, joined: words.join("") }
  })
  return (term, title) => {
    const [{ joined }, held] = [parted(term), parted(title)]
    return joined !== "" && held.joined.includes(joined) && (UNSPACED.test(joined) || holdsInARow(held.words, joined))
  }
}

function onceEach<Parts>(partsOf: (text: string) => Parts): (text: string) => Parts {
  const known = new Map<string, Parts>()
  return (text) => {
    const held = known.get(text) ?? partsOf(text)
    known.set(text, held)
    return held
  }
}

function matchOf(sought: readonly string[], words: readonly string[]): number {
  if (sought.length === 0) return 0
  const joined = sought.join("")
  if (UNSPACED.test(joined)) return unspacedMatch(joined, words.join(""))
  if (holdsInARow(words, joined)) return 1
  const share = sought.filter((word) => words.some((held) => held.startsWith(word))).length / sought.length
  return share === 1 ? BROAD : share * PARTIAL
}

const BROAD = 0.5
const PARTIAL = 0.25
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

function wordsOf(text: string): string[] {
  return foldText(normalForm(text, "NFKC")).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}

/** Whether some words that follow each other spell the keyword. */
function holdsInARow(words: readonly string[], joined: string): boolean {
  return words.some((_, from) => {
    let held = ""
    for (let at = from; at < words.length && held.length < joined.length; at++) held += words[at]
    return held === joined
  })
}

function unspacedMatch(joined: string, title: string): number {
  if (title.includes(joined)) return 1
  const letters = [...joined]
  const pairs = letters.slice(1).map((letter, at) => `${letters[at]}${letter}`)
  if (pairs.length === 0) return 0
  return (PARTIAL * pairs.filter((pair) => title.includes(pair)).length) / pairs.length
}
