import { isStorable } from "../../lib/text.ts"

/** Per title or text. The longest that a store accepts has 6,000 characters. */
export const LONGEST_TEXT = 20_000
export const LONGEST_VERSION = 100

/** Returns the text without characters that the database cannot store. One broken character does not fail a page. */
export function writtenIn(said: string): string {
  // A cut within a surrogate pair removes its first half too.
  return said
    .replaceAll("\0", "")
    .toWellFormed()
    .slice(0, LONGEST_TEXT)
    .replace(/[\ud800-\udbff]$/, "")
}

/** Returns a title. Undefined if it is missing or blank. */
export function titleIn(said: string | undefined): string | undefined {
  const title = said === undefined ? "" : writtenIn(said)
  return /\S/.test(title) ? title : undefined
}

/** Returns an app version. Undefined if it is invalid. */
export function versionIn(said: string | undefined): string | undefined {
  const isVersion = said !== undefined && said.length <= LONGEST_VERSION && /\S/.test(said) && isStorable(said)
  return isVersion ? said : undefined
}
