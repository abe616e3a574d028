import { foldText } from "../../lib/matching.ts"
import { normaliseTerm } from "../../lib/term.ts"

/** Raised whenever the same answers give another count or depth. */
export const HINTS_FORMULA = 1

/** The most a term's ladder asks. */
const MOST_RUNGS = 12

/**
 * The beginnings of a keyword to ask the store's suggestions for, longest first: the keyword as it is, then less of it, by
 * the letters that readers see (graphemes), down to the first one. A keyword of more than twelve letters is asked at twelve
 * lengths spread evenly. Each is spelt as a term is (no white space at its end), and none stands twice.
 */
export function ladder(term: string): string[] {
  const letters = lettersOf(normaliseTerm(term))
  const rungs = Math.min(MOST_RUNGS, letters.length)
  const step = (letters.length - 1) / Math.max(1, rungs - 1)
  const prefixes = Array.from({ length: rungs }, (_, rung) =>
    normaliseTerm(letters.slice(0, letters.length - Math.round(rung * step)).join("")),
  )
  return [...new Set(prefixes)].filter((prefix) => prefix !== "")
}

/**
 * The beginning to ask next, or null when enough is known. `answers` holds the store's suggestions for the beginnings that
 * were asked, by beginning; ask, add the answer, call again. It stops at the first that does not suggest the keyword: what
 * is typed less is suggested no sooner. Most keywords are not suggested at all and take one request; none takes more than
 * twelve.
 */
export function ladderNext(term: string, answers: Answers): string | null {
  return climb(term, answers).next
}

/** Suggestions in the store's order, by the beginning that was typed. */
type Answers = ReadonlyMap<string, readonly string[]>

export interface Hints {
  /** See hintsOf. */
  hintCount: number
  /** Letters of the shortest beginning asked that suggests the keyword; null = it is not suggested, or not all was asked. */
  prefixDepth: number | null
  /** Whether the store suggests the keyword once it is fully typed. */
  suggested: boolean
  /** Whether the ladder was asked to its end. */
  finished: boolean
  /** The beginnings whose answers this rests on. */
  prefixes: string[]
}

/**
 * What a keyword's suggestions say of it; undefined while those for the fully typed keyword were not read.
 *
 * `hintCount`: how many of the suggestions for the fully typed keyword extend it, that is, begin with it and are longer,
 * compared as foldText spells them and with runs of white space as one blank; each is counted once. "habit" is extended by
 * "habit tracker" and "habits", not by "my habit".
 *
 * `prefixDepth`: the fewest letters after which the store suggests the keyword itself, as far as was asked (see ladder).
 *
 * Source: both measures are those of SquashVash/ASO-Tool-CLI (rank correlation with real popularity 0.58 and 0.48, 182 terms;
 * half of them were suggested nowhere). Limits: the App Store gives at most ten suggestions and Google Play five; a stem
 * that everybody types on ("insta") may be extended ten times and never be suggested itself.
 */
export function hintsOf(term: string, answers: Answers): Hints | undefined {
  const whole = ladder(term)[0]
  const typed = whole === undefined ? undefined : answers.get(whole)
  if (typed === undefined) return undefined
  const { hits, asked, next } = climb(term, answers)
  const shortest = hits.at(-1)
  const finished = next === null
  return {
    hintCount: extensions(term, typed),
    prefixDepth: finished && shortest !== undefined ? lettersOf(shortest).length : null,
    suggested: hits.length > 0,
    finished,
    prefixes: asked,
  }
}

/** Goes down the ladder as far as answers go. */
function climb(term: string, answers: Answers): { hits: string[]; asked: string[]; next: string | null } {
  const hits: string[] = []
  const asked: string[] = []
  for (const prefix of ladder(term)) {
    const suggested = answers.get(prefix)
    if (suggested === undefined) return { hits, asked, next: prefix }
    asked.push(prefix)
    if (!isSuggested(term, suggested)) break
    hits.push(prefix)
  }
  return { hits, asked, next: null }
}

/** Whether a keyword is among suggestions, compared as hintsOf does. */
export function isSuggested(term: string, suggested: readonly string[]): boolean {
  const sought = compared(term)
  return suggested.some((text) => compared(text) === sought)
}

function extensions(term: string, suggested: readonly string[]): number {
  const sought = compared(term)
  const others = new Set(suggested.map(compared))
  others.delete(sought)
  return [...others].filter((text) => text.startsWith(sought)).length
}

function compared(text: string): string {
  return foldText(text).replace(/\s+/gu, " ")
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

function lettersOf(text: string): string[] {
  return [...graphemes.segment(text)].map(({ segment }) => segment)
}
