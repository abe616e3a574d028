import type { Sql } from "../../database/types.ts"
import { type ListingLocale, languageOf, listingLocale, localesOf } from "../../lib/locales.ts"
import { auditOf, type ScannedStorefront, writtenIn } from "../audits/audit.ts"
import { auditState } from "../audits/storefront-audits.ts"
import type { LocaleTexts } from "../formulas/localisation-grid.ts"
import { readListingTexts } from "./listing-texts.ts"

interface KnownTexts {
  listings: LocaleTexts[]
  /** The source of the texts: pages of all storefronts, or of the tracked ones. Null if no page was read. */
  from: "audit" | "pages" | null
  readAt: Date | null
}

/**
 * Returns the name and subtitle of each locale that a page has shown. A page shows one locale: the storefront's first
 * locale, or the app's primary locale in another language. No page shows keyword fields, so they are never included.
 */
export async function readKnownTexts(sql: Sql, app: number, countries: readonly string[]): Promise<KnownTexts> {
  const { last } = await auditState(sql, app)
  if (last) return { listings: textsOf(last.rows, countries), from: "audit", readAt: last.finishedAt }
  const rows: ScannedStorefront[] = []
  let readAt: Date | null = null
  for (const country of countries) {
    const texts = await readListingTexts(sql, app, { platform: "ios", storefront: country })
    if (!texts) continue
    const { name, subtitle, description, seenAt } = texts
    const text = [name, subtitle, description].join("\n")
    const unknown = { screenshotsPhone: null, ratings: null }
    rows.push({ country, state: "sold", name, subtitle, text, writtenIn: writtenIn(description), ...unknown })
    if (readAt === null || seenAt > readAt) readAt = seenAt
  }
  return { listings: textsOf(rows, countries), from: rows.length > 0 ? "pages" : null, readAt }
}

/** Returns the developer of a store app. Null if unknown. */
export async function readDeveloper(sql: Sql, app: number): Promise<string | null> {
  const [row] = await sql<{ developer: string | null }[]>`
    select developer
    from store_app
    where id = ${app}`
  return row?.developer ?? null
}

/**
 * Returns one page per locale. The page of a tracked storefront takes precedence. A page in another language than the
 * storefront's shows the app's primary locale; it is used only if no storefront of that language was read.
 */
function textsOf(rows: readonly ScannedStorefront[], countries: readonly string[]): LocaleTexts[] {
  const found = new Map<ListingLocale, LocaleTexts>()
  const audited = auditOf(rows).filter(({ state, name }) => state === "sold" && name !== null)
  const placeOf = ({ country, localised }: (typeof audited)[number]) =>
    (localised ? 0 : 2) + (countries.includes(country) ? 0 : 1)
  for (const row of audited.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const locale = row.localised ? ownLocale(row) : primaryLocale(row, [...found.keys()])
    if (locale === null || found.has(locale)) continue
    found.set(locale, { locale, texts: { name: row.name ?? "", subtitle: row.subtitle ?? "" } })
  }
  return [...found.values()]
}

function ownLocale({ country, writtenIn: language }: ScannedStorefront): ListingLocale {
  const locales = localesOf(country)
  return locales.find((locale) => languageOf(locale) === language) ?? locales[0]
}

function primaryLocale({ writtenIn: language }: ScannedStorefront, found: ListingLocale[]): ListingLocale | null {
  if (language === null || found.some((locale) => languageOf(locale) === language)) return null
  return listingLocale(language) ?? null
}
