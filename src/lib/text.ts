/** Returns whether PostgreSQL and JSON can store a text: PostgreSQL has no NUL, JSON no unpaired surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed()
}

/** Returns the first `most` characters of a text. Omits the last one if it is half of a surrogate pair. */
export function cutText(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")
}

export type RandomBytes = (length: number) => Uint8Array

export const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Returns a random text of uniformly distributed letters and digits. */
export function randomText(length: number, randomBytes: RandomBytes): string {
  let text = ""
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte. Using higher values would favour the first characters.
    for (const byte of randomBytes(length - text.length)) if (byte < 248) text += ALPHABET[byte % 62]
  }
  return text
}

/**
 * Returns the candidate that was probably meant, ignoring case: at most a third of its characters may differ. Undefined
 * if there is none.
 */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const typed = text.toLowerCase()
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance)
  return ranked[0]?.candidate
}

/** Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, replaced, swapped ? beforeLast[j - 2]! + 1 : replaced)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
