import type { RandomBytes } from "../../lib/text.ts"

/** No vowels, so that no words appear, and no I, L and O, which look like digits. */
const LETTERS = "BCDFGHJKMNPQRSTVWXZ"

/** Returns uniformly distributed random letters. */
export function letters(count: number, randomBytes: RandomBytes): string {
  let text = ""
  while (text.length < count) {
    // 247 is the largest multiple of 19 in a byte.
    for (const byte of randomBytes(count - text.length)) if (byte < 247) text += LETTERS[byte % LETTERS.length]
  }
  return text
}

/** Normalises typed letters: upper case, without the separators of groups. */
export function plainLetters(typed: string): string {
  return typed.replaceAll(/[\s-]/g, "").toUpperCase()
}
