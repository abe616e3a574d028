import { foldReviewText } from "../../formulas/review-text.ts"

/** By language, phrases apart by blanks, "_" joining the words of one; "/" parts words of which one stands there, "*" at an end stands for any letters. */
export type PhraseList = Readonly<Record<string, string>>

/** Phrases of a language that a text holds, in the text's folded spelling. A language without a list has none. */
export function phrasesIn(text: string, list: PhraseList, language: string): string[] {
  const pattern = patternOf(list[language] ?? "")
  return pattern === null ? [] : [...foldReviewText(text).matchAll(pattern)].map(([found]) => found)
}

/** Whole words; in scripts without blanks wherever the characters stand. Null = no phrases. */
export function patternOf(phrases: string): RegExp | null {
  const known = patterns.get(phrases)
  if (known !== undefined) return known
  // the longest first: what is taken out of a text goes whole
  const parts = phrases
    .split(/\s+/)
    .filter((phrase) => phrase !== "")
    .sort((a, b) => b.length - a.length)
  const made = parts.length === 0 ? null : new RegExp(parts.map(partOf).join("|"), "gu")
  patterns.set(phrases, made)
  return made
}

const patterns = new Map<string, RegExp | null>()

/** Korean writes blanks, but its particles are joined to the word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

function partOf(phrase: string): string {
  const open = { before: phrase.startsWith("*"), after: phrase.endsWith("*") }
  const bare = foldReviewText(phrase.replace(/^\*|\*$/g, "").replaceAll("_", " ")).replace(
    /[.*+?^${}()|[\]\\]/g,
    "\\$&",
  )
  if (UNSPACED.test(bare)) return bare
  const words = bare.split(" ").map((word) => (word.includes("/") ? `(?:${word.split("/").join("|")})` : word))
  return `${open.before ? "" : "(?<![\\p{L}\\p{N}])"}${words.join(" ")}${open.after || bare.endsWith("'") ? "" : "(?![\\p{L}\\p{N}])"}`
}
