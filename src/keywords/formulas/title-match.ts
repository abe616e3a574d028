import { foldText } from "../../lib/matching.ts"
import { normalForm } from "../../lib/normal-form.ts"

/**
 * Returns how well a title matches a keyword, 0 to 1:
 *
 *     1     it contains the keyword: consecutive words, or written as one ("prize picks" in "PrizePicks - Fantasy")
 *     0.5   each word of the keyword begins some word of the title ("araba oyun" in "Oyunlar: Araba ve Yarış")
 *     less  only a share of its words does: a quarter of the share
 *
 * Words are runs of letters, marks and digits, as foldText spells them, so that "İ", "I", "ı" and "i" are one letter;
 * width and ligatures are ignored. Scripts without blanks between words have no words to compare: there the title must
 * contain the keyword's characters in a row, or it matches by the share of character pairs that it contains.
 *
 * Source: the grades are those of facundoolano/aso (exact 10, broad 5, partial 2.5). Limits: only the title is known,
 * not the subtitle or the keyword field; no stemming, no synonyms.
 */
export function titleMatch(term: string, title: string): number {
  return matchOf(wordsOf(term), wordsOf(title))
}

/** Returns a titleMatch that splits each keyword and title into words only once. */
export function titleMatcher(): typeof titleMatch {
  const parted = onceEach(wordsOf)
  return (term, title) => matchOf(parted(term), parted(title))
}

/**
 * Returns a function that checks whether the match is 1. Ten times as fast as titleMatcher where few titles contain a
 * keyword.
 */
export function titleHolder(): (term: string, title: string) => boolean {
  const parted = onceEach((text) => {
    const words = wordsOf(text)
    return { words, joined: words.join("") }
  })
  return (term, title) => {
    const [{ joined }, titleParts] = [parted(term), parted(title)]
    return (
      joined !== "" &&
      titleParts.joined.includes(joined) &&
      (UNSPACED.test(joined) || holdsInARow(titleParts.words, joined))
    )
  }
}

function onceEach<Parts>(partsOf: (text: string) => Parts): (text: string) => Parts {
  const cache = new Map<string, Parts>()
  return (text) => {
    const parts = cache.get(text) ?? partsOf(text)
    cache.set(text, parts)
    return parts
  }
}

function matchOf(wanted: readonly string[], words: readonly string[]): number {
  if (wanted.length === 0) return 0
  const joined = wanted.join("")
  if (UNSPACED.test(joined)) return unspacedMatch(joined, words.join(""))
  if (holdsInARow(words, joined)) return 1
  const share = wanted.filter((word) => words.some((part) => part.startsWith(word))).length / wanted.length
  return share === 1 ? BROAD : share * PARTIAL
}

const BROAD = 0.5
const PARTIAL = 0.25
const UNSPACED = new RegExp(
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}" +
    "\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]",
  "u",
)

function wordsOf(text: string): string[] {
  return foldText(normalForm(text, "NFKC")).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}

/** Returns whether consecutive words spell the keyword. */
function holdsInARow(words: readonly string[], joined: string): boolean {
  return words.some((_, from) => {
    let spelt = ""
    for (let at = from; at < words.length && spelt.length < joined.length; at++) spelt += words[at]
    return spelt === joined
  })
}

function unspacedMatch(joined: string, title: string): number {
  if (title.includes(joined)) return 1
  const letters = [...joined]
  const pairs = letters.slice(1).map((letter, at) => `${letters[at]}${letter}`)
  if (pairs.length === 0) return 0
  return (PARTIAL * pairs.filter((pair) => title.includes(pair)).length) / pairs.length
}
