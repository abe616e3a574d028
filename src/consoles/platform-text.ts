import { cutText } from "../lib/text.ts"

/** A platform's own words as data: on one line, cut, without control characters. */
export function platformText(text: unknown, most: number): string {
  const line = String(text)
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .toWellFormed()
  return cutText(line, most)
}
