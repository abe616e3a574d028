import { clamp, FIRST, type Figure, twoPlaces } from "../../lib/figure.ts"
import { DIFFICULTY_BANDS } from "../../lib/figure-bands.ts"
import { DAY_MS } from "../../lib/time.ts"
import { titleMatch } from "./title-match.ts"

/** Increase this version whenever the same results give a different difficulty. */
export const DIFFICULTY_FORMULA = 1

/** Lists with fewer results get no difficulty: so few results mean that the store hardly matches the term. */
export const MIN_RESULTS = 5

/** One of the first ten results. A field is null if its value is unknown. */
export interface Slot {
  title: string | null
  ratings: number | null
  updatedAt: Date | null
}

export type DifficultyParts = {
  /** How many of the first ten places are taken. */
  results: number
  /** Each part is from 0 to 100, and null if unknown. `titles` and `weakest` are null if there is no difficulty. */
  titles: number | null
  weakest: number | null
  freshness: number | null
}

/**
 * Returns how hard it is to rank among the first ten, 0 to 100.
 *
 *     difficulty = .30 · titles + .60 · weakest + .10 · freshness
 *     titles: mean match of the ten titles with the term (titleMatch); an empty place counts as zero
 *     weakest: mean of log10(1 + ratings) / 5 of the three places with the fewest ratings; 100,000 ratings are the
 *       maximum, an empty place has none
 *     freshness: median of the days since the last update; today is the maximum, a year or more is zero
 *
 * The score is null with fewer than 5 results. Undefined (not measured) if the titles or the ratings of more than two
 * results are unknown, because these may be the weakest. Freshness is left out if it is known for less than half of the
 * results.
 *
 * Ratings only measure the weakest results, which a newcomer has to pass. The total of the ten is demand: counted here
 * too, it would make every popular keyword look hard.
 *
 * Source: our own, from parts that public tools use: title grades (facundoolano/aso), the weakest slot (softroni,
 * kranked), freshness (SquashVash/ASO-Tool-CLI). The weights are chosen, not fitted: there is no published difficulty
 * to fit them to.
 */
export function difficultyOf(term: string, slots: readonly Slot[], now: Date): Figure<DifficultyParts> | undefined {
  const first = slots.slice(0, FIRST)
  const results = first.length
  if (results < MIN_RESULTS) {
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

/**
 * Returns the band of a difficulty: very easy below 20, easy below 40, moderate below 60, hard below 80, else very
 * hard.
 */
export function bandOf(difficulty: number): Band {
  return DIFFICULTY_BANDS[clamp(Math.floor(difficulty / 20), 0, DIFFICULTY_BANDS.length - 1)] as Band
}

const TITLES = 0.3
const WEAKEST = 0.6
const MAX_UNKNOWN = 2
const WEAKEST_PLACES = 3
const FULL_DECADES = 5
const STALE_DAYS = 365
function titlesPart(term: string, slots: readonly Slot[]): number | undefined {
  const titles = slots.flatMap(({ title }) => title ?? [])
  if (slots.length - titles.length > MAX_UNKNOWN) return undefined
  const matched = titles.reduce((sum, title) => sum + titleMatch(term, title), 0)
  // Extrapolates from the known titles; empty places count as zero.
  return (100 * (matched / titles.length) * slots.length) / FIRST
}

function weakestPart(slots: readonly Slot[]): number | undefined {
  const counts = slots.flatMap(({ ratings }) => ratings ?? [])
  if (slots.length - counts.length > MAX_UNKNOWN) return undefined
  const empty = Array.from({ length: FIRST - slots.length }, () => 0)
  const fewest = [...counts, ...empty].sort((a, b) => a - b).slice(0, WEAKEST_PLACES)
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
