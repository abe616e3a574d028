import { isStorable } from "../../lib/text.ts"

/** Maximum length of a title or text. The longest text that a store accepts has 6,000 characters. */
export const LONGEST_TEXT = 20_000
export const LONGEST_VERSION = 100

/**
 * Returns the text without characters that the database cannot store, so that one broken character does not fail the
 * whole page.
 */
export function writtenIn(text: string): string {
  // If the cut splits a surrogate pair, the first half of the pair is removed too.
  return text
    .replaceAll("\0", "")
    .toWellFormed()
    .slice(0, LONGEST_TEXT)
    .replace(/[\ud800-\udbff]$/, "")
}

/** Returns a title. Undefined if it is missing or blank. */
export function titleIn(text: string | undefined): string | undefined {
  const title = text === undefined ? "" : writtenIn(text)
  return /\S/.test(title) ? title : undefined
}

/** Returns an app version. Undefined if it is invalid. */
export function versionIn(text: string | undefined): string | undefined {
  const isVersion = text !== undefined && text.length <= LONGEST_VERSION && /\S/.test(text) && isStorable(text)
  return isVersion ? text : undefined
}
