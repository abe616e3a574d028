import { LISTING_LOCALES, type ListingLocale, localesOf } from "../../lib/locales.ts"
import { auditOf } from "./audit.ts"
import type { AuditRow } from "./storefront-audits.ts"

interface LocaleToWrite {
  locale: ListingLocale
  /** Language and region, in the form of the API. */
  code: string
  /** Number of storefronts that sell the app and read the locale. */
  storefronts: number
  /**
   * Total ratings of the storefronts whose first locale is this one and whose page is in another language. Null if none
   * of them has a rating count.
   */
  unservedRatings: number | null
}

/**
 * Returns the locales that an audited app can be localised for. Locales whose audience now reads another language come
 * first.
 */
export function localesToWrite(rows: readonly AuditRow[]): LocaleToWrite[] {
  const sold = auditOf(rows).filter(({ state }) => state === "sold")
  const found = LISTING_LOCALES.map((locale): LocaleToWrite => {
    const reading = sold.filter(({ country }) => localesOf(country).includes(locale))
    const unserved = reading.flatMap(({ country, localised, ratings }) =>
      localised === false && localesOf(country)[0] === locale && ratings !== null ? [ratings] : [],
    )
    const unservedRatings = unserved.length > 0 ? unserved.reduce((sum, ratings) => sum + ratings, 0) : null
    return { locale, code: codeOf(locale), storefronts: reading.length, unservedRatings }
  })
  return found
    .filter(({ storefronts }) => storefronts > 0)
    .sort((a, b) => (b.unservedRatings ?? -1) - (a.unservedRatings ?? -1) || b.storefronts - a.storefronts)
}

/** Returns the API code of a locale. A locale without a region gets its language as the region. */
export function codeOf(locale: ListingLocale): string {
  const [language, region] = locale.split("-") as [string, string?]
  if (region === "Hans") return "zh-CN"
  return region === "Hant" ? "zh-TW" : `${language}-${region ?? language.toUpperCase()}`
}
