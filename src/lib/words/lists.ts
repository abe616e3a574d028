import { EAST_ASIAN } from "./east-asian.ts"
import type { WordLists } from "./entry.ts"
import { GERMANIC } from "./germanic.ts"
import { INDIC } from "./indic.ts"
import { MIDDLE_EASTERN } from "./middle-eastern.ts"
import { OTHER_EUROPEAN } from "./other-european.ts"
import { ROMANCE } from "./romance.ts"
import { SLAVIC } from "./slavic.ts"
import { SOUTH_EAST_ASIAN } from "./south-east-asian.ts"

/** Word lists of every language of the App Store, by the language of the locale. */
export const WORD_LISTS: Readonly<Record<string, WordLists>> = {
  ...EAST_ASIAN,
  ...GERMANIC,
  ...INDIC,
  ...MIDDLE_EASTERN,
  ...OTHER_EUROPEAN,
  ...ROMANCE,
  ...SLAVIC,
  ...SOUTH_EAST_ASIAN,
}
