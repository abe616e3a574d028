import { normalForm } from "./normal-form.ts"
/**
 * The one spelling of a keyword: NFC, trimmed, lower-cased, NFC again. Inner white space is kept.
 * The last NFC makes it idempotent: lower-casing U+0130 U+0327, for one, leaves a sequence that composes anew.
 */
export function normaliseTerm(text: string): string {
  return normalForm(normalForm(text, "NFC").trim().toLowerCase(), "NFC")
}
