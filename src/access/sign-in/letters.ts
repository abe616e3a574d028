import type { RandomBytes } from "../../lib/text.ts"

/** Without vowels, so that no word comes about, and without I, L and O, which are read as digits. */
const LETTERS = "BCDFGHJKMNPQRSTVWXZ"

/** Random letters, each as likely as the other. */
export function letters(count: number, randomBytes: RandomBytes): string {
  let text = ""
  while (text.length < count) {
    // 247 is the largest multiple of 19 in a byte
    for (const byte of randomBytes(count - text.length)) if (byte < 247) text += LETTERS[byte % LETTERS.length]
  }
  return text
}

/** What somebody typed, as it was made: upper case, without what separates its groups. */
export function plainLetters(typed: string): string {
  return typed.replaceAll(/[\s-]/g, "").toUpperCase()
}
