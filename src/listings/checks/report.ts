import { type ListingLocale, localesOf } from "../../lib/locales.ts"
import type { Background } from "./background.ts"
import { characters } from "./characters.ts"
import { coverageOf, leftOut } from "./coverage.ts"
import { readField } from "./field-text.ts"
import { fillers } from "./fillers.ts"
import { type Code, FIELDS, type Field, LIMITS, SEVERITIES, type Severity } from "./finding.ts"
import { languages } from "./languages.ts"
import { lengths } from "./lengths.ts"
import type { Check, FieldText, Listing, Mark } from "./listing.ts"
import { names } from "./names.ts"
import { prices } from "./prices.ts"
import { repeats } from "./repeats.ts"
import { scripts } from "./scripts.ts"
import { spaces } from "./spaces.ts"
import { vocabularyOf } from "./vocabulary.ts"

/** The checks are independent: none uses another's findings. */
const CHECKS: readonly Check[] = [
  lengths,
  characters,
  spaces,
  repeats,
  names,
  fillers,
  prices,
  scripts,
  languages,
  leftOut,
]

export type Texts = Partial<Record<Field, string>>

export interface Finding {
  code: Code
  severity: Severity
  /** Null for the listing as a whole. */
  field: Field | null
  /** The first 100 code points of the stretch, in the field's NFC spelling. */
  what: string
  /** Position in code points of that text. Null if the words are missing. */
  offset: number | null
  /** Code points that removing it would save. */
  characters: number
  message: string
}

/** Maximum number of findings per code and field. Further ones are only counted. */
export const MAX_SIMILAR = 50

/** Prepares a listing's texts for the checks. `language` is a key of WORD_LISTS. */
export function listingOf(texts: Texts, language: string, background: Background): Listing {
  const fields = FIELDS.flatMap((field) => {
    const text = texts[field]
    return text === undefined ? [] : [[field, readField(field, text, language)] as const]
  })
  return { fields: Object.fromEntries(fields), language, vocabulary: vocabularyOf(language), background }
}

/** The storefront and locale of a listing. */
export interface Place {
  storefront: string
  locale: ListingLocale
}

/** Returns all findings by field, then by position, most severe first. Time is linear in the length of the texts. */
export function checkListing(listing: Listing, place: Place) {
  const strange = unread(place)
  // A listing that the storefront does not read need not cover its tracked keywords.
  const checks = strange.length > 0 ? CHECKS.filter((check) => check !== leftOut) : CHECKS
  const marks = checks.flatMap((check) => check(listing)).toSorted(inOrder)
  const counted = new Map<string, number>()
  const listed = marks.filter(({ code, field }) => {
    const alike = (counted.get(`${code} ${field.field}`) ?? 0) + 1
    counted.set(`${code} ${field.field}`, alike)
    return alike <= MAX_SIMILAR
  })
  const { keywords } = listing.fields
  return {
    findings: [...strange, ...listed.map(findingOf)],
    findingsLeftOut: marks.length - listed.length,
    counts: Object.fromEntries(
      SEVERITIES.map((severity) => [
        severity,
        [...strange, ...marks].filter((finding) => finding.severity === severity).length,
      ]),
    ) as Record<Severity, number>,
    keywordRoomLost: keywords ? roomLost(keywords, marks) : null,
    coverage: coverageOf(listing),
  }
}

/**
 * Reports a locale that the storefront does not read. Apple falls back to the app's primary language when none of the
 * storefront's locales exists.
 */
function unread({ storefront, locale }: Place): Finding[] {
  const read = localesOf(storefront)
  if (read.includes(locale)) return []
  const message =
    `The storefront ${storefront} reads ${read.join(", ")}; ${locale} is shown there only as the primary language of ` +
    "an app without those."
  return [
    { code: "locale_not_read", severity: "hint", field: null, what: locale, offset: null, characters: 0, message },
  ]
}

function inOrder(a: Mark, b: Mark): number {
  return (
    FIELDS.indexOf(a.field.field) - FIELDS.indexOf(b.field.field) ||
    placeOf(a) - placeOf(b) ||
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
    (a.code < b.code ? -1 : a.code > b.code ? 1 : 0)
  )
}

/** Marks of missing words come last. */
function placeOf({ at }: Mark): number {
  return at < 0 ? Number.MAX_SAFE_INTEGER : at
}

function findingOf({ code, severity, field, at, end, absent, waste, message }: Mark): Finding {
  const { offsetOf, text } = field
  return {
    code,
    severity,
    field: field.field,
    what: [...(absent ?? text.slice(at, Math.min(end, at + 200)))].slice(0, 100).join(""),
    offset: absent === undefined ? offsetOf(at) : null,
    characters: waste ? offsetOf(waste.end) - offsetOf(waste.at) : 0,
    message,
  }
}

/**
 * Counts the wasted code points of the keyword field, each once. Excess length does not count. A keyword that is wasted
 * entirely also wastes a comma.
 */
function roomLost(field: FieldText, marks: readonly Mark[]): number {
  const lost = new Uint8Array(field.text.length)
  for (const { code, severity, field: of, waste } of marks)
    if (of === field && waste && severity !== "hint" && code !== "too_long") lost.fill(1, waste.at, waste.end)
  let [points, keywords] = [0, 0]
  for (const { from, to } of field.entries) {
    let isUseful = false
    for (let at = from; at < to; at++) {
      if (lost[at] === 0) isUseful = true
      else points += field.offsetOf(at + 1) - field.offsetOf(at)
    }
    if (!isUseful) keywords++
  }
  return points + Math.max(0, Math.min(keywords, field.entries.length - 1))
}

/** Returns a field's length against its limit, in code points. */
export function measured({ field, text, length }: FieldText) {
  const limit = LIMITS[field]
  return {
    length,
    limit,
    over: Math.max(0, length - limit),
    left: Math.max(0, limit - length),
    bytes: new TextEncoder().encode(text).length,
  }
}
