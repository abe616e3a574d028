import { isPlain } from "./normal-form.ts"
import { storeIdInLink } from "./store-pages.ts"
import { normaliseTerm } from "./term.ts"

export interface SearchText {
  /** The whole text, folded. */
  text: string
  /** The words of the text. Each must occur. */
  words: string[]
  /** The app's store id if the text is a link to a store page. Then only this app matches. */
  storeId: string | null
}

/** Grades of a match, best first. */
export const GRADES = ["exact", "prefix", "word start", "anywhere"] as const

export function toSearchText(query: string): SearchText {
  const storeId = storeIdInLink(query.trim())
  const text = foldText(storeId ?? query)
  return { text, words: text.split(/\s+/), storeId }
}

/**
 * Normalises a text for comparison. "İ" becomes "i" and U+0307, but "I" does not become "ı", because Turkish names
 * would then have two spellings.
 */
export function foldText(text: string): string {
  if (isPlain(text)) return normaliseTerm(text)
  return normaliseTerm(text).replaceAll("ı", "i").replaceAll("ς", "σ").replaceAll("i\u0307", "i")
}

/** Returns arguments for SQL's translate() that do what foldText does. The database's lower() depends on its locale. */
export function translationFor({ text }: SearchText): { from: string; to: string } {
  const pairs = [...new Set(text)].flatMap((letter) => spellingsOf(letter).map((other) => [other, letter] as const))
  const from = pairs.map(([other]) => other).join("")
  return { from: text.includes("i") ? `${from}\u0307` : from, to: pairs.map(([, letter]) => letter).join("") }
}

const OTHERS: Record<string, string[]> = { i: ["İ", "ı"], k: ["\u212A"], ß: ["ẞ"], σ: ["Σ", "ς"] }

/** Returns the single characters that foldText maps to this letter, except ASCII capitals. */
function spellingsOf(letter: string): string[] {
  if (OTHERS[letter] || letter <= "\x7f") return OTHERS[letter] ?? []
  const capital = letter.toUpperCase()
  return capital !== letter && [...capital].length === 1 ? [capital] : []
}

/**
 * Returns the grade of the match as an index of GRADES. Null if a word occurs in none of the texts. A link matches only
 * `storeIds`.
 */
export function gradeOf(search: SearchText, storeIds: readonly string[], texts: readonly string[] = []): number | null {
  if (search.storeId !== null) return storeIds.includes(search.storeId) ? 0 : null
  const folded = [...texts, ...storeIds].map(foldText)
  if (folded.includes(search.text)) return 0
  if (folded.some((text) => text.startsWith(search.text))) return 1
  if (!search.words.every((word) => folded.some((text) => text.includes(word)))) return null
  return search.words.every((word) => folded.some((text) => startsWord(text, word))) ? 2 : 3
}

function startsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!/[\p{L}\p{M}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at))) return true
  }
  return false
}
