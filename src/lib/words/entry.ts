/** What is known of a language's words, as data: lists apart by blanks, the words of a phrase joined by "_". */
export interface WordLists {
  /** Unicode scripts that its texts are written in, the one that most letters are of first. */
  scripts: readonly Script[]
  /** Lower-case letters that few other languages of that script have. */
  letters?: string
  /** Small words: articles, prepositions, conjunctions, pronouns. Nobody searches for them alone. */
  stop: string
  /** Words that say nothing of an app: "app" itself and praise. */
  filler: string
  /** Words for costing nothing. */
  free: string
  /** Words of bargains: sale, discount, cheap. */
  deal: string
}

export const SCRIPTS = [
  "Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari", "Bengali", "Gujarati", "Gurmukhi", "Kannada",
  "Malayalam", "Oriya", "Tamil", "Telugu", "Thai", "Han", "Hiragana", "Katakana", "Hangul",
] as const // biome-ignore format: a list to scan
export type Script = (typeof SCRIPTS)[number]
