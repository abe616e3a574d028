import { normaliseTerm } from "../../lib/term.ts"

/**
 * Returns a term in the form used to compare it with the requested one: pages may change capitals and white space.
 * Undefined if it is no text.
 */
export function spelt(term: unknown): string | undefined {
  return typeof term === "string" ? normaliseTerm(term).replace(/\s+/gu, " ") : undefined
}
