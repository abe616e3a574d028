/** The input of the rules. The rules read nothing else, so that the same text always gets the same result. */
export interface TextGround {
  /** Texts that may support a claim, a number, a link or a name. */
  sources: readonly string[]
  /** The requested language: a key of the word lists. */
  language: string
  /** Search terms whose words are allowed in addition to those of the sources. */
  terms?: readonly string[]
  /** The maximum number of code points. Omit for no limit. */
  most?: number
  /** The instructions in the model's prompt. The text must not repeat them. */
  orders?: string
  /** The original of a translation. Omit if the text is not a translation. */
  translated?: string
  /** True if the text adapts the original to another region of the same language. */
  sameLanguage?: boolean
  /** Names that a translation must keep. */
  names?: readonly string[]
}

export interface TextProblem {
  rule: RuleName
  /** The offending words as written. Empty if the whole text is at fault. */
  what: string
}

export const RULES = [
  "length",
  "language",
  "links",
  "personal_data",
  "numbers",
  "quantities",
  "promises",
  "stores",
  "told",
  "instructions",
  "superlatives",
  "prices",
  "names",
  "kept_marks",
  "lines",
  "proportion",
  "untranslated",
  "features",
] as const
export type RuleName = (typeof RULES)[number]

export type TextRule = (text: string, ground: TextGround) => TextProblem[]
