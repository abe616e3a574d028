import { foldText } from "../../lib/matching.ts"
import { normaliseTerm } from "../../lib/term.ts"

/** Increase this version whenever the same responses give a different count or depth. */
export const HINTS_FORMULA = 1

/** The maximum number of prefixes requested per term. */
const MAX_RUNGS = 12

/**
 * Returns the prefixes of a keyword to request suggestions for, longest first: the whole keyword, then shorter ones
 * down to the first letter, counted in graphemes. A keyword of more than twelve letters is requested at twelve evenly
 * spaced lengths. Each prefix is normalised like a term (no trailing white space) and occurs once.
 */
export function ladder(term: string): string[] {
  const letters = lettersOf(normaliseTerm(term))
  const rungs = Math.min(MAX_RUNGS, letters.length)
  const step = (letters.length - 1) / Math.max(1, rungs - 1)
  const prefixes = Array.from({ length: rungs }, (_, rung) =>
    normaliseTerm(letters.slice(0, letters.length - Math.round(rung * step)).join("")),
  )
  return [...new Set(prefixes)].filter((prefix) => prefix !== "")
}

/**
 * Returns the next prefix to request. Null if the answers are sufficient. `answers` holds the store's suggestions by
 * requested prefix: request one, add its answer, call again. The ladder ends at the first prefix that does not suggest
 * the keyword, because no shorter one will. Most keywords are never suggested and take one request; the maximum is
 * twelve.
 */
export function ladderNext(term: string, answers: Answers): string | null {
  return climb(term, answers).next
}

/** Suggestions in the store's order, by requested prefix. */
type Answers = ReadonlyMap<string, readonly string[]>

export interface Hints {
  /** See hintsOf. */
  hintCount: number
  /**
   * Length in letters of the shortest requested prefix that suggests the keyword. Null if it is not suggested or the
   * ladder is unfinished.
   */
  prefixDepth: number | null
  /** Whether the store suggests the keyword once it is fully typed. */
  suggested: boolean
  /** Whether no further prefix needs to be requested. */
  finished: boolean
  /** The prefixes whose answers were used. */
  prefixes: string[]
}

/**
 * Returns what the suggestions show about a keyword. Undefined if no suggestions for the fully typed keyword were read.
 *
 * `hintCount` is the number of distinct suggestions for the fully typed keyword that begin with it and are longer.
 * Texts are compared as foldText spells them, with runs of white space as one blank. "habit" is extended by "habit
 * tracker" and "habits", not by "my habit".
 *
 * `prefixDepth` is the smallest number of letters for which the store suggests the keyword itself, among the requested
 * prefixes (see ladder).
 *
 * Source: both measures are from SquashVash/ASO-Tool-CLI (rank correlation with real popularity 0.58 and 0.48, 182
 * terms; half were never suggested). Limits: the App Store gives at most ten suggestions and Google Play five.
 * A stem that everybody types on ("insta") may be extended ten times and never be suggested itself.
 */
export function hintsOf(term: string, answers: Answers): Hints | undefined {
  const whole = ladder(term)[0]
  const typed = whole === undefined ? undefined : answers.get(whole)
  if (typed === undefined) return undefined
  const { hits, requested, next } = climb(term, answers)
  const shortest = hits.at(-1)
  const finished = next === null
  return {
    hintCount: extensions(term, typed),
    prefixDepth: finished && shortest !== undefined ? lettersOf(shortest).length : null,
    suggested: hits.length > 0,
    finished,
    prefixes: requested,
  }
}

/**
 * Follows the ladder as far as `answers` has responses. Returns the prefixes that suggest the keyword, the prefixes
 * that were requested, and the next one to request.
 */
function climb(term: string, answers: Answers): { hits: string[]; requested: string[]; next: string | null } {
  const hits: string[] = []
  const requested: string[] = []
  for (const prefix of ladder(term)) {
    const suggested = answers.get(prefix)
    if (suggested === undefined) return { hits, requested, next: prefix }
    requested.push(prefix)
    if (!isSuggested(term, suggested)) break
    hits.push(prefix)
  }
  return { hits, requested, next: null }
}

/** Returns whether the suggestions contain a keyword, compared as in hintsOf. */
export function isSuggested(term: string, suggested: readonly string[]): boolean {
  const target = compared(term)
  return suggested.some((text) => compared(text) === target)
}

function extensions(term: string, suggested: readonly string[]): number {
  const target = compared(term)
  const distinct = new Set(suggested.map(compared))
  distinct.delete(target)
  return [...distinct].filter((text) => text.startsWith(target)).length
}

function compared(text: string): string {
  return foldText(text).replace(/\s+/gu, " ")
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

function lettersOf(text: string): string[] {
  return [...graphemes.segment(text)].map(({ segment }) => segment)
}
