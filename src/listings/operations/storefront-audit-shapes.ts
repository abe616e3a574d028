import * as v from "valibot"
import { localesOf } from "../../lib/locales.ts"
import { described, named } from "../../lib/schema.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { Count, ListingLocale, Storefront, Time } from "../../tracking/shapes.ts"
import {
  AUDIT_FINDINGS,
  type AuditedStorefront,
  auditOf,
  lengthOf,
  SHORT_BELOW,
  SHOWN_SCREENSHOTS,
  STOREFRONT_STATES,
} from "../audits/audit.ts"
import { type AuditRow, SCAN_MINUTES } from "../audits/storefront-audits.ts"

export const nullable = <S extends v.GenericSchema>(schema: S, description: string) =>
  described(v.nullable(schema), description)

export const Summary = named(
  "AuditSummary",
  v.strictObject({
    storefronts: described(Count, "Storefronts that were looked at: all of the App Store."),
    sold: described(Count, "Storefronts whose page of the app was read."),
    notSold: described(Count, "Storefronts where the store says that it does not have the app."),
    notRead: described(Count, `Storefronts that could not be read within ${SCAN_MINUTES} minutes: nothing is known.`),
    localised: described(Count, "Of those sold: pages in a language of their storefront."),
    notLocalised: described(Count, "Of those sold: pages in another language."),
    localisedUnknown: described(Count, "Of those sold: pages whose language cannot be told."),
    ratings: nullable(Count, "All ratings of the storefronts that told them; null = none did."),
    ratingsNotLocalised: nullable(
      Count,
      "Of these, ratings of storefronts that are not localised: how much of the audience reads another language. Null as ratings.",
    ),
    languages: described(
      v.array(
        v.strictObject({
          language: described(v.nullable(v.string()), "BCP 47; null = cannot be told."),
          storefronts: described(Count, "Pages in it."),
        }),
      ),
      "In which language how many pages describe the app, the most shown first; null = cannot be told.",
    ),
  }),
)

export const Row = named(
  "StorefrontAudit",
  v.strictObject({
    country: Storefront,
    name: described(v.string(), "English name of the country."),
    state: described(
      v.picklist(STOREFRONT_STATES),
      "sold: its page was read; not_sold: the store has no such page there; not_read: nothing is known.",
    ),
    readAt: nullable(Time, "When the storefront said so; null = not_read."),
    locales: described(v.array(ListingLocale), "Locales whose listings the storefront reads, its default first."),
    pageLanguage: nullable(
      v.string(),
      "What the page calls its own language (BCP 47), which its texts need not be in.",
    ),
    textLanguage: nullable(
      v.string(),
      "The language of the description, told by its small words and letters; null = too short to tell, or no page.",
    ),
    localised: nullable(
      v.boolean(),
      "Whether the description is in the language of the storefront's default locale; where that is en-GB beside others, of any of its locales. Where its language cannot be told, true if the text is shown only where one language is read while other storefronts show another text. Null = cannot be told, or no page. A page shows one listing: what phones in another language are shown is not known.",
    ),
    sameTextAs: nullable(
      Storefront,
      "The first other row whose name, subtitle and description are the very same; null = none, or no page.",
    ),
    appName: nullable(v.string(), "As the page shows it; null = no page."),
    nameLength: nullable(Count, "Characters, of 30; null = no page."),
    subtitle: nullable(v.string(), "Null = the page shows none, or no page."),
    subtitleLength: nullable(Count, "Characters, of 30; null as subtitle."),
    screenshotsPhone: nullable(Count, "Null = the page has no row of them for this device, or no page."),
    screenshotsPad: nullable(Count, "As screenshotsPhone."),
    rating: nullable(v.number(), "Mean of its stars; null = not told."),
    ratings: nullable(Count, "Null = not told; 0 = nobody has rated it there."),
    price: nullable(v.number(), "In the currency's units, 0 = free; null = not told."),
    currency: nullable(v.string(), "ISO 4217; null = not told."),
    findings: described(
      v.array(v.picklist(AUDIT_FINDINGS)),
      `What is worth a look: not_sold; not_read; not_localised; subtitle_missing; subtitle_short and name_short: fewer than ${SHORT_BELOW} characters; screenshots_few: fewer than ${SHOWN_SCREENSHOTS} for the phone; no_ratings. Nothing follows from what is not known.`,
    ),
  }),
)

type StorefrontAudit = AuditRow & AuditedStorefront

/** Returns the table of a scan in its order, and its summary. */
export function tableOf(rows: readonly AuditRow[]): {
  summary: v.InferInput<typeof Summary>
  rows: v.InferInput<typeof Row>[]
} {
  const audited = auditOf(rows.toSorted(mostRatedFirst))
  return { summary: summaryShape(audited), rows: audited.map(rowShape) }
}

const PLACES = { sold: 0, not_read: 1, not_sold: 2 }

function mostRatedFirst(a: AuditRow, b: AuditRow): number {
  return PLACES[a.state] - PLACES[b.state] || (b.ratings ?? -1) - (a.ratings ?? -1) || (a.country < b.country ? -1 : 1)
}

function summaryShape(rows: readonly StorefrontAudit[]): v.InferInput<typeof Summary> {
  const sold = rows.filter(({ state }) => state === "sold")
  const rated = sold.filter(({ ratings }) => ratings !== null)
  const ratingsOf = (some: StorefrontAudit[]) => some.reduce((sum, { ratings }) => sum + (ratings ?? 0), 0)
  const isNot = ({ localised }: StorefrontAudit) => localised === false
  const languages = [...Map.groupBy(sold, ({ writtenIn }) => writtenIn)].map(([language, same]) => ({
    language,
    storefronts: same.length,
  }))
  return {
    storefronts: rows.length,
    sold: sold.length,
    notSold: rows.filter(({ state }) => state === "not_sold").length,
    notRead: rows.filter(({ state }) => state === "not_read").length,
    localised: sold.filter(({ localised }) => localised === true).length,
    notLocalised: sold.filter(isNot).length,
    localisedUnknown: sold.filter(({ localised }) => localised === null).length,
    ratings: rated.length > 0 ? ratingsOf(rated) : null,
    ratingsNotLocalised: rated.length > 0 ? ratingsOf(rated.filter(isNot)) : null,
    languages: languages.toSorted(
      (a, b) => b.storefronts - a.storefronts || ((a.language ?? "~") < (b.language ?? "~") ? -1 : 1),
    ),
  }
}

function rowShape(row: StorefrontAudit): v.InferInput<typeof Row> {
  const { country, state, readAt, language, writtenIn, localised, sameTextAs, name, subtitle, findings } = row
  const { screenshotsPhone, screenshotsPad, rating, ratings, price, currency } = row
  return {
    country,
    name: storefrontName(country),
    state,
    readAt,
    locales: [...localesOf(country)],
    pageLanguage: language,
    textLanguage: writtenIn,
    localised,
    sameTextAs,
    appName: name,
    nameLength: name === null ? null : lengthOf(name),
    subtitle,
    subtitleLength: subtitle === null ? null : lengthOf(subtitle),
    screenshotsPhone,
    screenshotsPad,
    rating,
    ratings,
    price,
    currency,
    findings,
  }
}
