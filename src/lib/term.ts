import { withoutInvisible } from "./invisible.ts"
import { normalForm } from "./normal-form.ts"

/**
 * The one spelling of a keyword. "İ" becomes "i": by Unicode's own rule it is "i" and a combining dot, and "İNDİRİM" would
 * be another keyword than "indirim". The last NFC makes it idempotent: a mark behind U+0130 composes anew.
 */
export function normaliseTerm(text: string): string {
  // most are plain: a tenth of the work
  if (PLAIN.test(text)) return text.trim().toLowerCase()
  const lower = normalForm(withoutInvisible(text), "NFC").trim().toLowerCase()
  return normalForm(lower.replaceAll("i\u0307", "i"), "NFC")
}

/** ASCII without control characters that are no white space: it has one normal form, itself. */
const PLAIN = /^[\t-\r -~]*$/

/** What keywords of the demo's own world begin with: they are nobody else's, and each says what it is. */
export const INVENTED_TERMS = "invented "

export function isInventedTerm(term: string): boolean {
  return term.startsWith(INVENTED_TERMS)
}

/**
 * True for "." and "..": in the path of a URL they mean a folder, also percent-encoded, so that no address could name the
 * keyword.
 */
export function isPathStep(term: string): boolean {
  return term === "." || term === ".."
}
