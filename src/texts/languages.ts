/** Languages that texts are written in, the first when none is asked for. */
export const WRITING_LANGUAGES = ["en", "tr", "de", "es", "fr", "pt", "ru", "ja", "ko", "zh"] as const
export type WritingLanguage = (typeof WRITING_LANGUAGES)[number]

/** The key of one of them among the word lists. */
export function wordListOf(language: WritingLanguage): string {
  return language === "zh" ? "zh-Hans" : language
}

/** One of them by a locale's language; undefined where texts are not written in it. */
export function writingLanguage(language: string): WritingLanguage | undefined {
  const short = language.split("-")[0]
  return WRITING_LANGUAGES.find((one) => one === short)
}
