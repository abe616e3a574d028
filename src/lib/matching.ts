import { isPlain } from "./normal-form.ts"
import { storeIdInLink } from "./store-pages.ts"
import { normaliseTerm } from "./term.ts"

export interface SearchText {
  /** The whole text, folded. */
  text: string
  /** Its words: each must occur. */
  words: string[]
  /** The text is a link to this app's page in a store: only that app is sought. */
  storeId: string | null
}

/** How well something matches, the best first. */
export const GRADES = ["exact", "prefix", "word start", "anywhere"] as const

export function soughtBy(query: string): SearchText {
  const storeId = storeIdInLink(query.trim())
  const text = foldText(storeId ?? query)
  return { text, words: text.split(/\s+/), storeId }
}

/** How texts are compared. "İ" becomes "i" and U+0307, "I" no "ı": Turkish names would have two spellings. */
export function foldText(text: string): string {
  if (isPlain(text)) return normaliseTerm(text)
  return normaliseTerm(text).replaceAll("ı", "i").replaceAll("ς", "σ").replaceAll("i\u0307", "i")
}

/** Arguments of SQL's translate() that do what foldText does: the database's own lower() depends on its locale. */
export function translationFor({ text }: SearchText): { from: string; to: string } {
  const pairs = [...new Set(text)].flatMap((letter) => spellingsOf(letter).map((other) => [other, letter] as const))
  const from = pairs.map(([other]) => other).join("")
  return { from: text.includes("i") ? `${from}\u0307` : from, to: pairs.map(([, letter]) => letter).join("") }
}

const OTHERS: Record<string, string[]> = { i: ["İ", "ı"], k: ["\u212A"], ß: ["ẞ"], σ: ["Σ", "ς"] }

/** Single characters that foldText spells as this letter, ASCII capitals aside. */
function spellingsOf(letter: string): string[] {
  if (OTHERS[letter] || letter <= "\x7f") return OTHERS[letter] ?? []
  const capital = letter.toUpperCase()
  return capital !== letter && [...capital].length === 1 ? [capital] : []
}

/** An index of GRADES; null when a word occurs in none of the texts. A link matches by one of `storeIds` alone. */
export function gradeOf(sought: SearchText, storeIds: readonly string[], texts: readonly string[] = []): number | null {
  if (sought.storeId !== null) return storeIds.includes(sought.storeId) ? 0 : null
  const folded = [...texts, ...storeIds].map(foldText)
  if (folded.includes(sought.text)) return 0
  if (folded.some((text) => text.startsWith(sought.text))) return 1
  if (!sought.words.every((word) => folded.some((text) => text.includes(word)))) return null
  return sought.words.every((word) => folded.some((text) => startsWord(text, word))) ? 2 : 3
}

function startsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!/[\p{L}\p{M}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at))) return true
  }
  return false
}
