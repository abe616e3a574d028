import { OTHER_PLATFORMS } from "../../lib/words/products.ts"
import { wordsOf } from "../../listings/checks/field-text.ts"
import { findPhrases, phrasesOf } from "../../listings/checks/phrases.ts"
import type { TextProblem, TextRule } from "./check.ts"

/** Fails on the name of another platform or store, which Apple's guideline 2.3.10 forbids, unless a source has it. */
export const stores: TextRule = (text, { sources }): TextProblem[] => {
  const sourcePlatforms = new Set(sources.flatMap(platformsIn))
  return platformsIn(text)
    .filter((name) => !sourcePlatforms.has(name))
    .map((what) => ({ rule: "stores", what }))
}

const PLATFORMS = phrasesOf(OTHER_PLATFORMS)

function platformsIn(text: string): string[] {
  return findPhrases({ text, words: wordsOf(text, "en"), entries: [] }, PLATFORMS).map(({ phrase }) => phrase)
}
