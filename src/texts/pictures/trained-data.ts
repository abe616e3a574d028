/** Tesseract's name for what a locale is written in: that of its trained data. */
export function dataNameOf(locale: string): string | undefined {
  return NAMES[locale] ?? NAMES[locale.split("-")[0] as string]
}

/** The data to read a picture with: of the locales what there is, and English, which stands on most. */
export function dataFor(locales: readonly string[], known: ReadonlySet<string>): string[] {
  const own = locales.flatMap((locale) => dataNameOf(locale) ?? []).filter((name) => known.has(name))
  return [...new Set([...own.slice(0, MOST_OWN), ENGLISH])]
}

export const ENGLISH = "eng"
/** Each takes memory and time of its own. */
const MOST_OWN = 1

const NAMES: Readonly<Record<string, string>> = {
  ar: "ara", bn: "ben", ca: "cat", cs: "ces", da: "dan", de: "deu", el: "ell", en: "eng", es: "spa", fi: "fin", fr: "fra",
  gu: "guj", he: "heb", hi: "hin", hr: "hrv", hu: "hun", id: "ind", it: "ita", ja: "jpn", kn: "kan", ko: "kor", ml: "mal",
  mr: "mar", ms: "msa", nl: "nld", no: "nor", or: "ori", pa: "pan", pl: "pol", pt: "por", ro: "ron", ru: "rus", sk: "slk",
  sl: "slv", sv: "swe", ta: "tam", te: "tel", th: "tha", tr: "tur", uk: "ukr", ur: "urd", vi: "vie",
  "zh-Hans": "chi_sim", "zh-Hant": "chi_tra",
} // biome-ignore format: a table to scan
