import { MONTH_DAYS } from "./count-readings.ts"
import type { DownloadEstimate } from "./downloads.ts"
import { type Estimate, estimateUnder, factorOf, type Level } from "./estimate.ts"

/** What a place of a grossing chart was worth on a day, in US dollars. */
export interface GrossingAnchor {
  place: number
  usdADay: number
  /** Own: an own app's revenue of a day on which it stood there. */
  basis: "own" | "prior"
}

/** Money of 30 days, in US dollars. */
export interface RevenueEstimate extends Estimate {
  markets: number
}

/** No figure of revenue is narrower: there is no public truth that would show one. */
export const LEAST_FACTOR = 6
/** Of log10, of a published anchor: figures of one source contradict another's by up to five times. */
export const ANCHOR_SPREAD = 0.4
/** What is left of a price after the store's commission of 15 or 30 %: their geometric middle. */
export const PROCEEDS_SHARE = Math.sqrt(0.7 * 0.85)

/**
 * What the overall grossing chart of iPhones was worth in the United States.
 *
 * Source: Distimo's publication of June 2013, a vendor's own estimate; old, and the only one with two places of one day.
 */
export const PUBLISHED_ANCHORS: readonly GrossingAnchor[] = [
  { place: 10, usdADay: 47_000, basis: "prior" },
  { place: 50, usdADay: 12_000, basis: "prior" },
]

/**
 * A paid app: downloads · price · share. Null where downloads are not known or the app is free; what its in-app purchases
 * bring is not in it.
 */
export function paidRevenue(downloads: DownloadEstimate | null, priceUsd: number | null): RevenueEstimate | null {
  if (!downloads || priceUsd === null || priceUsd <= 0) return null
  const { value, under, level, basis, markets, pairs, coverage } = downloads
  const money = priceUsd * PROCEEDS_SHARE
  // none sold in the days that were compared is less than one
  if (!value) return { ...estimateUnder(wholeUsd((under ?? 1) * money), level, basis), markets }
  const factor = Math.max(LEAST_FACTOR, value / downloads.low, downloads.high / value)
  return { ...revenueAround(value * money, factor, level, basis), markets, pairs, coverage }
}

/**
 * An app at a place of a grossing chart, in one storefront: b · place^-a through the two anchors it stands between. Behind
 * the last anchor it is under that anchor's money, at its high end. Before the first it is null: curves flatten towards the
 * top, and a line drawn on to the first place says five times too much (a = 0.55 to 0.95 in what is published).
 *
 * `place` null = in no chart that was read: under the money of `deepest`, the last place of the deepest chart it could
 * stand in. Anchors of one chart and genre; own ones displace published ones where there are two.
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
  const factor = Math.max(LEAST_FACTOR, factorOf(first.basis === "own" ? 0 : ANCHOR_SPREAD, level))
  const monthly = moneyAt(Math.min(at, last.place), curve) * MONTH_DAYS
  if (place === null || at > last.place) {
    return { ...estimateUnder(wholeUsd(monthly * factor), level, first.basis), markets: 1 }
  }
  return { ...revenueAround(monthly, factor, level, first.basis), markets: 1 }
}

function revenueAround(value: number, factor: number, level: Level, basis: Estimate["basis"]): Estimate {
  return { value, under: null, low: value / factor, high: value * factor, level, basis, pairs: 0, coverage: null }
}

/** An amount that money lies below: never none. */
function wholeUsd(amount: number): number {
  return Math.max(1, Math.round(amount))
}

/** By place; of two at one place their geometric mean. One anchor alone is no curve. */
function curveOf(anchors: readonly GrossingAnchor[]): GrossingAnchor[] {
  const own = merged(anchors.filter(({ basis }) => basis === "own"))
  const curve = own.length >= 2 ? own : merged(anchors.filter(({ basis }) => basis === "prior"))
  return curve.length >= 2 ? curve : []
}

function merged(anchors: readonly GrossingAnchor[]): GrossingAnchor[] {
  const places = Map.groupBy(anchors, ({ place }) => place)
  return [...places]
    .map(([place, same]) => {
      const log = same.reduce((sum, { usdADay }) => sum + Math.log10(usdADay), 0) / same.length
      return { place, usdADay: 10 ** log, basis: (same[0] as GrossingAnchor).basis }
    })
    .sort((a, b) => a.place - b.place)
}

/** Between the first anchor and the last. */
function moneyAt(place: number, curve: readonly GrossingAnchor[]): number {
  const above = curve.findLast((anchor) => anchor.place <= place) as GrossingAnchor
  const below = curve.find((anchor) => anchor.place >= place) as GrossingAnchor
  if (above.place === below.place) return above.usdADay
  const slope = Math.log(below.usdADay / above.usdADay) / Math.log(below.place / above.place)
  return above.usdADay * (place / above.place) ** slope
}
