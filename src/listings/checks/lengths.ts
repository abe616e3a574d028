import { type Check, given, type Mark, markOf } from "./listing.ts"

/**
 * Checks lengths against the store's limits, in code points of the text in NFC.
 *
 * App Store Connect counts characters, not bytes, in every script: it accepted 91 Arabic characters of 168 bytes as
 * keywords (App-Store-Connect-CLI #1399), and counts a Chinese character as one (WordPress-iOS #17562). Code points and
 * UTF-16 units differ only outside the basic plane, where the store refuses the common characters (pictographs) anyway.
 * White space and line breaks are counted as given, so that a text is never reported to fit when it might not.
 */
export const lengths: Check = (listing) =>
  given(listing, "name", "subtitle", "keywords", "promotionalText", "description").flatMap((field): Mark[] => {
    const { label, limit, minimum } = field
    if (field.length > limit) {
      const message = `The ${label} has ${field.length} characters, ${field.length - limit} over the limit of ${limit}.`
      const beyond = { at: firstBeyond(field.text, limit), end: field.text.length }
      return [{ ...markOf(field, beyond, { code: "too_long", severity: "error", message }), waste: beyond }]
    }
    if (field.text.trim().length >= minimum) return []
    const message = `The ${label} needs at least ${minimum === 1 ? "1 character" : `${minimum} characters`}.`
    return [markOf(field, { at: 0, end: field.text.length }, { code: "too_short", severity: "error", message })]
  })

/** Returns the position after this many code points. */
function firstBeyond(text: string, points: number): number {
  let at = 0
  for (let passed = 0; passed < points; passed++) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1
  return at
}
