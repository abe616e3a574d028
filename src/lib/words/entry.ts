/** Word lists of a language. Words are separated by blanks, and the words of a phrase are joined by "_". */
export interface WordLists {
  /** Unicode scripts of the language, the most frequent first. */
  scripts: readonly Script[]
  /** Lower-case letters that few other languages of that script have. */
  letters?: string
  /** Stop words: articles, prepositions, conjunctions, pronouns. Nobody searches for a single stop word. */
  stop: string
  /** Words that do not describe an app: "app" itself, and praise. */
  filler: string
  /** Words that mean free of charge. */
  free: string
  /** Words of bargains: sale, discount, cheap. */
  deal: string
}

export const SCRIPTS = [
  "Latin",
  "Cyrillic",
  "Greek",
  "Arabic",
  "Hebrew",
  "Devanagari",
  "Bengali",
  "Gujarati",
  "Gurmukhi",
  "Kannada",
  "Malayalam",
  "Oriya",
  "Tamil",
  "Telugu",
  "Thai",
  "Han",
  "Hiragana",
  "Katakana",
  "Hangul",
] as const
export type Script = (typeof SCRIPTS)[number]
