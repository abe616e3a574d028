import { foldText } from "../../lib/matching.ts"
import type { Background } from "../../listings/checks/background.ts"
import { fillers } from "../../listings/checks/fillers.ts"
import { names } from "../../listings/checks/names.ts"
import { prices } from "../../listings/checks/prices.ts"
import { listingOf } from "../../listings/checks/report.ts"
import { MAX_WORDS } from "../../listings/formulas/name-phrases.ts"
import { problemsOf } from "../checks/checker.ts"

/** Maximum length of a keyword in a script without spaces. Anything longer is a sentence. */
const MAX_UNSPACED = 12

interface ExclusionGround {
  language: string
  background: Background
  /** Keywords that are tracked or buried. */
  taken: readonly string[]
}

/**
 * Returns a function that is true for keywords that may not be suggested: keywords that are tracked, buried or too
 * long, contain a name or a price, or have only filler words.
 */
export function exclusionOf({ language, background, taken }: ExclusionGround): (term: string) => boolean {
  const takenTerms = new Set(taken.map(foldText))
  return (term) => {
    const words = term.split(" ")
    const tooLong =
      words.length > MAX_WORDS || words.some((word) => UNSPACED.test(word) && [...word].length > MAX_UNSPACED)
    if (tooLong || takenTerms.has(foldText(term))) return true
    if (problemsOf("quote", term, { sources: [], language }).length > 0) return true
    const listing = listingOf({ keywords: term }, language, background)
    if (names(listing).length > 0 || prices(listing).length > 0) return true
    const idle = new Set(
      fillers(listing).flatMap(({ field, at, end }) => field.words.filter((item) => item.at >= at && item.end <= end)),
    )
    return listing.fields.keywords!.words.every((word) => idle.has(word))
  }
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
