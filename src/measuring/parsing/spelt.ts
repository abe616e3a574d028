import { normaliseTerm } from "../../lib/term.ts"

/** A term as a page may repeat it: with other capitals or white space it is the same one. Undefined for what is none. */
export function spelt(term: unknown): string | undefined {
  return typeof term === "string" ? normaliseTerm(term).replace(/\s+/gu, " ") : undefined
}
