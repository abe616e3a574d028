import type { Code, Severity } from "./finding.ts"
import { quoted } from "./finding.ts"
import { type Check, type FieldText, given, type Mark, markOf } from "./listing.ts"

/**
 * Finds characters that App Store Connect refuses or that have no effect. It refuses pictographs ("has invalid
 * characters": grup #228, super-productivity #9608) and accepts plain symbols (★ ✓ ™). Joiners are accepted, because
 * some scripts need them.
 */
export const characters: Check = (listing) => [
  ...given(listing, "name", "subtitle", "keywords", "promotionalText", "description").flatMap((field) => [
    ...matches(field, PICTOGRAPHS, "refused_character", "error", "App Store Connect rejects pictographs such as"),
    ...(isOneLine(field)
      ? matches(field, UNSEEN, "invisible_character", "error", "App Store Connect rejects invisible characters:")
      : matches(field, UNSEEN, "invisible_character", "warning", "This invisible character counts toward the limit:")),
  ]),
  ...given(listing, "promotionalText", "description").flatMap((field) =>
    matches(field, MARKUP, "markup", "warning", "The store shows HTML as text:"),
  ),
  ...given(listing, "keywords").flatMap((field) =>
    matches(field, SPECIAL, "special_character", "hint", "Search treats a special character as a space:"),
  ),
]

export const PICTOGRAPHS = /[\p{Emoji_Presentation}\u{1F000}-\u{1FAFF}\u2700-\u2712\u2715-\u27BF]\ufe0f?/gu
export const UNSEEN = new RegExp(
  "\\u034f|" +
    "[\\p{Cc}\\p{Zl}\\p{Zp}\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e" +
    "\\u2060-\\u2064\\u2066-\\u2069\\u206a-\\u206f\\u115f\\u1160\\u3164\\ufeff\\uffa0]",
  "gu",
)
const MARKUP = /<\/?(?:a|b|br|div|em|h[1-6]|i|li|ol|p|span|strong|u|ul)(?: [^<>]{0,200})?\/?>/gi
const SPECIAL = /[#@*!?"“”$%^=_~<>()[\]{}|\\/®™©•…]/g

/** Returns a mark for each match. Line breaks in long texts do not count as invisible characters. */
export function matches(field: FieldText, pattern: RegExp, code: Code, severity: Severity, sentence: string): Mark[] {
  return [...field.text.matchAll(pattern)].flatMap(({ 0: found, index }) => {
    if (code === "invisible_character" && LINES.test(found) && !isOneLine(field)) return []
    const label = code === "invisible_character" ? named(found) : quoted(found)
    const stretch = { at: index, end: index + found.length }
    return [{ ...markOf(field, stretch, { code, severity, message: `${sentence} ${label}.` }), waste: stretch }]
  })
}

/**
 * Returns whether the field is a name or subtitle. App Store Connect refuses control characters, line breaks and other
 * invisible characters there.
 */
function isOneLine({ field }: FieldText): boolean {
  return field === "name" || field === "subtitle"
}

/** Line breaks and tabs are white space, which other checks cover. */
const LINES = /^[\n\r\t]$/

function named(character: string): string {
  return `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}`
}
