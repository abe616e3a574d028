import { type Field, LIMITS } from "./finding.ts"
import { type Check, given, type Mark, markOf } from "./listing.ts"

/**
 * Lengths against the store's limits, in code points of the text in NFC.
 *
 * App Store Connect counts characters, not bytes, in every script: it took 91 Arabic characters of 168 bytes as keywords
 * (App-Store-Connect-CLI #1399), and counts a Chinese character as one (WordPress-iOS #17562). A code point and a UTF-16 unit
 * differ only in characters beyond the basic plane, of which the store refuses the usual ones, pictographs, altogether.
 * White space and line breaks count as they were given: the answer never says that a text fits which might not.
 */
export const lengths: Check = (listing) =>
  given(listing, "name", "subtitle", "keywords", "promotionalText", "description").flatMap((field): Mark[] => {
    const limit = LIMITS[field.field]
    if (field.length > limit) {
      const message = `The ${LABELS[field.field]} has ${field.length} characters, ${field.length - limit} over the limit of ${limit}.`
      const beyond = { at: firstBeyond(field.text, limit), end: field.text.length }
      return [{ ...markOf(field, beyond, { code: "too_long", severity: "error", message }), waste: beyond }]
    }
    if (field.field !== "name" || field.text.trim().length >= 2) return []
    const message = "The name needs at least 2 characters."
    return [markOf(field, { at: 0, end: field.text.length }, { code: "too_short", severity: "error", message })]
  })

/** What a message calls a field. */
export const LABELS: Readonly<Record<Field, string>> = {
  name: "name",
  subtitle: "subtitle",
  keywords: "keyword field",
  promotionalText: "promotional text",
  description: "description",
}

/** Where the code point after so many stands. */
function firstBeyond(text: string, points: number): number {
  let at = 0
  for (let passed = 0; passed < points; passed++) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1
  return at
}
