import { addDays } from "../../lib/days.ts"

/** What a row of the reports counts as. */
const FUNNEL_EVENTS = ["impressions", "pageViews", "taps", "firstDownloads", "redownloads", "other"] as const
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

export const TRAFFIC_SOURCES = [
  "search", "browse", "app_referrer", "web_referrer", "app_clip", "notification", "unavailable", "other",
] as const // biome-ignore format: a list to scan
export type TrafficSource = (typeof TRAFFIC_SOURCES)[number]

const SOURCE_WORDS: Record<string, TrafficSource> = {
  "app store search": "search",
  "app store browse": "browse",
  "app referrer": "app_referrer",
  "web referrer": "web_referrer",
  "app clip": "app_clip",
  notification: "notification",
  unavailable: "unavailable",
}

/** Of the report's own word; one that is new is `other`. */
export function trafficSource(said: string): TrafficSource {
  return SOURCE_WORDS[said.toLowerCase()] ?? "other"
}

/** The report's own word, in small letters. */
export function saidOf(source: Exclude<TrafficSource, "other">): string {
  return Object.keys(SOURCE_WORDS).find((word) => SOURCE_WORDS[word] === source) as string
}

/** A share of fewer than so many says more of chance than of the page. */
const LEAST_DENOMINATOR = 100

/** Of two counts; null where either is not known or the second is too small. Over 1 is right: a download needs no page view. */
export function funnelRate(of: number | null, by: number | null): number | null {
  if (of === null || by === null || by < LEAST_DENOMINATOR) return null
  return Math.round((of / by) * 10_000) / 10_000
}

/** What was read of a report about an app. */
export interface ReadFiles {
  /** Days of which a file said something, in order. */
  said: readonly string[]
  /** The first such day ever; null = none. */
  first: string | null
  /** The processing dates of files that were read, in order. */
  read: readonly string[]
  /** Of files that are there and were not read yet. */
  unread: readonly string[]
  /** Of files that cannot be read any more. */
  gone: readonly string[]
}

/** The last day that is whole: all files up to so many days after it were read. Null = none. */
export function wholeTo({ read, unread }: ReadFiles, lagDays: number): string | null {
  const firstUnread = unread[0]
  const last = read.filter((processed) => firstUnread === undefined || processed < firstUnread).at(-1)
  return last === undefined ? null : addDays(last, -lagDays)
}

/**
 * Of these days those that are reported: a file said something of one, or all files that could have were read, and it lies after
 * the first day that one did. Then nothing happened: a measured zero.
 */
export function reportedDays(days: readonly string[], files: ReadFiles, lagDays: number): string[] {
  const [said, whole] = [new Set(files.said), wholeTo(files, lagDays)]
  const isLost = (day: string) => files.gone.some((processed) => processed > day && processed <= addDays(day, lagDays))
  const isSilent = (day: string) =>
    files.first !== null && files.first <= day && whole !== null && day <= whole && !isLost(day)
  return days.filter((day) => said.has(day) || isSilent(day))
}
