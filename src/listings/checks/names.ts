import type { Code, Field, Severity } from "./finding.ts"
import { quoted } from "./finding.ts"
import { type Check, type FieldText, given, type Listing, type Mark, textOf, wasteMark } from "./listing.ts"
import { findPhrases, type Phrases, phrasesFrom } from "./phrases.ts"

/**
 * Reports names of products, apps and companies. App Review Guidelines 2.3.10: no names "of other mobile platforms or
 * alternative app marketplaces" in any metadata; 2.3.7: no field packed "with trademarked terms, popular app names".
 * Search already covers the app's own name and the developer's, so the keyword field need not repeat them.
 */
export const names: Check = (listing) => {
  const { platforms, apple, brands, rivals, makers } = listing.background.otherNames
  const products = [
    ...seek(listing, SHOWN, platforms, "other_platform", "error", "is another platform (guideline 2.3.10)"),
    ...seek(listing, TOLD, platforms, "other_platform", "warning", "is another platform (guideline 2.3.10)"),
    ...seek(listing, SHOWN, apple, "apple_product", "warning", "is an Apple product name, to be used sparingly"),
  ]
  const companies = [
    ...seek(listing, SHOWN, rivals, "rival_name", "warning", "is the name of a rival app (guideline 2.3.7)"),
    ...seek(listing, SHOWN, makers, "rival_developer", "warning", "is the developer of a rival app"),
    ...seek(
      listing,
      SHOWN,
      brands,
      "known_brand",
      "warning",
      "is a well-known name of another company (guideline 2.3.7)",
    ),
    ...seek(
      listing,
      ["keywords"],
      ownNames(listing),
      "own_brand",
      "warning",
      "is the name of the app or its developer, which search finds anyway",
    ),
  ]
  return [...products, ...apart(companies, products)]
}

/**
 * Leaves out marks that start inside a longer name: for example the company in "Google Play", or the developer in an
 * app's name.
 */
function apart(marks: readonly Mark[], longer: readonly Mark[]): Mark[] {
  const taken = new Map<FieldText, Uint8Array>()
  const cover = ({ field, at, end }: Mark) => {
    const units = taken.get(field) ?? new Uint8Array(field.text.length)
    taken.set(field, units.fill(1, at, end))
  }
  longer.forEach(cover)
  return marks.filter((mark) => {
    if (taken.get(mark.field)?.[mark.at]) return false
    cover(mark)
    return true
  })
}

const SHOWN: readonly Field[] = ["name", "subtitle", "keywords"]
const TOLD: readonly Field[] = ["promotionalText", "description"]

/**
 * Returns the names that keywords need not repeat: the developer's and, if the name field is not given, the app's. If
 * it is given, another check reports its words in the keywords as repeats.
 */
function ownNames({ fields, background: { ownWords } }: Listing): Phrases {
  return phrasesFrom([fields.name ? [] : ownWords.brand, ownWords.maker].filter((words) => words.length > 0))
}

function seek(
  listing: Listing,
  fields: readonly Field[],
  phrases: Phrases,
  code: Code,
  severity: Severity,
  sentence: string,
): Mark[] {
  return given(listing, ...fields).flatMap((field: FieldText) =>
    findPhrases(field, phrases).map((phrase) =>
      wasteMark(field, phrase, { code, severity, message: `${quoted(textOf(field, phrase))} ${sentence}.` }),
    ),
  )
}
