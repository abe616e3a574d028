import { withoutInvisible } from "./invisible.ts"
import { normalForm } from "./normal-form.ts"

/**
 * Returns the normal form of a keyword. "İ" becomes "i": Unicode lower-cases it to "i" and a combining dot, which would
 * make "İNDİRİM" another keyword than "indirim". The last NFC makes the function idempotent, because a mark after
 * U+0130 composes again.
 */
export function normaliseTerm(text: string): string {
  // Most terms are ASCII, for which this takes a tenth of the time.
  if (PLAIN.test(text)) return text.trim().toLowerCase()
  const lower = normalForm(withoutInvisible(text), "NFC").trim().toLowerCase()
  return normalForm(lower.replaceAll("i\u0307", "i"), "NFC")
}

/**
 * ASCII without control characters other than white space. Trimmed and lower-cased, such text is in its normal form.
 */
const PLAIN = /^[\t-\r -~]*$/

/** Prefix of keywords in the sample data. It avoids collisions and marks them as invented. */
export const INVENTED_TERMS = "invented "

export function isInventedTerm(term: string): boolean {
  return term.startsWith(INVENTED_TERMS)
}

/**
 * Returns whether a term is "." or "..". In a URL path these mean a folder, even percent-encoded, so no URL could
 * identify the keyword.
 */
export function isPathStep(term: string): boolean {
  return term === "." || term === ".."
}
