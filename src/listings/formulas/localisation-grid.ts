import { type ListingLocale, languageOf, localesOf } from "../../lib/locales.ts"
import { backgroundIn } from "../checks/background.ts"
import { fillers } from "../checks/fillers.ts"
import type { Code } from "../checks/finding.ts"
import { type FieldText, given, type Listing } from "../checks/listing.ts"
import { names } from "../checks/names.ts"
import { repeats } from "../checks/repeats.ts"
import { listingOf, runChecks } from "../checks/report.ts"

/** The fields whose words the App Store's search reads, in the order of their weight. */
export const SEARCHED_FIELDS = ["name", "subtitle", "keywords"] as const
type SearchedField = (typeof SEARCHED_FIELDS)[number]

/** The texts of a locale. A missing field is unknown, an empty one is known to be empty. */
export interface LocaleTexts {
  locale: ListingLocale
  texts: Partial<Record<SearchedField, string>>
}

/**
 * Why a word adds nothing. `unread`: no tracked storefront reads the word's locale. `repeated_across`: in each
 * storefront that reads the locale, an earlier locale already has the word. Otherwise the code of a listing check.
 */
type WasteCode = "unread" | "repeated_across" | Code

export interface GridWord {
  text: string
  field: SearchedField
  /** Null if the word counts. */
  waste: WasteCode | null
  /** The locale that already has a repeated word. */
  also: ListingLocale | null
}

export interface GridLocale {
  locale: ListingLocale
  /** The tracked storefronts that read the locale. */
  readBy: string[]
  /** Lengths are in code points. `length` is null if the field is not known. */
  fields: { field: SearchedField; text: string | null; length: number | null; limit: number }[]
  words: GridWord[]
}

interface GridCell {
  locale: ListingLocale
  isDefault: boolean
  /**
   * Number of words that the locale adds: no earlier locale of the storefront has them. Null if the locale's texts are
   * unknown.
   */
  adds: number | null
}

export interface LocalisationGrid {
  /**
   * First the locales with texts, in the order of the storefronts; then the other locales that these storefronts read.
   */
  locales: GridLocale[]
  storefronts: { country: string; cells: GridCell[]; words: number }[]
}

interface OwnNames {
  name: string | null
  developer: string | null
}

const WASTE_CODES: ReadonlySet<Code> = new Set<Code>([
  "repeated_word",
  "repeated_in_name",
  "repeated_in_subtitle",
  "similar_word",
  "own_brand",
  "filler_word",
  "stop_word",
])
const LIMIT: Record<SearchedField, number> = { name: 30, subtitle: 30, keywords: 100 }

/**
 * Returns how each locale's words count in each tracked storefront. A storefront's search reads all locales that its
 * people can choose (lib/locales.ts), so a word that occurs in two of these locales counts once.
 */
export function localisationGrid(
  listings: readonly LocaleTexts[],
  countries: readonly string[],
  ownNames: OwnNames,
): LocalisationGrid {
  const wanted = [...new Set(countries.flatMap(localesOf))]
  const placeOf = ({ locale }: LocaleTexts) => (wanted.includes(locale) ? wanted.indexOf(locale) : wanted.length)
  const ordered = listings.toSorted((a, b) => placeOf(a) - placeOf(b) || (a.locale < b.locale ? -1 : 1))
  const read = ordered.map((listing) => readLocale(listing, ownNames))
  const byLocale = new Map(read.map((locale) => [locale.locale, locale]))
  const unwritten = wanted.filter((locale) => !byLocale.has(locale))
  const storefronts = countries.map((country) => storefrontRow(country, byLocale))
  const readBy = (locale: ListingLocale) => countries.filter((country) => localesOf(country).includes(locale))
  return {
    locales: [
      ...read.map(({ locale, fields, words }) => ({
        locale,
        readBy: readBy(locale),
        fields,
        words: words.map(({ key, ...word }) => ({
          ...word,
          ...(word.waste === null && acrossLocales(locale, key, readBy(locale), byLocale)),
        })),
      })),
      ...unwritten.map((locale) => ({ locale, readBy: readBy(locale), fields: fieldsOf({}), words: [] })),
    ],
    storefronts,
  }
}

interface ReadLocale {
  locale: ListingLocale
  fields: GridLocale["fields"]
  words: (GridWord & { key: string })[]
}

function readLocale({ locale, texts }: LocaleTexts, ownNames: OwnNames): ReadLocale {
  const language = languageOf(locale)
  const listing = listingOf(texts, language, backgroundIn({ ...ownNames, rivals: [], tracked: [] }, language))
  return { locale, fields: fieldsOf(listing.fields), words: wordsIn(listing) }
}

function fieldsOf(fields: Listing["fields"]): GridLocale["fields"] {
  return SEARCHED_FIELDS.map((field) => {
    const text = fields[field]
    return { field, text: text?.text ?? null, length: text?.length ?? null, limit: LIMIT[field] }
  })
}

function wordsIn(listing: Listing): ReadLocale["words"] {
  const { marks } = runChecks(listing, [repeats, names, fillers])
  const wastes = marks.filter(({ code, at }) => at >= 0 && WASTE_CODES.has(code))
  const wasteOf = (field: FieldText, at: number, end: number) =>
    wastes.find((mark) => mark.field === field && mark.at < end && mark.end > at)?.code ?? null
  return given(listing, ...SEARCHED_FIELDS).flatMap((field) =>
    field.words.map(({ text, key, term, at, end }) => ({
      text,
      key,
      field: field.field as SearchedField,
      waste: wasteOf(field, at, end) ?? (listing.vocabulary.stop.has(term) ? ("stop_word" as const) : null),
      also: null,
    })),
  )
}

function acrossLocales(
  locale: ListingLocale,
  key: string,
  readBy: readonly string[],
  byLocale: ReadonlyMap<ListingLocale, ReadLocale>,
): Pick<GridWord, "waste" | "also"> | false {
  if (readBy.length === 0) return { waste: "unread", also: null }
  const earlier = readBy.map((country) => {
    const locales = localesOf(country)
    return locales
      .slice(0, locales.indexOf(locale))
      .find((other) => byLocale.get(other)?.words.some((word) => word.key === key && word.waste === null))
  })
  return earlier.every((found) => found !== undefined) && { waste: "repeated_across", also: earlier[0] ?? null }
}

function storefrontRow(country: string, byLocale: ReadonlyMap<ListingLocale, ReadLocale>) {
  const seen = new Set<string>()
  const cells = localesOf(country).map((locale, place): GridCell => {
    const read = byLocale.get(locale)
    if (!read) return { locale, isDefault: place === 0, adds: null }
    const before = seen.size
    for (const { key, waste } of read.words) if (waste === null) seen.add(key)
    return { locale, isDefault: place === 0, adds: seen.size - before }
  })
  return { country, cells, words: seen.size }
}
