import { LIFETIME_SPREAD } from "./downloads.ts"
import { factorOf, type Level, together } from "./estimate.ts"
import { BETWEEN_APPS, type DownloadsPerRating, STORE_PRIORS } from "./ratio.ts"
import { MIN_FACTOR } from "./revenue.ts"

/** A value with its interval. */
export interface StatedFigure {
  value: number
  low: number
  high: number
}

const PRIOR = STORE_PRIORS.ios
/** Uncertainty of an app's downloads per rating if only the store's prior is known. */
const PRIOR_SPREAD = together(PRIOR.spread, BETWEEN_APPS)

/** Returns the factor by which a ratio changes downloads that were estimated with the App Store's prior. */
export function timesOf(ratio: DownloadsPerRating): number {
  return ratio.value / 10 ** PRIOR.mean
}

/**
 * Converts downloads of an App Store app that were estimated with the store's prior to this ratio. The value is
 * multiplied. In the interval's width the prior's share is replaced by that of the ratio (both as log10, errors
 * independent). The spread of an app's own ratio already includes the error of small gains. `isCompared` is true if no
 * storefront has only one count.
 */
export function restateDownloads(
  { value, low, high }: StatedFigure,
  ratio: DownloadsPerRating,
  { level, isCompared }: { level: Level; isCompared: boolean },
): StatedFigure {
  const stated = value * timesOf(ratio)
  if (ratio.basis === "own") {
    const factor = factorOf(together(ratio.spread, isCompared ? 0 : LIFETIME_SPREAD), level)
    return { value: stated, low: stated / factor, high: stated * factor }
  }
  const [before, now] = [PRIOR_SPREAD, ratio.spread].map((spread) => Math.log10(factorOf(spread, level)) ** 2)
  const widthOf = (factor: number) => 10 ** Math.sqrt(Math.max(0, Math.log10(factor) ** 2 - before! + now!))
  return { value: stated, low: stated / widthOf(value / low), high: stated * widthOf(high / value) }
}

/**
 * Multiplies the revenue of a rank on the grossing chart, or its upper bound, by the factor computed from the
 * workspace's own apps.
 */
export function restatePlace<Amount extends number | null>(
  { value, low, high, under }: Record<"value" | "low" | "high" | "under", Amount>,
  times: number,
): Record<"value" | "low" | "high" | "under", number | Amount> {
  const timesOf = (amount: Amount) => (amount === null ? amount : amount * times)
  return { value: timesOf(value), low: timesOf(low), high: timesOf(high), under: timesOf(under) }
}

/** Returns the revenue of a paid app for its converted downloads. */
export function restateRevenue({ value }: StatedFigure, downloads: StatedFigure, times: number): StatedFigure {
  const stated = value * times
  const factor = Math.max(MIN_FACTOR, downloads.value / downloads.low, downloads.high / downloads.value)
  return { value: stated, low: stated / factor, high: stated * factor }
}
