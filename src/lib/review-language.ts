/** Returns the language of a storefront's reviews on Google Play. Storefronts with the same language share reviews. */
export function reviewLanguage(storefront: string): string {
  return LANGUAGES.get(storefront) ?? "en"
}

/**
 * Returns whether a language is spoken mostly in this storefront without being its default, as Hindi is in India.
 * Readings in this language can be imported and belong to that storefront only.
 */
export function isAlsoSpokenIn(language: string, storefront: string): boolean {
  return (
    language !== reviewLanguage(storefront) && new Intl.Locale(language).maximize().region === storefront.toUpperCase()
  )
}

// Never change an entry: stored reviews are found by this language.
const BY_LANGUAGE: Record<string, string> = {
  ar: "ae bh dz eg eh iq jo kw lb ly ma mr om ps qa sa sd tn ye",
  az: "az",
  bg: "bg",
  bn: "bd",
  bs: "ba",
  cs: "cz",
  da: "dk fo gl",
  de: "at ch de li",
  el: "cy gr",
  es: "ad ar bo cl co cr cu do ec es gq gt hn mx ni pa pe pr py sv uy ve",
  et: "ee",
  fa: "ir",
  fi: "fi",
  fr: "bf bi bj bl cd cf cg ci cm dj fr ga gf gn gp ht km lu mc mf mg ml mq nc ne pf pm re sc sn td tg wf yt",
  hr: "hr",
  hu: "hu",
  hy: "am",
  id: "id",
  is: "is",
  it: "it sm va",
  iw: "il",
  ja: "jp",
  ka: "ge",
  km: "kh",
  ko: "kr",
  lo: "la",
  lt: "lt",
  lv: "lv",
  mk: "mk",
  mn: "mn",
  ms: "bn my",
  my: "mm",
  nl: "aw be bq cw nl sr sx",
  no: "no sj",
  pl: "pl",
  "pt-BR": "br",
  "pt-PT": "ao cv gw mz pt st",
  ro: "md ro",
  ru: "by kg kz ru tj tm uz",
  sk: "sk",
  sl: "si",
  sq: "al xk",
  sr: "me rs",
  sv: "ax se",
  th: "th",
  tr: "tr",
  uk: "ua",
  vi: "vn",
  "zh-CN": "cn",
  "zh-HK": "hk mo",
  "zh-TW": "tw",
}

const LANGUAGES = new Map(
  Object.entries(BY_LANGUAGE).flatMap(([language, storefronts]) =>
    storefronts.split(" ").map((storefront) => [storefront, language] as const),
  ),
)

/** All languages that the reviews of some storefront have. */
export const reviewLanguages: ReadonlySet<string> = new Set(Object.keys(BY_LANGUAGE).concat("en"))
