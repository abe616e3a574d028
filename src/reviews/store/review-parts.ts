import { isStorable } from "../../lib/text.ts"

/** Of a title or a text; the longest that a store lets somebody write has 6,000. */
export const LONGEST_TEXT = 20_000
export const LONGEST_VERSION = 100

/** As it stands but for what no database holds: a page is not lost for one character that was cut apart. */
export function writtenIn(said: string): string {
  // what is cut within a character loses it
  return said
    .replaceAll("\0", "")
    .toWellFormed()
    .slice(0, LONGEST_TEXT)
    .replace(/[\ud800-\udbff]$/, "")
}

/** A title; undefined where there is none, or a blank one. */
export function titleIn(said: string | undefined): string | undefined {
  const title = said === undefined ? "" : writtenIn(said)
  return /\S/.test(title) ? title : undefined
}

/** A version of the app; undefined for what is none. */
export function versionIn(said: string | undefined): string | undefined {
  const isVersion = said !== undefined && said.length <= LONGEST_VERSION && /\S/.test(said) && isStorable(said)
  return isVersion ? said : undefined
}
