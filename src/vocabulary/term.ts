import { isPlain, normalForm } from "./normal-form.ts"

/** The one spelling of a keyword. The last NFC makes it idempotent: lower-casing U+0130 U+0327 composes anew. */
export function normaliseTerm(text: string): string {
  // most are plain: a tenth of the work
  if (isPlain(text)) return text.trim().toLowerCase()
  return normalForm(normalForm(text, "NFC").trim().toLowerCase(), "NFC")
}

/** What keywords of the demo's own world begin with: they are nobody else's, and each says what it is. */
export const INVENTED_TERMS = "invented "

export function isInventedTerm(term: string): boolean {
  return term.startsWith(INVENTED_TERMS)
}
