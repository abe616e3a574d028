import { cutText } from "../lib/text.ts"

/** Makes a platform's text safe to display: one line, truncated, no control characters. */
export function platformText(text: unknown, most: number): string {
  const line = String(text)
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .toWellFormed()
  return cutText(line, most)
}
