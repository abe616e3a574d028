/**
 * 39 locales, and 11 more since March 2026. Sources: Apple's list of "locale shortcodes", and fastlane #29959 and
 * #29962.
 */
export const LISTING_LOCALES = [
  "ar-SA",
  "bn-BD",
  "ca",
  "cs",
  "da",
  "de-DE",
  "el",
  "en-AU",
  "en-CA",
  "en-GB",
  "en-US",
  "es-ES",
  "es-MX",
  "fi",
  "fr-CA",
  "fr-FR",
  "gu-IN",
  "he",
  "hi",
  "hr",
  "hu",
  "id",
  "it",
  "ja",
  "kn-IN",
  "ko",
  "ml-IN",
  "mr-IN",
  "ms",
  "nl-NL",
  "no",
  "or-IN",
  "pa-IN",
  "pl",
  "pt-BR",
  "pt-PT",
  "ro",
  "ru",
  "sk",
  "sl-SI",
  "sv",
  "ta-IN",
  "te-IN",
  "th",
  "tr",
  "uk",
  "ur-PK",
  "vi",
  "zh-Hans",
  "zh-Hant",
] as const
export type ListingLocale = (typeof LISTING_LOCALES)[number]

/**
 * Returns the listing locale of a language tag: "de", "de-AT" and "de_DE" give de-DE, "zh_TW" gives zh-Hant. A region
 * without a listing locale gives the language's default.
 */
export function listingLocale(text: string): ListingLocale | undefined {
  const [, language, script, region] = SHAPE.exec(text.toLowerCase().replaceAll("_", "-")) ?? []
  if (language === undefined) return undefined
  const spoken = SAME_LANGUAGE[language] ?? language
  if (spoken === "zh") return chinese(script, region)
  const family = LISTING_LOCALES.filter((locale) => languageOf(locale) === spoken)
  const exact = family.find((locale) => locale.toLowerCase() === `${spoken}-${region}`)
  return exact ?? (region === undefined ? undefined : OTHER_REGIONS[spoken]?.(region)) ?? OWN[spoken] ?? family[0]
}

/** Returns the key of a locale in WORD_LISTS: its language, for Chinese with the script. */
export function languageOf(locale: ListingLocale): string {
  return locale.startsWith("zh") ? locale : (locale.split("-")[0] as string)
}

/**
 * Returns the locales whose listings a storefront shows, its default first.
 *
 * Source: the default and supported languages of each storefront in Apple's media API, and for the United States the
 * ten of the App Store's list. The storefronts of the eleven languages of 2026 are inferred from where they are spoken
 * (India, Pakistan, Slovenia).
 */
export function localesOf(storefront: string): readonly [ListingLocale, ...ListingLocale[]] {
  const [first = "en-GB", ...rest] = BY_STOREFRONT.get(storefront) ?? []
  return [first, ...rest]
}

const SHAPE = /^([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?$/

const SAME_LANGUAGE: Record<string, string> = { nb: "no", nn: "no", iw: "he", in: "id", cmn: "zh" }

const OWN: Record<string, ListingLocale> = { en: "en-US", es: "es-ES", fr: "fr-FR", pt: "pt-BR" }

const OTHER_REGIONS: Record<string, (region: string) => ListingLocale> = {
  en: (region) => (["ph", "pr", "gu", "as", "vi"].includes(region) ? "en-US" : region === "nz" ? "en-AU" : "en-GB"),
  es: () => "es-MX",
  fr: () => "fr-FR",
  pt: () => "pt-PT",
}

function chinese(script: string | undefined, region: string | undefined): ListingLocale {
  if (script !== undefined) return script === "hant" ? "zh-Hant" : "zh-Hans"
  return ["tw", "hk", "mo"].includes(region ?? "") ? "zh-Hant" : "zh-Hans"
}

const BY_LOCALES: Record<string, string> = {
  "en-US es-MX ar-SA ru zh-Hans fr-FR ko pt-BR vi zh-Hant": "us",
  "de-DE en-GB": "at de",
  "de-DE en-GB fr-FR it": "ch",
  "en-AU en-GB": "au nz",
  "en-CA fr-CA": "ca",
  "en-GB ar-SA": "ae bh iq jo kw ly om qa sa ye",
  "en-GB cs": "cz",
  "en-GB da": "dk",
  "en-GB el": "gr",
  "en-GB el tr": "cy",
  "en-GB es-MX": "bz",
  "en-GB fi": "fi",
  "en-GB fr-FR": "bf bj cd cg gw gy kh la mg ml mu ne rw sc sn td tt vu",
  "en-GB fr-FR ar-SA": "dz eg lb ma mr tn",
  "en-GB fr-FR de-DE": "lu",
  "en-GB fr-FR nl-NL": "be",
  "en-GB he": "il",
  "en-GB hi bn-BD gu-IN kn-IN ml-IN mr-IN or-IN pa-IN ta-IN te-IN ur-PK": "in",
  "en-GB hr": "ba hr me rs",
  "en-GB hu": "hu",
  "en-GB id": "id",
  "en-GB ms": "my",
  "en-GB nl-NL": "sr",
  "en-GB no": "no",
  "en-GB pl": "pl",
  "en-GB ro": "ro",
  "en-GB sk": "sk",
  "en-GB sl-SI": "si",
  "en-GB th": "th",
  "en-GB tr": "tr",
  "en-GB uk ru": "ua",
  "en-GB ur-PK": "pk",
  "en-GB vi": "vn",
  "en-GB zh-Hans": "sg",
  "es-ES en-GB ca": "es",
  "es-MX en-GB": "ar bo cl co cr do ec gt hn mx ni pa pe py sv uy ve",
  "fr-FR en-GB": "ci cm fr ga",
  "it en-GB": "it",
  "ja en-US": "jp",
  "ko en-GB": "kr",
  "nl-NL en-GB": "nl",
  "pt-BR en-GB": "br",
  "pt-PT en-GB": "pt",
  "ru en-GB uk": "ru",
  "sv en-GB": "se",
  "zh-Hans en-GB": "cn",
  "zh-Hant en-GB": "hk mo tw",
}

const BY_STOREFRONT = new Map(
  Object.entries(BY_LOCALES).flatMap(([locales, storefronts]) =>
    storefronts.split(" ").map((storefront) => [storefront, locales.split(" ") as ListingLocale[]] as const),
  ),
)
