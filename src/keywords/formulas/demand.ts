import { clamp, FIRST, type Figure, twoPlaces } from "../../lib/figure.ts"

/** Raised whenever the same ratings give another demand; 1 cut the places off behind the tenth. */
export const DEMAND_FORMULA = 2

interface DemandParts {
  /** What the rating counts of the first results come to, as one count; null when the store had no result. */
  ratingMass: number | null
  /** How many of the first ten places were taken, and of how many the rating count was known. */
  places: number
  known: number
}

/**
 * How much is searched for here, 0 to 100, as far as the ratings of the apps that the store puts first tell it: apps that
 * many people have are shown for what many people search.
 *
 *     weight(place) = 1 / place - 1 / 11     for the first ten: nothing is left of it at the eleventh
 *     mass = (Σ weight · ratings^¼ / Σ weight)⁴
 *     demand = 100 · log10(1 + mass) / 7.5   7.5 = a mass of 31,600,000; the largest of 187 popular terms has 17,200,000
 *
 * `ratings` are those of the storefront itself, in order; null = not known. An unknown one is left out and the rest
 * stands for it; with less than half of the weight known the demand is not measured (undefined). A place that no app holds
 * counts as none. No result at all gives null.
 *
 * Source: the rating mass of the first ten is the signal that goes best with real popularity in the public project
 * SquashVash/ASO-Tool-CLI (rank correlation 0.66, 182 terms, by the median). The weights are our own, and fade with the place, so
 * that no place makes the figure jump; the root keeps one giant from outweighing nine others. On 187 terms with Apple's
 * figure this goes with it at 0.58, against 0.56 for Σ ratings / place over ten, and two apps that change the ninth and
 * the eleventh place move it by at most 3, not 31.
 *
 * Limits: a term that only few search but that brings up giants gets the giants' mass. Ratings are gathered over years:
 * a term that is new or of a season shows too little. Storefronts are of different size and are not comparable.
 */
export function demandOf(ratings: readonly (number | null)[]): Figure<DemandParts> | undefined {
  const first = ratings.slice(0, FIRST)
  const known = first.filter((count) => count !== null).length
  if (first.length === 0) return { score: null, parts: { ratingMass: null, places: 0, known } }
  const mass = massOf(first)
  if (mass === undefined) return undefined
  const parts = { ratingMass: twoPlaces(mass), places: first.length, known }
  return { score: Math.round(demandScale(mass)), parts }
}

/** The demand of a rating mass, 0 to 100, not rounded. */
export function demandScale(mass: number): number {
  return clamp((100 * Math.log10(1 + mass)) / FULL_DECADES, 0, 100)
}

const FULL_DECADES = 7.5
const LEAST_KNOWN = 0.5
const ROOT = 4

const weightOf = (index: number): number => 1 / (index + 1) - 1 / (FIRST + 1)
const WHOLE = Array.from({ length: FIRST }, (_, index) => weightOf(index)).reduce((sum, weight) => sum + weight, 0)

function massOf(ratings: readonly (number | null)[]): number | undefined {
  let rooted = 0
  let known = 0
  let taken = 0
  ratings.forEach((count, index) => {
    const weight = weightOf(index)
    taken += weight
    if (count === null) return
    known += weight
    rooted += weight * count ** (1 / ROOT)
  })
  return known < LEAST_KNOWN * taken ? undefined : ((rooted / known) * (taken / WHOLE)) ** ROOT
}
