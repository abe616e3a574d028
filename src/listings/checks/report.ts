import { type ListingLocale, localesOf } from "../../lib/locales.ts"
import type { Background } from "./background.ts"
import { characters } from "./characters.ts"
import { coverageOf, leftOut } from "./coverage.ts"
import { type FieldRule, readField } from "./field-text.ts"
import { fillers } from "./fillers.ts"
import { type Code, FIELDS, type Field, LABELS, LIMITS, SEVERITIES, type Severity } from "./finding.ts"
import { languages } from "./languages.ts"
import { lengths } from "./lengths.ts"
import type { Check, FieldText, Listing, Mark } from "./listing.ts"
import { names } from "./names.ts"
import { prices } from "./prices.ts"
import { repeats } from "./repeats.ts"
import { scripts } from "./scripts.ts"
import { spaces } from "./spaces.ts"
import { vocabularyOf } from "./vocabulary.ts"

/** The checks are independent: no check uses the findings of another. */
export const CHECKS: readonly Check[] = [
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

/**
 * Prepares a listing's texts for the checks. `language` is a key of WORD_LISTS; `rules` are the App Store's unless
 * given.
 */
export function listingOf(
  texts: Texts,
  language: string,
  background: Background,
  rules: Partial<Record<Field, FieldRule>> = APP_STORE_RULES,
): Listing {
  const fields = FIELDS.flatMap((field) => {
    const text = texts[field]
    const rule = rules[field]
    return text === undefined || !rule ? [] : [[field, readField(field, text, language, rule)] as const]
  })
  return { fields: Object.fromEntries(fields), language, vocabulary: vocabularyOf(language), background }
}

export const APP_STORE_RULES = Object.fromEntries(
  FIELDS.map((field) => [field, { label: LABELS[field], limit: LIMITS[field], minimum: field === "name" ? 2 : 0 }]),
) as Record<Field, FieldRule>

/** The storefront and locale of a listing. */
export interface Place {
  storefront: string
  locale: ListingLocale
}

/** Returns all findings by field, then by position, most severe first. Time is linear in the length of the texts. */
export function checkListing(listing: Listing, place: Place) {
  const strange = unread(place)
  // If the storefront does not read the locale, the listing need not cover the storefront's tracked keywords.
  const checks = strange.length > 0 ? CHECKS.filter((check) => check !== leftOut) : CHECKS
  const { marks, findings } = runChecks(listing, checks)
  const { keywords } = listing.fields
  return {
    findings: [...strange, ...findings],
    findingsLeftOut: marks.length - findings.length,
    counts: countSeverities([...strange, ...marks]),
    keywordRoomLost: keywords ? roomLost(keywords, marks) : null,
    coverage: coverageOf(listing),
  }
}

/** Returns every mark of the checks, and the findings in the same order, at most MAX_SIMILAR per code and field. */
export function runChecks(listing: Listing, checks: readonly Check[]): { marks: Mark[]; findings: Finding[] } {
  const marks = checks.flatMap((check) => check(listing)).toSorted(inOrder)
  const counted = new Map<string, number>()
  const listed = marks.filter(({ code, field }) => {
    const alike = (counted.get(`${code} ${field.field}`) ?? 0) + 1
    counted.set(`${code} ${field.field}`, alike)
    return alike <= MAX_SIMILAR
  })
  return { marks, findings: listed.map(findingOf) }
}

export function countSeverities(findings: readonly { severity: Severity }[]): Record<Severity, number> {
  const counts = { error: 0, warning: 0, hint: 0 }
  for (const { severity } of findings) counts[severity]++
  return counts
}

/**
 * Reports a locale that the storefront does not read. Apple falls back to the app's primary language when none of the
 * storefront's locales exists.
 */
function unread({ storefront, locale }: Place): Finding[] {
  const read = localesOf(storefront)
  if (read.includes(locale)) return []
  const message =
    `The storefront ${storefront} reads ${read.join(", ")}. It shows ${locale} only if that is the primary ` +
    "language of an app without any of these."
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

/** Marks of missing words are sorted to the end. */
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
 * Counts the wasted code points of the keyword field, each code point once. Code points beyond the limit do not count.
 * A keyword that is wasted entirely also wastes a comma.
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
export function measured({ text, length, limit }: FieldText) {
  return {
    length,
    limit,
    over: Math.max(0, length - limit),
    left: Math.max(0, limit - length),
    bytes: new TextEncoder().encode(text).length,
  }
}
