/** Whether PostgreSQL and JSON can hold it: the one stores no NUL, the other no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed()
}

/** The first characters of a text. Never ends with half of a surrogate pair. */
export function cutText(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")
}

export type RandomBytes = (length: number) => Uint8Array

export const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Letters and digits, each as likely as the other. */
export function randomText(length: number, randomBytes: RandomBytes): string {
  let text = ""
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte: what lies above would make the first characters likelier
    for (const byte of randomBytes(length - text.length)) if (byte < 248) text += ALPHABET[byte % 62]
  }
  return text
}
