/** What a text is judged by. A rule sees nothing else, so that the same text is always judged the same. */
export interface TextGround {
  /** Texts that a claim, a number, a link or a name may come from. */
  sources: readonly string[]
  /** The language asked for: a key of the word lists. */
  language: string
  /** Search terms whose words may be used as well. */
  terms?: readonly string[]
  /** The most code points; left out where nothing limits it. */
  most?: number
  /** What the writer was told: none of it may be repeated. */
  told?: string
  /** The text that this one is a translation of; left out where it is none. */
  translated?: string
  /** Whether that is of the same language: another of its regions. */
  sameLanguage?: boolean
  /** Names that a translation keeps. */
  names?: readonly string[]
}

export interface TextProblem {
  rule: RuleName
  /** The words at fault, as the text has them; empty where it is the text as a whole. */
  what: string
}

export const RULES = [
  "length", "language", "links", "personal_data", "numbers", "quantities", "promises", "stores", "told", "instructions",
  "superlatives", "prices", "names", "kept_marks", "lines", "proportion", "untranslated", "features",
] as const // biome-ignore format: a list to scan
export type RuleName = (typeof RULES)[number]

export type TextRule = (text: string, ground: TextGround) => TextProblem[]
