import { cutText } from "../lib/text.ts"

/** Returns a platform's text in a form that is safe to display: one line, truncated, without control characters. */
export function platformText(text: unknown, most: number): string {
  const line = String(text)
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .toWellFormed()
  return cutText(line, most)
}
