import { addDays } from "../../lib/days.ts"

/** The events that the rows of the reports count. */
const FUNNEL_EVENTS = ["impressions", "pageViews", "taps", "firstDownloads", "redownloads", "other"] as const
export type FunnelEvent = (typeof FUNNEL_EVENTS)[number]

/**
 * Maps the report's event names to events. Updates, restores and unknown names are `other`, because they do not bring
 * new users.
 */
const COUNTS_AS: readonly (readonly [eventName: string, FunnelEvent])[] = [
  ["impression", "impressions"],
  ["page view", "pageViews"],
  ["tap", "taps"],
  ["first-time download", "firstDownloads"],
  ["redownload", "redownloads"],
]

/** Returns the report's names and their events as parallel lists, for parameters of an SQL statement. */
export function funnelEvents(): { eventNames: string[]; countsAs: string[] } {
  return { eventNames: COUNTS_AS.map(([eventName]) => eventName), countsAs: COUNTS_AS.map(([, event]) => event) }
}

export const TRAFFIC_SOURCES = [
  "search",
  "browse",
  "app_referrer",
  "web_referrer",
  "app_clip",
  "notification",
  "unavailable",
  "other",
] as const
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

/** Returns the traffic source of a name in a report. An unknown name is `other`. */
export function trafficSource(name: string): TrafficSource {
  return SOURCE_WORDS[name.toLowerCase()] ?? "other"
}

const PLAY_SOURCE_WORDS: Record<string, TrafficSource> = {
  "google play search": "search",
  "google play explore": "browse",
}

/**
 * Returns the traffic source of a name in Google Play's reports. Third-party referrals are `other`, because they
 * include ads, apps and websites.
 */
export function playTrafficSource(name: string): TrafficSource {
  return PLAY_SOURCE_WORDS[name.toLowerCase()] ?? "other"
}

/** Returns the report's name of a traffic source, in lower case. */
export function sourceName(source: Exclude<TrafficSource, "other">): string {
  return Object.keys(SOURCE_WORDS).find((word) => SOURCE_WORDS[word] === source) as string
}

/** Minimum denominator of a rate. With a smaller one a rate depends on chance more than on the page. */
const MIN_DENOMINATOR = 100

/**
 * Returns the ratio of two counts. Null if either is unknown or the denominator is too small. It may exceed 1, because
 * a download needs no page view.
 */
export function funnelRate(of: number | null, by: number | null): number | null {
  if (of === null || by === null || by < MIN_DENOMINATOR) return null
  return Math.round((of / by) * 10_000) / 10_000
}

/** The files of one report about an app. */
export interface ReadFiles {
  /** Days that occur in a file, in order. */
  daysInFiles: readonly string[]
  /** The first day that any file ever contained. Null if there is none. */
  first: string | null
  /** Processing dates of the files that were read, in order. */
  read: readonly string[]
  /** Processing dates of files that are available but not read yet. */
  unread: readonly string[]
  /** Processing dates of files that can no longer be read. */
  gone: readonly string[]
}

/** Returns the last complete day: all files up to `lagDays` after it were read. Null if there is none. */
export function wholeTo({ read, unread }: ReadFiles, lagDays: number): string | null {
  const firstUnread = unread[0]
  const last = read.filter((processed) => firstUnread === undefined || processed < firstUnread).at(-1)
  return last === undefined ? null : addDays(last, -lagDays)
}

/**
 * Returns the days that are reported. A day is reported if it is in a file. A day that is in no file is reported as
 * zero if it is later than the first day in any file, and all files that could contain it were read.
 */
export function reportedDays(days: readonly string[], files: ReadFiles, lagDays: number): string[] {
  const [covered, lastWhole] = [new Set(files.daysInFiles), wholeTo(files, lagDays)]
  const isLost = (day: string) => files.gone.some((processed) => processed > day && processed <= addDays(day, lagDays))
  const isSilent = (day: string) =>
    files.first !== null && files.first <= day && lastWhole !== null && day <= lastWhole && !isLost(day)
  return days.filter((day) => covered.has(day) || isSilent(day))
}
