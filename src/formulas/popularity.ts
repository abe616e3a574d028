import { demandScale } from "./demand.ts"
import { clamp, type Figure, twoPlaces } from "./figure.ts"
import type { Hints } from "./hint-ladder.ts"

/** Raised whenever the same readings give another estimate; 1 rested on demand's formula 1. */
export const POPULARITY_FORMULA = 2

export interface PopularityParts {
  /** Each 0 to 100; null = not read. */
  demand: number | null
  hintCount: number | null
  prefixDepth: number | null
  /** Their weighted mean, before it is mapped to Apple's scale. */
  blend: number
}

/** What an estimate rests on; null = not read. */
export interface PopularityInputs {
  /** 0 where the store has no result. */
  ratingMass: number | null
  hints: Pick<Hints, "hintCount" | "prefixDepth" | "suggested" | "finished"> | null
}

/**
 * How popular a keyword may be where Apple publishes no figure, 1 to 100 on the scale of Apple's monthly report of search
 * terms. Apple Ads' search popularity (5 to 100, most terms at 5) is another scale.
 *
 *     blend = .70 · demand + .20 · depth + .10 · extensions
 *     demand: see demandOf   depth: 100 · 0.85^(letters - 1), 0 when not suggested   extensions: five or more are 100
 *     popularity = 7.7 + 0.85 · blend, at least 1 and at most 100 (LINE has all digits)
 *
 * A part that was not read is dropped and the others stand for it. When all three were read and all are nothing, none can be
 * given (null); when what was read is nothing and something was not read, it is not measured (undefined).
 *
 * Source: the weights and the depth's decay are those that SquashVash/ASO-Tool-CLI publishes as fitted (182 terms). The line
 * was fitted by us, by `bun test/bench/popularity.ts`, to Apple's report of September 2025 and the rating counts of the
 * first ten results a month later: 187 terms of the United States out of drewster99/appstore, all of popularity 70 and more;
 * the fit allows for that choice (a regression truncated at 70), and holds the start at that of formula 1. Their logarithms go together as a line, for Apple's figure
 * falls with the logarithm of a term's rank.
 *
 * Limits: an order rather than a level (CHECKED), and checked by ratings alone: the suggestions of that day are not known.
 * Below 70 nothing was fitted, and what few search comes out too high, long terms that bring up giants most. Apple's figures
 * are relative to a storefront; only the United States were fitted, and no Google Play. There an estimate mostly rests
 * on extensions alone: the search page counts the ratings of one app, and the beginnings of a term are not asked for.
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
    score: nothing ? null : Math.round(appleScale(blend)),
    parts: {
      demand: rounded(read.demand),
      hintCount: rounded(read.hintCount),
      prefixDepth: rounded(read.prefixDepth),
      blend: twoPlaces(blend),
    },
  }
}

/** A blend of 0 to 100 on Apple's scale, not rounded. */
export function appleScale(blend: number, { start, slope } = LINE): number {
  return clamp(start + slope * blend, 1, 100)
}

/**
 * What the estimate is worth on terms that its line was not fitted on, as `bun test/bench/popularity.ts` prints it: the error
 * of the figure shown (root mean square, in points), that of a constant and of the first app's ratings alone, and how well
 * the order of each goes with that of Apple's figures (rank correlation, and where 95 % of resamples lie).
 */
export const CHECKED = {
  terms: 187,
  least: 70,
  shown: { error: 7.8, correlation: 0.58, between: [0.47, 0.67] },
  constant: { error: 6.3 },
  firstApp: { error: 5.6, correlation: 0.53, between: [0.41, 0.63] },
}

/** As `bun test/bench/popularity.ts` prints it. */
export const LINE = { start: 7.66, slope: 0.852 }

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
