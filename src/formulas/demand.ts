import { clamp, FIRST, type Figure, twoPlaces } from "./figure.ts"

/** Raised whenever the same ratings give another demand. */
export const DEMAND_FORMULA = 1

export interface DemandParts {
  /** Rating counts of the first results, each divided by its place, added up; null when the store had no result. */
  ratingMass: number | null
  /** How many of the first ten places were taken, and of how many the rating count was known. */
  places: number
  known: number
}

/**
 * How much is searched for here, 0 to 100, as far as the ratings of the apps that the store puts first tell it: apps that
 * many people have are shown for what many people search.
 *
 *     mass = Σ ratings(place) / place        over the first ten results
 *     demand = 100 · log10(1 + mass) / 8     8 = a mass of 100,000,000; the largest of 187 popular terms has 60,000,000
 *
 * `ratings` are those of the storefront itself, in order; null = not known. An unknown one is left out and the rest
 * stands for it; with less than half of the weight known the demand is not measured (undefined). No result at all gives
 * null.
 *
 * Source: rating mass of the first ten is the signal that goes best with real popularity in the public project
 * SquashVash/ASO-Tool-CLI (rank correlation 0.66, 182 terms, by the median). Dividing by the place is our own: on 187
 * terms with Apple's figure it did better than the median (0.56 against 0.44) and than a plain sum (0.51).
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

const FULL_DECADES = 8
const LEAST_KNOWN = 0.5

function massOf(ratings: readonly (number | null)[]): number | undefined {
  let mass = 0
  let known = 0
  let whole = 0
  ratings.forEach((count, index) => {
    const weight = 1 / (index + 1)
    whole += weight
    if (count === null) return
    known += weight
    mass += weight * count
  })
  return known < LEAST_KNOWN * whole ? undefined : (mass * whole) / known
}
