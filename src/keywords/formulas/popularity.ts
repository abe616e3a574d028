import { clamp, type Figure, twoPlaces } from "../../lib/figure.ts"
import { POPULARITY_BANDS } from "../../lib/figure-bands.ts"
import type { Interval } from "../../lib/proportions.ts"
import { demandScale } from "./demand.ts"
import type { Hints } from "./hint-ladder.ts"

/**
 * Increase this version whenever the same readings give a different estimate. Version 1 used version 1 of the demand
 * formula.
 */
export const POPULARITY_FORMULA = 2

export type PopularityParts = {
  /** Each part is from 0 to 100, and null if it was not read. */
  demand: number | null
  hintCount: number | null
  prefixDepth: number | null
  /** The weighted mean of the parts. */
  blend: number
}

/** The inputs of an estimate. An input is null if it was not read. */
export interface PopularityInputs {
  /** 0 if the store has no result. */
  ratingMass: number | null
  hints: Pick<Hints, "hintCount" | "prefixDepth" | "suggested" | "finished"> | null
}

/**
 * Estimates how much a keyword is searched where no store publishes it: a score of 1 to 100 that orders the keywords of
 * one storefront. It is never shown as a popularity; answers show its band (popularityBand).
 *
 *     blend = .70 · demand + .20 · depth + .10 · extensions
 *     demand: see demandOf   depth: 100 · 0.85^(letters - 1), 0 when not suggested   extensions: five or more are 100
 *     score = 7.7 + 0.85 · blend, at least 1 and at most 100 (LINE has all digits)
 *
 * Parts that were not read are left out and the others reweighted. If all three were read and all are zero, the score
 * is null. If all parts that were read are zero and one was not read, the result is undefined (not measured).
 *
 * Source: the weights and the decay of the depth are published by SquashVash/ASO-Tool-CLI as fitted (182 terms). LINE
 * is from an earlier calibration to Apple's monthly report; it does not change the order, and keeps new scores
 * comparable with stored ones.
 *
 * Limits: ratings accumulate over years and belong to a storefront, so scores of two storefronts are not comparable. On
 * Google Play a score mostly rests on extensions alone: the search page has the rating count of one app only, and
 * prefixes of a term are not requested.
 */
export function estimatePopularity({ ratingMass, hints }: PopularityInputs): Figure<PopularityParts> | undefined {
  const read = {
    demand: ratingMass === null ? null : demandScale(ratingMass),
    hintCount: hints && 100 * Math.min(1, hints.hintCount / FULL_EXTENSIONS),
    prefixDepth: hints && depthScore(hints),
  }
  const parts = WEIGHTS.flatMap(([name, weight]) => (read[name] === null ? [] : [{ weight, value: read[name] }]))
  const nothing = parts.every(({ value }) => value === 0)
  if (nothing && parts.length < WEIGHTS.length) return undefined
  const weighed = parts.reduce((sum, { weight, value }) => sum + weight * value, 0)
  const blend = weighed / parts.reduce((sum, { weight }) => sum + weight, 0)
  return {
    score: nothing ? null : Math.round(scoreOf(blend)),
    parts: {
      demand: rounded(read.demand),
      hintCount: rounded(read.hintCount),
      prefixDepth: rounded(read.prefixDepth),
      blend: twoPlaces(blend),
    },
  }
}

/** Returns the score of a blend of 0 to 100, not rounded. */
export function scoreOf(blend: number): number {
  return clamp(LINE.start + LINE.slope * blend, 1, 100)
}

/**
 * Returns the band of a score on the scale of Apple Ads' search popularity, where most terms are at the floor of 5 to
 * 9. It is a band and not a number because the rank correlation with Apple's figures on 227 terms of the United States
 * is CHECKED.correlation, below the 0.75 that would justify a number. Null for Google Play, which publishes no search
 * figures. Storefronts other than the United States were not checked.
 */
export function popularityBand(platform: "ios" | "android", score: number): Interval | null {
  if (platform === "android") return null
  const { low, high } = POPULARITY_BANDS.findLast(({ from }) => score >= from) as (typeof POPULARITY_BANDS)[number]
  return { low, high }
}

/**
 * Returns the popularity that keywords are ordered and weighed by. On the App Store it is the middle of the estimate's
 * band, so that no hidden score is compared with a published figure. On Google Play, where no figure is published, it
 * is the score itself.
 */
export function popularityOrder(platform: "ios" | "android", score: number): number {
  const band = popularityBand(platform, score)
  return band === null ? score : middleOf(band)
}

function middleOf({ low, high }: Interval): number {
  return Math.round((low + high) / 2)
}

/**
 * The bands for SQL: `from` has the lowest score of each band, `orders` the middle of the band, which orders keywords.
 */
export const ORDER_STEPS = { from: POPULARITY_BANDS.map(({ from }) => from), orders: POPULARITY_BANDS.map(middleOf) }

/**
 * How well the scores agree with Apple Ads' popularity on terms of the United States, as printed by `bun
 * test/bench/popularity.ts`: the rank correlation with its 95 % bootstrap interval; the error (root mean square, in
 * points) of the best rising line on terms that it was not fitted to, compared with the error of a constant; and how
 * often a band chosen on one half of the terms contains the terms of the other half.
 */
export const CHECKED = {
  terms: 227,
  correlation: 0.71,
  between: [0.64, 0.77],
  line: { error: 13.3 },
  constant: { error: 18 },
  held: 0.88,
}

const LINE = { start: 7.66, slope: 0.852 }

const WEIGHTS = [
  ["demand", 0.7],
  ["prefixDepth", 0.2],
  ["hintCount", 0.1],
] as const
const FULL_EXTENSIONS = 5
const DEPTH_DECAY = 0.85

/** Returns the depth part of the estimate. Null while the ladder is unfinished. */
function depthScore({ prefixDepth, suggested, finished }: NonNullable<PopularityInputs["hints"]>): number | null {
  if (prefixDepth !== null) return 100 * DEPTH_DECAY ** (prefixDepth - 1)
  return finished && !suggested ? 0 : null
}

function rounded(value: number | null): number | null {
  return value === null ? null : twoPlaces(value)
}
