import type { RuleName, TextGround, TextProblem, TextRule } from "./check.ts"
import { features } from "./features.ts"
import { instructions } from "./instructions.ts"
import { language } from "./language.ts"
import { length } from "./length.ts"
import { links } from "./links.ts"
import { names } from "./names.ts"
import { numbers } from "./numbers.ts"
import { personalData } from "./personal-data.ts"
import { prices } from "./prices.ts"
import { promises } from "./promises.ts"
import { promptEcho } from "./prompt-echo.ts"
import { quantities } from "./quantities.ts"
import { stores } from "./stores.ts"
import { superlatives } from "./superlatives.ts"
import { lines, preservedMarks, proportion, untranslated } from "./translation.ts"

const BY_NAME: Readonly<Record<RuleName, TextRule>> = {
  length,
  language,
  links,
  personal_data: personalData,
  numbers,
  quantities,
  promises,
  stores,
  told: promptEcho,
  instructions,
  superlatives,
  prices,
  names,
  kept_marks: preservedMarks,
  lines,
  proportion,
  untranslated,
  features,
}

/** The rules for each kind of text. Only a few rules apply to a quote, because a quote has a reviewer's own words. */
const HELD_TO = {
  quote: ["personal_data", "links", "instructions"],
  sentence: ["length", "language", "links", "personal_data", "numbers", "quantities", "told", "instructions"],
  reply: [
    "length",
    "language",
    "links",
    "personal_data",
    "numbers",
    "prices",
    "promises",
    "stores",
    "told",
    "instructions",
  ],
  listing: [
    "length",
    "language",
    "links",
    "personal_data",
    "numbers",
    "prices",
    "superlatives",
    "stores",
    "told",
    "instructions",
    "features",
  ],
  translation: [
    "length",
    "language",
    "links",
    "personal_data",
    "kept_marks",
    "names",
    "lines",
    "proportion",
    "untranslated",
    "stores",
    "told",
    "instructions",
  ],
} as const satisfies Record<string, readonly RuleName[]>

/** Returns all problems of a text, in the order of its kind's rules. Empty if the text may be shown. */
export function problemsOf(kind: keyof typeof HELD_TO, text: string, ground: TextGround): TextProblem[] {
  return HELD_TO[kind].flatMap((rule) => BY_NAME[rule](text, ground))
}

/** Kinds of parts that may be left out of an answer. */
export const WRITTEN_PARTS = ["quote", "sentence", "theme", "keyword", "field", "record", "caption"] as const
/** Reasons for leaving a part out that are not rules. */
export const OTHER_RULES = ["not_in_its_text", "unknown_handle", "no_quote_left", "excluded", "listing_check"] as const

/** Parts that were left out of an answer, by rule. */
export interface Omission {
  what: (typeof WRITTEN_PARTS)[number]
  rule: RuleName | (typeof OTHER_RULES)[number]
  count: number
}

/** Counts omitted parts by kind and rule. */
export function createOmissions() {
  const counted = new Map<string, Omission>()
  return {
    add(what: Omission["what"], rule: Omission["rule"], count = 1): void {
      const key = `${what} ${rule}`
      const existing = counted.get(key)
      if (existing) existing.count += count
      else counted.set(key, { what, rule, count })
    },
    list: (): Omission[] => [...counted.values()],
  }
}

export type OmissionCounter = ReturnType<typeof createOmissions>

/** Adds up the omissions of several texts. */
export function sumOmissions(all: readonly Omission[]): Omission[] {
  const omissions = createOmissions()
  for (const { what, rule, count } of all) omissions.add(what, rule, count)
  return omissions.list()
}
