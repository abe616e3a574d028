import { type ListingLocale, languageOf, listingLocale, localesOf } from "../../src/lib/locales.ts"
import { STOREFRONTS } from "../../src/lib/storefronts.ts"
import { backgroundIn } from "../../src/listings/checks/background.ts"
import type { AppBackground, Listing } from "../../src/listings/checks/listing.ts"
import { checkListing, type Finding, listingOf, type Texts } from "../../src/listings/checks/report.ts"

export const NOTHING_KNOWN: AppBackground = { name: null, developer: null, rivals: [], tracked: [] }

export function readListing(texts: Texts, language: string, background: AppBackground): Listing {
  return listingOf(texts, language, backgroundIn(background, language))
}

/** Checks a listing in a locale, in a storefront that reads that locale. */
export function checked(texts: Texts, locale: string, background: Partial<AppBackground> = {}) {
  const listing = listingLocale(locale) as ListingLocale
  const storefront = STOREFRONTS.find((code) => localesOf(code).includes(listing)) as string
  return checkListing(readListing(texts, languageOf(listing), { ...NOTHING_KNOWN, ...background }), {
    storefront,
    locale: listing,
  })
}

/** Returns the findings as "code field: words". Returns all findings if no codes are given. */
export function found(
  texts: Texts,
  locale: string,
  background: Partial<AppBackground> = {},
  codes: string[] = [],
): string[] {
  return checked(texts, locale, background)
    .findings.filter(({ code }) => codes.length === 0 || codes.includes(code))
    .map(({ code, field, what }) => `${code} ${field}: ${what}`)
}

/** Returns the code points of a text in NFC. */
export const points = (text: string): string[] => [...text.normalize("NFC")]

/** Returns the part of a field's text to which a finding refers. */
export function named(texts: Texts, { field, offset, what }: Finding): string {
  const text = points(texts[field as keyof Texts] as string)
  return text.slice(offset as number, (offset as number) + [...what].length).join("")
}
