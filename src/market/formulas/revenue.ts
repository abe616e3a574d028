import { MONTH_DAYS } from "./count-readings.ts"
import type { DownloadEstimate } from "./downloads.ts"
import { type Estimate, estimateUnder, factorOf, type Level } from "./estimate.ts"

/** What a place of a grossing chart was worth on a day, in US dollars. */
interface GrossingAnchor {
  place: number
  usdADay: number
}

/** A day of an own app: its place on the grossing chart, and what it brought in that storefront, in US dollars. */
interface OwnPlace {
  place: number
  usd: number
}

/** Money of 30 days, in US dollars. */
export interface RevenueEstimate extends Estimate {
  markets: number
}

/** No figure of revenue is narrower: there is no public truth that would show one. */
export const LEAST_FACTOR = 6
/** Of log10, of a published anchor: figures of one source contradict another's by up to five times. */
export const ANCHOR_SPREAD = 0.4
/**
 * Of log10, between what an app brings in its days on the chart and what its places are worth there. A day's place lies
 * ×/÷1.2 about its week's; slopes that are published lie 0.4 apart, which is 0.2 to 0.3 over five times the place.
 */
export const PLACE_SPREAD = 0.25
/** Of one app so many days: fewer may be a launch's or a sale's. */
const LEAST_OWN_DAYS = 7
/** What is left of a price after the store's commission of 15 or 30 %: their geometric middle. */
export const PROCEEDS_SHARE = Math.sqrt(0.7 * 0.85)

/**
 * What the overall grossing chart of iPhones was worth in the United States.
 *
 * Source: Distimo's publication of June 2013, a vendor's own estimate; old, and the only one with two places of one day.
 */
export const PUBLISHED_ANCHORS: readonly GrossingAnchor[] = [
  { place: 10, usdADay: 47_000 },
  { place: 50, usdADay: 12_000 },
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
 * stand in. Anchors of one chart and genre.
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
  const factor = Math.max(LEAST_FACTOR, factorOf(ANCHOR_SPREAD, level))
  const monthly = moneyAt(Math.min(at, last.place), curve) * MONTH_DAYS
  if (place === null || at > last.place) {
    return { ...estimateUnder(wholeUsd(monthly * factor), level, "prior"), markets: 1 }
  }
  return { ...revenueAround(monthly, factor, level, "prior"), markets: 1 }
}

/**
 * How many times the money of the anchors own apps bring at their places: the mean of log10 over an app's days, of the apps
 * drawn to the anchors by ANCHOR_SPREAD (the anchors' error) and PLACE_SPREAD (an app's), errors normal. Behind the last
 * anchor the curve is drawn on. Null = they say nothing: no money, fewer than 7 days, or places before the first anchor.
 */
export function grossingTimes(
  apps: readonly (readonly OwnPlace[])[],
  anchors: readonly GrossingAnchor[] = PUBLISHED_ANCHORS,
): number | null {
  const curve = curveOf(anchors)
  const first = curve[0]?.place ?? Number.POSITIVE_INFINITY
  const logs = apps.flatMap((days) => {
    const known = days.filter(({ place, usd }) => place >= first && usd > 0)
    if (known.length < LEAST_OWN_DAYS) return []
    return [known.reduce((sum, { place, usd }) => sum + Math.log10(usd / moneyAt(place, curve)), 0) / known.length]
  })
  if (logs.length === 0) return null
  const each = 1 / PLACE_SPREAD ** 2
  const precision = 1 / ANCHOR_SPREAD ** 2 + logs.length * each
  return 10 ** ((each * logs.reduce((sum, log) => sum + log, 0)) / precision)
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
  const places = Map.groupBy(anchors, ({ place }) => place)
  const curve = [...places].map(([place, same]) => {
    const log = same.reduce((sum, { usdADay }) => sum + Math.log10(usdADay), 0) / same.length
    return { place, usdADay: 10 ** log }
  })
  return curve.length >= 2 ? curve.sort((a, b) => a.place - b.place) : []
}

/** From the first anchor on; behind the last by the slope before it. */
function moneyAt(place: number, curve: readonly GrossingAnchor[]): number {
  const next = curve.findIndex((anchor) => anchor.place >= place)
  const upTo = next === -1 ? curve.length - 1 : Math.max(1, next)
  const [above, below] = [curve[upTo - 1], curve[upTo]] as [GrossingAnchor, GrossingAnchor]
  const slope = Math.log(below.usdADay / above.usdADay) / Math.log(below.place / above.place)
  return above.usdADay * (place / above.place) ** slope
}
