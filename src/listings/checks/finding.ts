export const FIELDS = ["name", "subtitle", "keywords", "promotionalText", "description"] as const
export type Field = (typeof FIELDS)[number]

/** Limits of App Store Connect in code points. */
export const LIMITS: Readonly<Record<Field, number>> = {
  name: 30,
  subtitle: 30,
  keywords: 100,
  promotionalText: 170,
  description: 4_000,
}

/** error: refused, or forbidden by the guidelines. warning: costs characters, reach or a review. hint: worth a look. */
export const SEVERITIES = ["error", "warning", "hint"] as const
export type Severity = (typeof SEVERITIES)[number]

/** Every code with its meaning. */
export const CODES = {
  too_long: "longer than the store takes",
  too_short: "a name of fewer than 2 characters",
  outer_space: "white space at the beginning or end",
  double_space: "more white space between words than one blank",
  refused_character: "a pictograph, which App Store Connect refuses",
  invisible_character: "a character nobody sees",
  markup: "HTML, which the store shows as text",
  special_character: "a character in the keyword field that search takes for a blank",
  keyword_space: "white space around a comma of the keyword field",
  empty_keyword: "two commas with no keyword between them",
  wrong_separator: "a character in the keyword field that separates nothing; only commas do",
  repeated_word: "a word that the same field holds already",
  repeated_in_name: "a word that the name holds already",
  repeated_in_subtitle: "a word that the subtitle holds already",
  similar_word: "another form of a word that is there already: plural or accents",
  own_brand: "the app's or its maker's own name, which search knows already",
  known_brand: "the name of a well-known app or company",
  rival_name: "the name of an app that ranks on the tracked keywords, or of a rival named by hand",
  rival_developer: "the maker of such an app",
  apple_product: "a product name of Apple's",
  other_platform: "another platform or store",
  filler_word: "a word that says nothing of the app",
  stop_word: "a small word that nobody searches for",
  price_word: "a word for costing nothing",
  deal_word: "a word of bargains",
  price_amount: "an amount of money",
  foreign_script: "text in a script the locale is not written in",
  mixed_script: "one word with letters of two alphabets that look alike",
  wrong_language: "text that reads like another language than the locale's",
  locale_not_read: "the storefront reads listings of other locales",
  tracked_keyword_left_out: "a tracked keyword whose words are not all in name, subtitle and keywords",
} as const
export type Code = keyof typeof CODES

export interface Stretch {
  at: number
  end: number
}

/** Quotes words for a message, shortened to 40 characters. */
export function quoted(text: string): string {
  const points = [...text.slice(0, 200)]
  return `"${points.length > 40 ? `${points.slice(0, 39).join("")}…` : text}"`
}
