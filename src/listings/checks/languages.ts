import { SIMPLIFIED, TRADITIONAL } from "../../lib/words/chinese.ts"
import type { WordLists } from "../../lib/words/entry.ts"
import { WORD_LISTS } from "../../lib/words/lists.ts"
import { type Field, quoted } from "./finding.ts"
import { type Check, type FieldText, given, type Listing, type Mark, markOf, type Word } from "./listing.ts"
import { shareIn } from "./scripts.ts"
import { vocabularyOf } from "./vocabulary.ts"

/**
 * Reports text in the wrong language, which is detected by the stop words and letters that are typical of a language.
 * Skips short texts. Requires three times as many signs of the other language as of the expected one.
 */
export const languages: Check = (listing) =>
  given(listing, "subtitle", "promotionalText", "description").flatMap((field) => strange(field, listing))

/**
 * Counts the signs of a language in a text: its stop words and words with its own letters. For Chinese: words with
 * characters of its form.
 */
export function signsOf(words: readonly Word[], language: string): number {
  return signWords(words, language).length
}

const MIN_SIGNS: Partial<Record<Field, number>> = { subtitle: 2, promotionalText: 3, description: 5 }

function strange(field: FieldText, { language, vocabulary }: Listing): Mark[] {
  const here = signsOf(field.words, language)
  const candidates = Object.keys(WORD_LISTS).filter(
    (other) => other !== language && sameScript(other, vocabulary.lists),
  )
  const counted = candidates.map((other) => ({ other, signs: signWords(field.words, other) }))
  const [most] = counted.toSorted((a, b) => b.signs.length - a.signs.length)
  const word = most?.signs[0]
  if (!most || !word || most.signs.length < (MIN_SIGNS[field.field] ?? 5) || most.signs.length < 3 * Math.max(1, here))
    return []
  if ((shareIn(field.text, vocabulary.lists.scripts) ?? 1) < 1 / 3) return []
  const message =
    `The ${field.label} reads like ${named(most.other)}, not ${named(language)}: ` +
    `${quoted(word.text)} is one of ${most.signs.length} signs of it.`
  return [markOf(field, word, { code: "wrong_language", severity: "warning", message })]
}

function sameScript(language: string, { scripts }: WordLists): boolean {
  return WORD_LISTS[language]?.scripts.some((script) => scripts.includes(script)) ?? false
}

function signWords(words: readonly Word[], language: string): Word[] {
  const { stop, lists } = vocabularyOf(language)
  const form = FORMS[language]
  if (form) return words.filter(({ text }) => form.test(text))
  if (lists.scripts.includes("Hiragana")) return words.filter(({ text }) => KANA.test(text))
  const letters = lists.letters === undefined ? null : lettersPattern(lists.letters)
  return words.filter(({ term, key }) => letters?.test(key) || (term.length > 1 && stop.has(term)))
}

const KANA = /^\p{Script=Hiragana}+$/u
const FORMS: Readonly<Record<string, RegExp>> = {
  "zh-Hans": new RegExp(`[${SIMPLIFIED}]`, "u"),
  "zh-Hant": new RegExp(`[${TRADITIONAL}]`, "u"),
}

const patterns = new Map<string, RegExp>()

function lettersPattern(letters: string): RegExp {
  const made = patterns.get(letters) ?? new RegExp(`[${letters}]`, "u")
  patterns.set(letters, made)
  return made
}

const display = new Intl.DisplayNames(["en"], { type: "language" })

function named(language: string): string {
  return display.of(language) ?? language
}
