/** Languages in which texts are written. The first is the default. */
export const WRITING_LANGUAGES = ["en", "tr", "de", "es", "fr", "pt", "ru", "ja", "ko", "zh"] as const
export type WritingLanguage = (typeof WRITING_LANGUAGES)[number]

/** Returns the key of a language in the word lists. */
export function wordListOf(language: WritingLanguage): string {
  return language === "zh" ? "zh-Hans" : language
}

/** Returns the writing language of a locale. Undefined if it is not supported. */
export function writingLanguage(language: string): WritingLanguage | undefined {
  const short = language.split("-")[0]
  return WRITING_LANGUAGES.find((item) => item === short)
}
