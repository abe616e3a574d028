import { LISTING_LOCALES, languageOf, localesOf } from "../../lib/locales.ts"
import { normalForm } from "../../lib/normal-form.ts"
import { WORD_LISTS } from "../../lib/words/lists.ts"
import { guessLocale } from "../checks/guess-locale.ts"
import { lettersOf } from "../checks/scripts.ts"

export const STOREFRONT_STATES = ["sold", "not_sold", "not_read"] as const

export const AUDIT_FINDINGS = [
  "not_sold",
  "not_read",
  "not_localised",
  "subtitle_missing",
  "subtitle_short",
  "name_short",
  "screenshots_few",
  "no_ratings",
] as const
type AuditFinding = (typeof AUDIT_FINDINGS)[number]

/** Names and subtitles may have 30 characters. Below half of that, they leave search words unused. */
export const SHORT_BELOW = 15
/** Number of screenshots that search results show. */
export const SHOWN_SCREENSHOTS = 3

/** The result of a scan in one storefront. A value is null if the page does not show it or was not read. */
export interface ScannedStorefront {
  country: string
  state: (typeof STOREFRONT_STATES)[number]
  name: string | null
  subtitle: string | null
  text: string | null
  /** The language of the description (writtenIn). */
  writtenIn: string | null
  screenshotsPhone: number | null
  ratings: number | null
}

export interface AuditedStorefront {
  /** Null if it cannot be determined. */
  localised: boolean | null
  /** The first other storefront, in the given order, whose description is exactly the same. Null if there is none. */
  sameTextAs: string | null
  findings: AuditFinding[]
}

/**
 * Returns the language of a description, from its stop words and letters. Null if it cannot be determined. Takes 2 ms.
 */
export function writtenIn(description: string | null): string | null {
  if (description === null || (description.match(/\p{L}/gu)?.length ?? 0) < MIN_LETTERS) return null
  const read = normalForm(description.slice(0, READ), "NFC")
  const letters = lettersOf(read)
  const near = ONE_OF_EACH.filter((locale) =>
    WORD_LISTS[languageOf(locale)]?.scripts.some((script) => letters.has(script)),
  )
  const locale = guessLocale(read, near)
  return locale && languageOf(locale)
}

const MIN_LETTERS = 80
const READ = 400
const ONE_OF_EACH = LISTING_LOCALES.filter(
  (locale, place) => LISTING_LOCALES.findIndex((other) => languageOf(other) === languageOf(locale)) === place,
)

/**
 * Returns the languages that a page may be in. If the first locale is British English and others follow, British
 * English is only the store's default, and any of the languages is accepted.
 */
export function languagesRead(storefront: string): string[] {
  const [first, ...alternatives] = localesOf(storefront)
  return [...new Set([first!, ...(first === "en-GB" ? alternatives : [])].map(languageOf))]
}

/**
 * Audits each storefront. A page is localised according to the language of its description. If that is unknown,
 * storefronts with the same text are compared: if they all read one common language, the text is in that language.
 */
export function auditOf<Scanned extends ScannedStorefront>(rows: readonly Scanned[]): (Scanned & AuditedStorefront)[] {
  const byText = Map.groupBy(
    rows.filter(({ text }) => text !== null),
    ({ text }) => text,
  )
  const spread = new Map([...byText].map(([text, same]) => [text, commonLanguages(same)]))
  return rows.map((row) => {
    const twins = byText.get(row.text)?.filter(({ country }) => country !== row.country) ?? []
    const localised = isLocalised(row, spread.get(row.text) ?? [], byText.size)
    return { ...row, localised, sameTextAs: twins[0]?.country ?? null, findings: findingsOf(row, localised) }
  })
}

function commonLanguages(rows: readonly ScannedStorefront[]): string[] {
  const [first = [], ...rest] = rows.map(({ country }) => languagesRead(country))
  return first.filter((language) => rest.every((read) => read.includes(language)))
}

function isLocalised({ country, text, writtenIn }: ScannedStorefront, common: string[], texts: number): boolean | null {
  if (text === null) return null
  if (writtenIn !== null) return languagesRead(country).includes(writtenIn)
  return common.length > 0 && texts > 1 ? true : null
}

function findingsOf(row: ScannedStorefront, localised: boolean | null): AuditFinding[] {
  if (row.state !== "sold") return [row.state]
  const found: [AuditFinding, boolean][] = [
    ["not_localised", localised === false],
    ["subtitle_missing", row.subtitle === null],
    ["subtitle_short", row.subtitle !== null && lengthOf(row.subtitle) < SHORT_BELOW],
    ["name_short", row.name !== null && lengthOf(row.name) < SHORT_BELOW],
    ["screenshots_few", row.screenshotsPhone !== null && row.screenshotsPhone < SHOWN_SCREENSHOTS],
    ["no_ratings", row.ratings === 0],
  ]
  return found.filter(([, is]) => is).map(([code]) => code)
}

export function lengthOf(text: string): number {
  return [...text].length
}
