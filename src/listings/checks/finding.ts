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

/** The names of the fields in messages. */
export const LABELS: Readonly<Record<Field, string>> = {
  name: "name",
  subtitle: "subtitle",
  keywords: "keyword field",
  promotionalText: "promotional text",
  description: "description",
}

/**
 * error: the store refuses it, or its guidelines forbid it. warning: wastes characters, reduces reach or may be
 * rejected in review. hint: worth checking.
 */
export const SEVERITIES = ["error", "warning", "hint"] as const
export type Severity = (typeof SEVERITIES)[number]

/** Every code with its meaning. */
export const CODES = {
  too_long: "longer than the store allows",
  too_short: "a name of fewer than 2 characters",
  outer_space: "white space at the beginning or end",
  double_space: "more than one space between words",
  refused_character: "a pictograph, which App Store Connect rejects",
  invisible_character: "an invisible character",
  markup: "HTML, which the store shows as text",
  special_character: "a character in the keyword field that search treats as a space",
  keyword_space: "white space around a comma in the keyword field",
  empty_keyword: "two commas without a keyword between them",
  wrong_separator: "a wrong separator in the keyword field; only commas separate",
  repeated_word: "a word that occurs earlier in the same field",
  repeated_in_name: "a word that occurs in the name",
  repeated_in_subtitle: "a word that occurs in the subtitle",
  similar_word: "another form of an existing word: plural or accents",
  own_brand: "the name of the app or its developer, which search finds anyway",
  known_brand: "the name of a well-known app or company",
  rival_name: "the name of an app that ranks on the tracked keywords, or of a rival added by hand",
  rival_developer: "the developer of a rival app",
  apple_product: "an Apple product name",
  other_platform: "another platform or store",
  filler_word: "a filler that attracts no searches",
  stop_word: "a common word that nobody searches for",
  price_word: "a word that means free of charge",
  deal_word: "a word for discounts",
  price_amount: "a price",
  foreign_script: "text in a script that the locale does not use",
  mixed_script: "one word with letters of two alphabets that look alike",
  wrong_language: "text detected in another language than the locale's",
  locale_not_read: "the storefront shows listings of other locales",
  tracked_keyword_left_out: "a tracked keyword with words missing from name, subtitle and keywords",
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
