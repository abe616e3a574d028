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

/** The limit of a 64 KiB body. */
const MAX_CHARACTERS = 65_536

/** A language with an optional script and region, in either spelling. */
const LOCALE_PATTERN = "^[A-Za-z]{2,3}([_-][A-Za-z]{4})?([_-]([A-Za-z]{2}|\\d{3}))?$"

const LONGEST_LOCALE = "zho_Hans_419".length

const text = (description: string) => v.optional(described(textOrEmptyUpTo(MAX_CHARACTERS), description))

const Measured = named(
  "TextLength",
  v.strictObject({
    length: described(
      Count,
      "In characters: Unicode code points of the text in NFC, white space and line breaks included.",
    ),
    limit: described(Count, "The most that App Store Connect takes."),
    over: described(Count, "Characters over the limit; 0 when it fits."),
    left: described(Count, "Characters still free."),
    bytes: described(Count, "The same text in UTF-8. The store does not count bytes; for tools that do."),
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
      "error = the store refuses it, or its guidelines forbid it in so many words; warning = it costs room, may be refused, or keeps people from finding the app; hint = worth a look.",
    ),
    field: described(v.nullable(v.picklist(FIELDS)), "Where it stands; null = the listing as a whole."),
    what: described(v.string(), "The exact words, their first 100 characters."),
    offset: described(
      v.nullable(Count),
      "The characters of the field, in NFC, before those words. Null = they stand nowhere: a tracked keyword left out, or the locale.",
    ),
    characters: described(
      Count,
      "Characters that would be saved without it, with the comma or blank that goes too; 0 = none.",
    ),
    message: described(v.string(), "One sentence for people."),
  }),
)

const Keyword = named(
  "ListingKeyword",
  v.strictObject({
    keyword: described(v.string(), "Without the white space around it; empty between two commas."),
    offset: described(Count, "The characters of the field before it."),
    words: described(v.array(v.string()), "Its words, as search takes them."),
  }),
)

const Covered = named(
  "CoveredTerm",
  v.strictObject({
    term: described(v.string(), "The tracked keyword."),
    covered: described(
      v.nullable(v.boolean()),
      "All its words stand in name, subtitle and keywords together. Null = unknown: words are missing, and one of the three was not given.",
    ),
    missing: described(
      v.array(v.string()),
      "Words that stand in none of the fields given. Small words are not needed.",
    ),
    variants: described(v.array(v.string()), "Words that stand there in another form alone: plural or accents."),
  }),
)

export const validateListing = operation({
  id: "validate_listing",
  method: "POST",
  path: "/apps/:appId/validate-listing",
  group: "Your apps",
  toolset: "page",
  summary: "What is wrong with a draft of the app's App Store listing, before the store says so.",
  description:
    "Checks lengths, room lost in the keyword field, repeats, brand, filler and price words, platform names, script and language, and which tracked keywords cannot be made of the words. Only the fields given are checked; give an empty text for a field that is empty. A text over its limit is a finding, not an error. Writes nothing.",
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
          "The listing's locale, such as en-US, en_US or ja: a language of the App Store. Left out: the locale of the storefront that the texts read like, or else its first.",
        ),
      ),
    ),
    country: AppCountry,
    name: text(`The name, up to ${LIMITS.name} characters.`),
    subtitle: text(`The subtitle, up to ${LIMITS.subtitle} characters.`),
    keywords: text(`The keyword field, comma-separated, up to ${LIMITS.keywords} characters.`),
    promotionalText: text(`The promotional text, up to ${LIMITS.promotionalText} characters.`),
    description: text(`The description, up to ${LIMITS.description} characters.`),
  }),
  output: v.strictObject({
    country: Storefront,
    locale: described(Locale, "The App Store locale that the texts were checked for."),
    localeFrom: described(
      v.picklist(["input", "texts", "storefront"]),
      "Who said so: the call, the texts themselves, or the storefront's first locale for want of both.",
    ),
    storefrontLocales: described(v.array(Locale), "The locales whose listings the storefront reads, its first first."),
    fields: described(
      v.strictObject({
        name: described(OptionalMeasured, "Of the name."),
        subtitle: described(OptionalMeasured, "Of the subtitle."),
        keywords: described(OptionalMeasured, "Of the keyword field, commas included."),
        promotionalText: described(OptionalMeasured, "Of the promotional text."),
        description: described(OptionalMeasured, "Of the description."),
      }),
      "The length of each field; null = not given.",
    ),
    counts: described(
      v.strictObject({
        error: described(Count, "Refused or forbidden."),
        warning: described(Count, "Room lost, or a risk."),
        hint: described(Count, "Worth a look."),
      }),
      "How many findings there are of each severity, those left out included.",
    ),
    findings: described(v.array(Finding), `By field, then by place; of one code in one field at most ${MAX_SIMILAR}.`),
    findingsLeftOut: described(Count, `Findings beyond those ${MAX_SIMILAR}.`),
    keywordRoomLost: described(
      v.nullable(Count),
      "Characters of the keyword field that errors and warnings would save, each counted once. Null = no keywords given.",
    ),
    keywords: described(
      v.nullable(v.array(Keyword)),
      `The first ${MAX_KEYWORDS} keywords of the field; null = not given.`,
    ),
    coverage: described(
      v.strictObject({
        complete: described(v.boolean(), "Name, subtitle and keywords were all given, so that nothing is unknown."),
        tracked: described(Count, "Keywords tracked in the storefront."),
        covered: described(Count, "Of them, those that can be made of the words."),
        leftOut: described(Count, "Of them, those that cannot."),
        unknown: described(Count, "Of them, those of which it is unknown: a field was not given."),
        keywords: described(v.array(Covered), "Each tracked keyword, in its order; at most 1,000."),
      }),
      "Whether the app's tracked keywords of that storefront can be made of the words of name, subtitle and keywords.",
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
