import { clamp, FIRST, type Figure, twoPlaces } from "../../lib/figure.ts"

/**
 * Increase this version whenever the same ratings give a different demand. Version 1 ignored all places after the
 * tenth.
 */
export const DEMAND_FORMULA = 2

interface DemandParts {
  /** The rating counts of the first results combined into one count. Null if the store had no result. */
  ratingMass: number | null
  /** How many of the first ten places are taken, and how many of the apps there have a known rating count. */
  places: number
  known: number
}

/**
 * Returns how much a term is searched, 0 to 100, estimated from the ratings of the first ten results: stores show
 * widely used apps for widely searched terms.
 *
 *     weight(place) = 1 / place - 1 / 11     for the first ten; it reaches zero at the eleventh
 *     mass = (Σ weight · ratings^¼ / Σ weight)⁴
 *     demand = 100 · log10(1 + mass) / 7.5   7.5 = a mass of 31.6 million; of 187 popular terms the largest is 17.2
 *
 * `ratings` are counts in the storefront itself, in the order of the results; null if unknown. Unknown counts are left
 * out and the known ones are extrapolated. Undefined (not measured) if less than half of the weight is known. An empty
 * place counts as zero ratings. The score is null if there are no results.
 *
 * Source: the rating mass of the first ten is the signal that correlates best with real popularity in the public
 * project SquashVash/ASO-Tool-CLI (rank correlation 0.66, 182 terms, with the median). The weights are our own. They
 * fade with the place, so that no place makes the figure jump; the root keeps one giant from outweighing nine others.
 * On 187 terms with Apple's figure the rank correlation is 0.58, against 0.56 for Σ ratings / place over ten, and two
 * apps that change the ninth and the eleventh place move the demand by at most 3, not 31.
 *
 * Limits: a term that few people search but that brings up giants gets the giants' mass. Ratings accumulate over years,
 * so new or seasonal terms score too low. Storefronts differ in size and are not comparable.
 */
export function demandOf(ratings: readonly (number | null)[]): Figure<DemandParts> | undefined {
  const first = ratings.slice(0, FIRST)
  const knownCount = first.filter((count) => count !== null).length
  if (first.length === 0) return { score: null, parts: { ratingMass: null, places: 0, known: knownCount } }
  const mass = massOf(first)
  if (mass === undefined) return undefined
  const parts = { ratingMass: twoPlaces(mass), places: first.length, known: knownCount }
  return { score: Math.round(demandScale(mass)), parts }
}

/** Returns the demand of a rating mass, 0 to 100, not rounded. */
export function demandScale(mass: number): number {
  return clamp((100 * Math.log10(1 + mass)) / FULL_DECADES, 0, 100)
}

const FULL_DECADES = 7.5
const MIN_KNOWN_SHARE = 0.5
const ROOT = 4

const weightOf = (index: number): number => 1 / (index + 1) - 1 / (FIRST + 1)
const WHOLE = Array.from({ length: FIRST }, (_, index) => weightOf(index)).reduce((sum, weight) => sum + weight, 0)

function massOf(ratings: readonly (number | null)[]): number | undefined {
  let rooted = 0
  let knownWeight = 0
  let taken = 0
  ratings.forEach((count, index) => {
    const weight = weightOf(index)
    taken += weight
    if (count === null) return
    knownWeight += weight
    rooted += weight * count ** (1 / ROOT)
  })
  return knownWeight < MIN_KNOWN_SHARE * taken ? undefined : ((rooted / knownWeight) * (taken / WHOLE)) ** ROOT
}
