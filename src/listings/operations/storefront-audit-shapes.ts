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
    storefronts: described(Count, "Scanned storefronts: all of the App Store."),
    sold: described(Count, "Storefronts with a page of the app."),
    notSold: described(Count, "Storefronts that do not list the app."),
    notRead: described(Count, `Storefronts that could not be read within ${SCAN_MINUTES} minutes.`),
    localised: described(Count, "Sold storefronts with a page in their own language."),
    notLocalised: described(Count, "Sold storefronts with a page in another language."),
    localisedUnknown: described(Count, "Sold storefronts with a page whose language could not be detected."),
    ratings: nullable(Count, "All ratings of the storefronts that show them. Null if none do."),
    ratingsNotLocalised: nullable(
      Count,
      "Ratings of storefronts that are not localised: the part of the audience that reads another language. Null " +
        "if ratings is null.",
    ),
    languages: described(
      v.array(
        v.strictObject({
          language: described(v.nullable(v.string()), "BCP 47 language. Null if not detected."),
          storefronts: described(Count, "Pages in this language."),
        }),
      ),
      "Number of pages per detected language, most frequent first. Null if not detected.",
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
      "sold: the page was read; not_sold: the store has no such page there; not_read: unknown.",
    ),
    readAt: nullable(Time, "Time of the storefront's reading. Null if not_read."),
    locales: described(v.array(ListingLocale), "Locales whose listings the storefront shows, its default first."),
    pageLanguage: nullable(v.string(), "BCP 47 language declared by the page. Its texts may be in another language."),
    textLanguage: nullable(
      v.string(),
      "Detected language of the description. Null if it is too short to detect, or there is no page.",
    ),
    localised: nullable(
      v.boolean(),
      "True if the description is in the language of the storefront's default locale, or, if the default is en-GB " +
        "beside others, of any of its locales. If the language cannot be detected: true if the text appears only in " +
        "storefronts of one language while others show another text. Null if unknown or there is no page. A page " +
        "shows one listing; what devices in other languages show is unknown.",
    ),
    sameTextAs: nullable(
      Storefront,
      "The first other row with the same name, subtitle and description. Null if there is none, or no page.",
    ),
    appName: nullable(v.string(), "Name on the page. Null if there is no page."),
    nameLength: nullable(Count, "Length of the name in characters, of at most 30. Null if there is no page."),
    subtitle: nullable(v.string(), "Null if not shown, or there is no page."),
    subtitleLength: nullable(Count, "Length of the subtitle in characters, of at most 30. Null if subtitle is null."),
    screenshotsPhone: nullable(Count, "Null if the page has no row for this device, or there is no page."),
    screenshotsPad: nullable(Count, "Like screenshotsPhone."),
    rating: nullable(v.number(), "Average rating. Null if unknown."),
    ratings: nullable(Count, "Null if unknown; 0 if nobody rated the app there."),
    price: nullable(v.number(), "In units of the currency; 0 means free. Null if unknown."),
    currency: nullable(v.string(), "ISO 4217 code. Null if unknown."),
    findings: described(
      v.array(v.picklist(AUDIT_FINDINGS)),
      "Possible problems: not_sold; not_read; not_localised; subtitle_missing; subtitle_short and name_short: " +
        `fewer than ${SHORT_BELOW} characters; screenshots_few: fewer than ${SHOWN_SCREENSHOTS} for the phone; ` +
        "no_ratings. Unknown values give no finding.",
    ),
  }),
)

type StorefrontAudit = AuditRow & AuditedStorefront

/** Returns the rows of a scan in the order of the table, and the summary. */
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
