/** Returns the name of Tesseract's trained data for a locale. */
export function dataNameOf(locale: string): string | undefined {
  return NAMES[locale] ?? NAMES[locale.split("-")[0] as string]
}

/**
 * Returns the names of the trained data for a picture: the data of the picture's locales, and English, which most
 * pictures contain.
 */
export function dataFor(locales: readonly string[], available: ReadonlySet<string>): string[] {
  const names = locales.flatMap((locale) => dataNameOf(locale) ?? []).filter((name) => available.has(name))
  return [...new Set([...names.slice(0, MAX_LANGUAGES), ENGLISH])]
}

export const ENGLISH = "eng"
/** Maximum number of languages besides English, since each data set costs memory and time. */
const MAX_LANGUAGES = 1

const NAMES: Readonly<Record<string, string>> = {
  ar: "ara",
  bn: "ben",
  ca: "cat",
  cs: "ces",
  da: "dan",
  de: "deu",
  el: "ell",
  en: "eng",
  es: "spa",
  fi: "fin",
  fr: "fra",
  gu: "guj",
  he: "heb",
  hi: "hin",
  hr: "hrv",
  hu: "hun",
  id: "ind",
  it: "ita",
  ja: "jpn",
  kn: "kan",
  ko: "kor",
  ml: "mal",
  mr: "mar",
  ms: "msa",
  nl: "nld",
  no: "nor",
  or: "ori",
  pa: "pan",
  pl: "pol",
  pt: "por",
  ro: "ron",
  ru: "rus",
  sk: "slk",
  sl: "slv",
  sv: "swe",
  ta: "tam",
  te: "tel",
  th: "tha",
  tr: "tur",
  uk: "ukr",
  ur: "urd",
  vi: "vie",
  "zh-Hans": "chi_sim",
  "zh-Hant": "chi_tra",
}
