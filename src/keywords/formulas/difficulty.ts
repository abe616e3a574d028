import { clamp, FIRST, type Figure, twoPlaces } from "../../lib/figure.ts"
import { DIFFICULTY_BANDS } from "../../lib/figure-bands.ts"
import { DAY_MS } from "../../lib/time.ts"
import { titleMatch } from "./title-match.ts"

/** Raised whenever the same results give another difficulty. */
export const DIFFICULTY_FORMULA = 1

/** A list with fewer results has no difficulty: a store that finds so little hardly knows the term. */
export const LEAST_RESULTS = 5

/** One of the first ten results; null = not known. */
export interface Slot {
  title: string | null
  ratings: number | null
  updatedAt: Date | null
}

export type DifficultyParts = {
  /** How many of the first ten places are taken. */
  results: number
  /** Each 0 to 100; null = not known. Both of the first are null where no difficulty can be given. */
  titles: number | null
  weakest: number | null
  freshness: number | null
}

/**
 * How hard it is to come among the first ten, 0 to 100.
 *
 *     difficulty = .30 · titles + .60 · weakest + .10 · freshness
 *     titles: how far the ten titles are about the term (titleMatch), their mean; an empty place counts as none
 *     weakest: the three places with the fewest ratings, mean of log10(1 + ratings) / 5; 100,000 ratings are full, and an
 *       empty place has none
 *     freshness: days since the last update, their median; today is full, a year is nothing
 *
 * Fewer than 5 results give null. Titles and ratings must be known of all but two results, else it is not measured
 * (undefined): those not known may be the weakest. Freshness is left out where it is known of less than half of them.
 *
 * Ratings stand here only for how strong the weakest are, whom a newcomer has to pass. How many ratings the ten have
 * together is demand: counted here too it would make every popular keyword look hard, and few searched ones good.
 *
 * Source: ours, of parts that public tools use: title grades (facundoolano/aso), the weakest slot (softroni, kranked),
 * freshness (SquashVash/ASO-Tool-CLI). The weights are chosen, not fitted: nobody publishes a difficulty to fit them to.
 */
export function difficultyOf(term: string, slots: readonly Slot[], now: Date): Figure<DifficultyParts> | undefined {
  const first = slots.slice(0, FIRST)
  const results = first.length
  if (results < LEAST_RESULTS) {
    return { score: null, parts: { results, titles: null, weakest: null, freshness: null } }
  }
  const titles = titlesPart(term, first)
  const weakest = weakestPart(first)
  if (titles === undefined || weakest === undefined) return undefined
  const freshness = freshnessPart(first, now)
  const firm = TITLES * titles + WEAKEST * weakest
  const score = freshness === null ? firm / (TITLES + WEAKEST) : firm + (1 - TITLES - WEAKEST) * freshness
  return {
    score: Math.round(score),
    parts: {
      results,
      titles: twoPlaces(titles),
      weakest: twoPlaces(weakest),
      freshness: freshness === null ? null : twoPlaces(freshness),
    },
  }
}

export type Band = (typeof DIFFICULTY_BANDS)[number]

/** A difficulty in a word: very easy below 20, easy below 40, moderate below 60, hard below 80, very hard from there. */
export function bandOf(difficulty: number): Band {
  return DIFFICULTY_BANDS[clamp(Math.floor(difficulty / 20), 0, DIFFICULTY_BANDS.length - 1)] as Band
}

const TITLES = 0.3
const WEAKEST = 0.6
const MOST_UNKNOWN = 2
const WEAKEST_PLACES = 3
const FULL_DECADES = 5
const STALE_DAYS = 365
function titlesPart(term: string, slots: readonly Slot[]): number | undefined {
  const known = slots.flatMap(({ title }) => title ?? [])
  if (slots.length - known.length > MOST_UNKNOWN) return undefined
  const matched = known.reduce((sum, title) => sum + titleMatch(term, title), 0)
  // those known stand for the others; the places that no app holds count as none
  return (100 * (matched / known.length) * slots.length) / FIRST
}

function weakestPart(slots: readonly Slot[]): number | undefined {
  const known = slots.flatMap(({ ratings }) => ratings ?? [])
  if (slots.length - known.length > MOST_UNKNOWN) return undefined
  const empty = Array.from({ length: FIRST - slots.length }, () => 0)
  const fewest = [...known, ...empty].sort((a, b) => a - b).slice(0, WEAKEST_PLACES)
  return mean(fewest.map((ratings) => 100 * Math.min(1, Math.log10(1 + ratings) / FULL_DECADES)))
}

function freshnessPart(slots: readonly Slot[], now: Date): number | null {
  const days = slots.flatMap(({ updatedAt }) => (updatedAt ? (now.getTime() - updatedAt.getTime()) / DAY_MS : []))
  if (days.length * 2 < slots.length) return null
  return 100 * clamp(1 - median(days) / STALE_DAYS, 0, 1)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return mean([sorted[Math.floor(middle)] as number, sorted[Math.ceil(middle)] as number])
}
