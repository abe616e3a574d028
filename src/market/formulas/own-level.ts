import { LIFETIME_SPREAD } from "./downloads.ts"
import { factorOf, type Level, together } from "./estimate.ts"
import { BETWEEN_APPS, type DownloadsPerRating, STORE_PRIORS } from "./ratio.ts"
import { LEAST_FACTOR } from "./revenue.ts"

/** A value with its interval. */
export interface StatedFigure {
  value: number
  low: number
  high: number
}

const PRIOR = STORE_PRIORS.ios
/** What is not known of an app's downloads per rating by the store's prior. */
const PRIOR_SPREAD = together(PRIOR.spread, BETWEEN_APPS)

/** By how much downloads change that were made with what is known of the App Store at large. */
export function timesOf(ratio: DownloadsPerRating): number {
  return ratio.value / 10 ** PRIOR.mean
}

/**
 * Downloads of an App Store app as they would be made with these downloads per rating, out of those that were made with the
 * store's prior: as many times, and of the interval's width the prior's share is taken out and this one's put in (both of
 * log10, errors independent). An own ratio's spread holds the chance of small gains already; `isCompared` says that no
 * storefront was counted once alone.
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

/** The revenue of a place of the grossing list, or what lies under it, where own apps bring so many times its published money. */
export function restatePlace<Amount extends number | null>(
  { value, low, high, under }: Record<"value" | "low" | "high" | "under", Amount>,
  times: number,
): Record<"value" | "low" | "high" | "under", number | Amount> {
  const timesOf = (amount: Amount) => (amount === null ? amount : amount * times)
  return { value: timesOf(value), low: timesOf(low), high: timesOf(high), under: timesOf(under) }
}

/** The revenue of a paid app by its downloads as they are stated now. */
export function restateRevenue({ value }: StatedFigure, downloads: StatedFigure, times: number): StatedFigure {
  const stated = value * times
  const factor = Math.max(LEAST_FACTOR, downloads.value / downloads.low, downloads.high / downloads.value)
  return { value: stated, low: stated / factor, high: stated * factor }
}
