import { foldReviewText } from "../../reviews/formulas/review-text.ts"
import { sentencesOf } from "../sentences.ts"
import type { TextProblem, TextRule } from "./check.ts"
import { addressesIn } from "./links.ts"
import { numbersIn } from "./numbers.ts"

/**
 * Fails unless a translation has as many lines as the original. In a sample of 31 human translations, the 14 that had
 * fewer lines were incomplete.
 */
export const lines: TextRule = (text, { translated }): TextProblem[] => {
  if (translated === undefined) return []
  const [before, after] = [translated, text].map(linesIn)
  return before === after ? [] : [{ rule: "lines", what: `${after} in place of ${before}` }]
}

/** Counts the lines that are not blank. */
function linesIn(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length
}

/** Texts shorter than this may have any length in another language. */
const MIN_LENGTH = 60

/**
 * Fails if a translation is much shorter or longer than the original. Complete human translations are 0.98 to 1.31
 * times as long as the English original, and in Chinese 0.40 to 0.42 times (17 translations of one listing).
 */
export const proportion: TextRule = (text, { translated }): TextProblem[] => {
  if (translated === undefined) return []
  const [before, after] = [translated, text].map((item) => [...item.trim()].length) as [number, number]
  if (before < MIN_LENGTH) return []
  const share = after / before
  const [least, most] = PROPORTIONS[`${isDense(translated)}${isDense(text)}`]!
  return share >= least && share <= most ? [] : [{ rule: "proportion", what: share.toFixed(2) }]
}

/**
 * Minimum and maximum ratio of the lengths. The first key is isDense of the original, the second is isDense of the
 * translation.
 */
const PROPORTIONS: Readonly<Record<string, readonly [number, number]>> = {
  falsefalse: [0.7, 1.5],
  falsetrue: [0.3, 0.9],
  truefalse: [1.1, 3.4],
  truetrue: [0.5, 1.8],
}

function isDense(text: string): boolean {
  const dense = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0
  return dense > (text.match(/\p{L}/gu)?.length ?? 0) / 3
}

/**
 * At most 10% of the sentences with four or more words may be the same as in the original, for example a motto or a
 * list of names.
 */
const MAX_UNTRANSLATED_SHARE = 0.1
const MIN_SENTENCE_WORDS = 4

/** Fails if too many sentences were left in the language of the original. */
export const untranslated: TextRule = (text, { translated, sameLanguage = false }): TextProblem[] => {
  if (translated === undefined || sameLanguage) return []
  const before = sentencesOf(translated).filter((item) => item.split(/\s+/).length >= MIN_SENTENCE_WORDS)
  const after = foldReviewText(text)
  const left = before.filter((sentence) => after.includes(foldReviewText(sentence)))
  const [first] = left
  if (first === undefined || left.length <= before.length * MAX_UNTRANSLATED_SHARE) return []
  return [{ rule: "untranslated", what: first.slice(0, 120) }]
}

/** Fails unless a translation has each address, number and placeholder as often as the original. */
export const preservedMarks: TextRule = (text, { translated }): TextProblem[] => {
  if (translated === undefined) return []
  const what = [addressesIn, numbersIn, placeholdersIn].flatMap((marksIn) =>
    difference(marksIn(translated), marksIn(text)),
  )
  return what.map((mark) => ({ rule: "kept_marks", what: mark }))
}

function placeholdersIn(text: string): string[] {
  return text.match(/%(?:\d+\$)?(?:@|s|d|i|f|ld|lld)(?!\p{L})|\{\{?\s?\w+\s?\}?\}|<\w+\/?>/gu) ?? []
}

/** Returns each item that does not occur equally often in both lists, once. */
function difference(before: readonly string[], after: readonly string[]): string[] {
  const count = (list: readonly string[], mark: string) => list.filter((item) => item === mark).length
  return [...new Set([...before, ...after])].filter((mark) => count(before, mark) !== count(after, mark))
}
