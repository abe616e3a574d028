import { MONTH_DAYS } from "./count-readings.ts"
import type { DownloadEstimate } from "./downloads.ts"
import { type Estimate, estimateUnder, factorOf, type Level } from "./estimate.ts"

/** Revenue of a rank on a grossing chart on one day, in US dollars. */
interface GrossingAnchor {
  place: number
  usdADay: number
}

/** One day of an app of the workspace: its rank on a grossing chart, and its revenue there in US dollars. */
interface OwnPlace {
  place: number
  usd: number
}

/** Revenue of 30 days, in US dollars. */
export interface RevenueEstimate extends Estimate {
  markets: number
}

/** Minimum width of a revenue interval, as no public truth justifies a narrower one. */
export const MIN_FACTOR = 6
/**
 * Standard deviation of log10 of a published anchor: figures of one source contradict another's by up to five times.
 */
export const ANCHOR_SPREAD = 0.4
/**
 * Standard deviation of log10 between an app's revenue on its days on the chart and the estimated revenue of its ranks
 * on those days. The rank of a day varies by ×/÷1.2 around that of its week. Published slopes differ by 0.4, which is
 * 0.2 to 0.3 over five times the rank.
 */
export const PLACE_SPREAD = 0.25
/** Minimum number of days per app. Fewer days may cover only a launch or a sale. */
const MIN_OWN_DAYS = 7
/** Share of a price left after the store's commission of 15 or 30 %: the geometric mean of both cases. */
export const PROCEEDS_SHARE = Math.sqrt(0.7 * 0.85)

/**
 * The value of ranks on the overall grossing chart for iPhone in the United States.
 *
 * Source: Distimo's publication of June 2013, a vendor's own estimate. It is old, and the only one with two ranks of
 * the same day.
 */
export const PUBLISHED_ANCHORS: readonly GrossingAnchor[] = [
  { place: 10, usdADay: 47_000 },
  { place: 50, usdADay: 12_000 },
]

/**
 * Returns the revenue of a paid app: downloads · price · share. Null if the downloads are unknown or the app is free.
 * In-app purchases are not included.
 */
export function paidRevenue(downloads: DownloadEstimate | null, priceUsd: number | null): RevenueEstimate | null {
  if (!downloads || priceUsd === null || priceUsd <= 0) return null
  const { value, under, level, basis, markets, pairs, coverage } = downloads
  const money = priceUsd * PROCEEDS_SHARE
  // no sale in the compared days means fewer than one
  if (!value) return { ...estimateUnder(wholeUsd((under ?? 1) * money), level, basis), markets }
  const factor = Math.max(MIN_FACTOR, value / downloads.low, downloads.high / value)
  return { ...revenueAround(value * money, factor, level, basis), markets, pairs, coverage }
}

/**
 * Revenue of an app at a rank of a grossing chart in one storefront: b · rank^-a through the two anchors around the
 * rank. Behind the last anchor the result is under that anchor's revenue, at its high end. Null before the first
 * anchor: curves flatten towards the top, and extrapolation to rank 1 would overstate it five times (published a = 0.55
 * to 0.95).
 *
 * A null `place` means that the app is on no chart that was read: its revenue is under that of `deepest`, the last rank
 * of the deepest chart it could be on. All anchors must belong to one chart and genre.
 */
export function grossingRevenue(
  place: number | null,
  deepest: number | null,
  anchors: readonly GrossingAnchor[],
  level: Level = 0.8,
): RevenueEstimate | null {
  const curve = curveOf(anchors)
  const [first, last] = [curve[0], curve.at(-1)]
  const at = place ?? deepest
  if (!first || !last || at === null || at < first.place) return null
  const factor = Math.max(MIN_FACTOR, factorOf(ANCHOR_SPREAD, level))
  const monthly = moneyAt(Math.min(at, last.place), curve) * MONTH_DAYS
  if (place === null || at > last.place) {
    return { ...estimateUnder(wholeUsd(monthly * factor), level, "prior"), markets: 1 }
  }
  return { ...revenueAround(monthly, factor, level, "prior"), markets: 1 }
}

/**
 * Returns the factor between the revenue of the workspace's apps at their ranks and that of the anchors: the mean of
 * log10 over an app's days, then over the apps, shrunk towards the anchors by ANCHOR_SPREAD (the anchors' error) and
 * PLACE_SPREAD (an app's), errors assumed normal. The curve is extrapolated behind the last anchor. Null without
 * revenue, with fewer than 7 days, or with ranks before the first anchor only.
 */
export function grossingTimes(
  apps: readonly (readonly OwnPlace[])[],
  anchors: readonly GrossingAnchor[] = PUBLISHED_ANCHORS,
): number | null {
  const curve = curveOf(anchors)
  const first = curve[0]?.place ?? Number.POSITIVE_INFINITY
  const logs = apps.flatMap((days) => {
    const valid = days.filter(({ place, usd }) => place >= first && usd > 0)
    if (valid.length < MIN_OWN_DAYS) return []
    return [valid.reduce((sum, { place, usd }) => sum + Math.log10(usd / moneyAt(place, curve)), 0) / valid.length]
  })
  if (logs.length === 0) return null
  const each = 1 / PLACE_SPREAD ** 2
  const precision = 1 / ANCHOR_SPREAD ** 2 + logs.length * each
  return 10 ** ((each * logs.reduce((sum, log) => sum + log, 0)) / precision)
}

function revenueAround(value: number, factor: number, level: Level, basis: Estimate["basis"]): Estimate {
  return { value, under: null, low: value / factor, high: value * factor, level, basis, pairs: 0, coverage: null }
}

/** Rounds an upper bound to whole dollars, at least 1. */
function wholeUsd(amount: number): number {
  return Math.max(1, Math.round(amount))
}

/** Sorts anchors by rank; two at the same rank become their geometric mean. Empty if only one anchor is left. */
function curveOf(anchors: readonly GrossingAnchor[]): GrossingAnchor[] {
  const places = Map.groupBy(anchors, ({ place }) => place)
  const curve = [...places].map(([place, same]) => {
    const log = same.reduce((sum, { usdADay }) => sum + Math.log10(usdADay), 0) / same.length
    return { place, usdADay: 10 ** log }
  })
  return curve.length >= 2 ? curve.sort((a, b) => a.place - b.place) : []
}

/** Returns the revenue of a rank, from the first anchor on. Below the last anchor the last slope continues. */
function moneyAt(place: number, curve: readonly GrossingAnchor[]): number {
  const next = curve.findIndex((anchor) => anchor.place >= place)
  const upTo = next === -1 ? curve.length - 1 : Math.max(1, next)
  const [above, below] = [curve[upTo - 1], curve[upTo]] as [GrossingAnchor, GrossingAnchor]
  const slope = Math.log(below.usdADay / above.usdADay) / Math.log(below.place / above.place)
  return above.usdADay * (place / above.place) ** slope
}
