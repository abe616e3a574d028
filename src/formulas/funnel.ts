/** What a row of the reports counts as. */
export const FUNNEL_EVENTS = ["impressions", "pageViews", "taps", "firstDownloads", "redownloads", "other"] as const
export type FunnelEvent = (typeof FUNNEL_EVENTS)[number]

/** By the report's own words. Updates and restores are no way to an app; what is new among the words is `other` too. */
const COUNTS_AS: readonly (readonly [said: string, FunnelEvent])[] = [
  ["impression", "impressions"],
  ["page view", "pageViews"],
  ["tap", "taps"],
  ["first-time download", "firstDownloads"],
  ["redownload", "redownloads"],
]

/** Both lists side by side, as a statement takes them. */
export function funnelEvents(): { said: string[]; countsAs: string[] } {
  return { said: COUNTS_AS.map(([said]) => said), countsAs: COUNTS_AS.map(([, event]) => event) }
}

/** A share of fewer than so many says more of chance than of the page. */
export const LEAST_DENOMINATOR = 100

/** Of two counts; null where either is not known or the second is too small. May be over 1: downloads come without a page view too. */
export function funnelRate(of: number | null, by: number | null): number | null {
  if (of === null || by === null || by < LEAST_DENOMINATOR) return null
  return Math.round((of / by) * 10_000) / 10_000
}
