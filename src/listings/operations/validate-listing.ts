import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import { AppCountry, textOrEmptyUpTo } from "../../lib/fields.ts"
import { type ListingLocale, languageOf, listingLocale, localesOf } from "../../lib/locales.ts"
import { keysOf } from "../../lib/objects.ts"
import { bounded, described, named } from "../../lib/schema.ts"
import { Count, ListingLocale as Locale, Storefront } from "../../tracking/shapes.ts"
import { backgroundIn } from "../checks/background.ts"
import { CODES, FIELDS, LIMITS, SEVERITIES } from "../checks/finding.ts"
import { guessLocale } from "../checks/guess-locale.ts"
import type { Listing } from "../checks/listing.ts"
import { checkListing, listingOf, MAX_SIMILAR, measured, type Texts } from "../checks/report.ts"
import { readSurroundings } from "../read/listing-surroundings.ts"

const MAX_KEYWORDS = 200

/** Maximum length of a text. A body of 64 KiB has no more characters. */
const MAX_CHARACTERS = 65_536

/** A language with an optional script and region, in either spelling. */
const LOCALE_PATTERN = "^[A-Za-z]{2,3}([_-][A-Za-z]{4})?([_-]([A-Za-z]{2}|\\d{3}))?$"

const LONGEST_LOCALE = "zho_Hans_419".length

const text = (description: string) => v.optional(described(textOrEmptyUpTo(MAX_CHARACTERS), description))

const Measured = named(
  "TextLength",
  v.strictObject({
    length: described(Count, "Unicode code points of the text in NFC, including white space and line breaks."),
    limit: described(Count, "Limit in App Store Connect."),
    over: described(Count, "Characters over the limit. 0 if it fits."),
    left: described(Count, "Characters left."),
    bytes: described(Count, "UTF-8 bytes of the text, for tools that count bytes. The store does not."),
  }),
)
const OptionalMeasured = v.nullable(Measured)

const Finding = named(
  "ListingFinding",
  v.strictObject({
    code: described(
      v.picklist(keysOf(CODES)),
      Object.entries(CODES)
        .map(([code, meaning]) => `${code}: ${meaning}`)
        .join("; "),
    ),
    severity: described(
      v.picklist(SEVERITIES),
      "error: the store rejects it or its guidelines forbid it explicitly; warning: it wastes space, may be " +
        "rejected, or makes the app harder to find; hint: worth checking.",
    ),
    field: described(v.nullable(v.picklist(FIELDS)), "Field of the finding. Null for the listing as a whole."),
    what: described(v.string(), "The exact words, at most 100 characters."),
    offset: described(
      v.nullable(Count),
      "Characters of the field (NFC) before the words. Null if they occur nowhere: an uncovered keyword, or the " +
        "locale.",
    ),
    characters: described(
      Count,
      "Characters saved by removing the words, including the adjacent comma or space. 0 if none.",
    ),
    message: described(v.string(), "The finding in one sentence."),
  }),
)

const Keyword = named(
  "ListingKeyword",
  v.strictObject({
    keyword: described(v.string(), "The keyword, trimmed. Empty between two commas."),
    offset: described(Count, "Characters of the field before the keyword."),
    words: described(v.array(v.string()), "Its words, as the store search splits them."),
  }),
)

const Covered = named(
  "CoveredTerm",
  v.strictObject({
    term: described(v.string(), "The tracked keyword."),
    covered: described(
      v.nullable(v.boolean()),
      "True if all its words occur in name, subtitle and keywords together. Null if words are missing and one of " +
        "the three was not given.",
    ),
    missing: described(
      v.array(v.string()),
      "Words that occur in none of the given fields. Stop words are not required.",
    ),
    variants: described(v.array(v.string()), "Words that occur only in another form: plural or accents."),
  }),
)

export const validateListing = operation({
  id: "validate_listing",
  method: "POST",
  path: "/apps/:appId/validate-listing",
  group: "Your apps",
  toolset: "page",
  summary: "Checks a draft of the app's App Store listing for problems.",
  description:
    "Checks lengths, wasted space in the keyword field, repetitions, brand, filler and price words, platform " +
    "names, script and language, and which tracked keywords the words do not cover. Only the given fields are " +
    "checked; pass an empty text for an empty field. A text over its limit is a finding, not an error. Writes " +
    "nothing.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    locale: v.optional(
      v.pipe(
        bounded(v.string(), { maxLength: LONGEST_LOCALE, pattern: LOCALE_PATTERN }),
        v.check((locale) => listingLocale(locale) !== undefined),
        v.description(
          "App Store locale of the listing, such as en-US, en_US or ja. Default: the storefront's locale detected " +
            "in the texts, else its first.",
        ),
      ),
    ),
    country: AppCountry,
    name: text(`Name, up to ${LIMITS.name} characters.`),
    subtitle: text(`Subtitle, up to ${LIMITS.subtitle} characters.`),
    keywords: text(`Keyword field, comma-separated, up to ${LIMITS.keywords} characters.`),
    promotionalText: text(`Promotional text, up to ${LIMITS.promotionalText} characters.`),
    description: text(`Description, up to ${LIMITS.description} characters.`),
  }),
  output: v.strictObject({
    country: Storefront,
    locale: described(Locale, "App Store locale used for the checks."),
    localeFrom: described(
      v.picklist(["input", "texts", "storefront"]),
      "Origin of the locale: the call, the texts, or the storefront's first locale.",
    ),
    storefrontLocales: described(v.array(Locale), "Locales whose listings the storefront shows, the default first."),
    fields: described(
      v.strictObject({
        name: described(OptionalMeasured, "The name."),
        subtitle: described(OptionalMeasured, "The subtitle."),
        keywords: described(OptionalMeasured, "The keyword field, including commas."),
        promotionalText: described(OptionalMeasured, "The promotional text."),
        description: described(OptionalMeasured, "The description."),
      }),
      "Length of each field. Null if not given.",
    ),
    counts: described(
      v.strictObject({
        error: described(Count, "Findings that the store rejects or forbids."),
        warning: described(Count, "Wasted space or a risk."),
        hint: described(Count, "Worth checking."),
      }),
      "Number of findings per severity, including those not listed.",
    ),
    findings: described(v.array(Finding), `By field, then by position; at most ${MAX_SIMILAR} per code and field.`),
    findingsLeftOut: described(Count, `Number of findings beyond the first ${MAX_SIMILAR} per code and field.`),
    keywordRoomLost: described(
      v.nullable(Count),
      "Characters of the keyword field that fixing errors and warnings would save, each counted once. Null if " +
        "keywords is not given.",
    ),
    keywords: described(
      v.nullable(v.array(Keyword)),
      `The first ${MAX_KEYWORDS} keywords of the field. Null if not given.`,
    ),
    coverage: described(
      v.strictObject({
        complete: described(v.boolean(), "True if name, subtitle and keywords were all given."),
        tracked: described(Count, "Keywords tracked in the storefront."),
        covered: described(Count, "Keywords that the words cover."),
        leftOut: described(Count, "Tracked keywords that these words do not cover."),
        unknown: described(Count, "Keywords whose coverage is unknown because a field was not given."),
        keywords: described(v.array(Covered), "Each tracked keyword, in its order; at most 1,000."),
      }),
      "Whether the words of name, subtitle and keywords cover the tracked keywords of that storefront.",
    ),
  }),
}).run(async ({ app, storefront, locale: requestedLocale, appId: _, country: __, ...given }, { sql }) => {
  const { locale, localeFrom } = localeFor(requestedLocale, storefront, given)
  const surroundings = await readSurroundings(sql, app, { platform: "ios", storefront })
  const background = backgroundIn(surroundings, languageOf(locale))
  const listing = listingOf(given, languageOf(locale), background)
  const { coverage, ...checked } = checkListing(listing, { storefront, locale })
  return {
    country: storefront,
    locale,
    localeFrom,
    storefrontLocales: [...localesOf(storefront)],
    fields: lengthsOf(listing),
    ...checked,
    keywords: keywordsOf(listing),
    coverage: {
      complete: given.name !== undefined && given.subtitle !== undefined && given.keywords !== undefined,
      tracked: coverage.length,
      covered: coverage.filter(({ covered }) => covered === true).length,
      leftOut: coverage.filter(({ covered }) => covered === false).length,
      unknown: coverage.filter(({ covered }) => covered === null).length,
      keywords: coverage,
    },
  }
})

function localeFor(requested: string | undefined, storefront: string, texts: Texts) {
  if (requested !== undefined)
    return { locale: listingLocale(requested) as ListingLocale, localeFrom: "input" as const }
  const all = FIELDS.map((field) => texts[field]?.slice(0, 1_000) ?? "").join("\n")
  const guessed = guessLocale(all, localesOf(storefront))
  if (guessed) return { locale: guessed, localeFrom: "texts" as const }
  return { locale: localesOf(storefront)[0], localeFrom: "storefront" as const }
}

function lengthsOf({ fields }: Listing) {
  const [name, subtitle, keywords, promotionalText, description] = FIELDS.map((field) => {
    const given = fields[field]
    return given ? measured(given) : null
  }) as [Length, Length, Length, Length, Length]
  return { name, subtitle, keywords, promotionalText, description }
}

type Length = ReturnType<typeof measured> | null

function keywordsOf({ fields: { keywords: field } }: Listing) {
  if (!field) return null
  return field.entries.slice(0, MAX_KEYWORDS).map(({ at, end, words }) => ({
    keyword: field.text.slice(at, end),
    offset: field.offsetOf(at),
    words: words.map(({ text: word }) => word),
  }))
}
