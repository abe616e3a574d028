import { clamp, type Figure, twoPlaces } from "../../lib/figure.ts"
import { POPULARITY_BANDS } from "../../lib/figure-bands.ts"
import type { Interval } from "../../lib/proportions.ts"
import { demandScale } from "./demand.ts"
import type { Hints } from "./hint-ladder.ts"

/** Raised whenever the same readings give another estimate; 1 rested on demand's formula 1. */
export const POPULARITY_FORMULA = 2

export type PopularityParts = {
  /** Each 0 to 100; null = not read. */
  demand: number | null
  hintCount: number | null
  prefixDepth: number | null
  /** Their weighted mean. */
  blend: number
}

/** What an estimate rests on; null = not read. */
export interface PopularityInputs {
  /** 0 where the store has no result. */
  ratingMass: number | null
  hints: Pick<Hints, "hintCount" | "prefixDepth" | "suggested" | "finished"> | null
}

/**
 * How much a keyword may be searched for where no store says it: a score of 1 to 100 that orders keywords of one storefront
 * and is shown to nobody as a popularity. What may be shown of it is a band (popularityBand).
 *
 *     blend = .70 · demand + .20 · depth + .10 · extensions
 *     demand: see demandOf   depth: 100 · 0.85^(letters - 1), 0 when not suggested   extensions: five or more are 100
 *     score = 7.7 + 0.85 · blend, at least 1 and at most 100 (LINE has all digits)
 *
 * A part that was not read is dropped and the others stand for it. When all three were read and all are nothing, none can be
 * given (null); when what was read is nothing and something was not read, it is not measured (undefined).
 *
 * Source: the weights and the depth's decay are those that SquashVash/ASO-Tool-CLI publishes as fitted (182 terms). The line
 * is of an earlier calibration to Apple's monthly report; it changes no order, and stored scores keep it.
 *
 * Limits: ratings are gathered over years and belong to a storefront: scores of two storefronts are not comparable. On Google
 * Play a score mostly rests on extensions alone: the search page counts the ratings of one app, and the beginnings of a term
 * are not asked for.
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

/** A blend of 0 to 100 as a score, not rounded. */
export function scoreOf(blend: number): number {
  return clamp(LINE.start + LINE.slope * blend, 1, 100)
}

/**
 * What a score says on the scale of Apple Ads' search popularity, where most terms stand at the floor of 5 to 9. A band and no
 * number: on 227 terms of the United States the order of the scores goes with Apple's at CHECKED.correlation, below the 0.75
 * from which a number would mean something. Null for Google Play, whose searches nobody publishes. Other storefronts than the
 * United States were not checked.
 */
export function popularityBand(platform: "ios" | "android", score: number): Interval | null {
  if (platform === "android") return null
  const { low, high } = POPULARITY_BANDS.findLast(({ from }) => score >= from) as (typeof POPULARITY_BANDS)[number]
  return { low, high }
}

/**
 * The popularity that a keyword is ordered and weighed by: on Apple's scale the middle of an estimate's band, so that no
 * hidden score stands beside a published figure. Of Google Play, where no figure is published, the score itself.
 */
export function popularityOrder(platform: "ios" | "android", score: number): number {
  const band = popularityBand(platform, score)
  return band === null ? score : middleOf(band)
}

function middleOf({ low, high }: Interval): number {
  return Math.round((low + high) / 2)
}

/** The same for SQL: the order of the scores from each of these on. */
export const ORDER_STEPS = { from: POPULARITY_BANDS.map(({ from }) => from), orders: POPULARITY_BANDS.map(middleOf) }

/**
 * How far the scores go with Apple Ads' popularity on terms of the United States, as `bun test/bench/popularity.ts` prints it:
 * rank correlation with where 95 % of resamples lie, the error of the best rising line through them on terms that it was not
 * drawn through (root mean square, in points) beside that of a constant, and how often a band drawn on one half of the terms
 * holds those of the other.
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

/** Null while the ladder was not asked to its end. */
function depthScore({ prefixDepth, suggested, finished }: NonNullable<PopularityInputs["hints"]>): number | null {
  if (prefixDepth !== null) return 100 * DEPTH_DECAY ** (prefixDepth - 1)
  return finished && !suggested ? 0 : null
}

function rounded(value: number | null): number | null {
  return value === null ? null : twoPlaces(value)
}
