import { addDays, daysInMonth } from "../../../lib/days.ts"
import type { PlayReport } from "../../../lib/upstreams.ts"
import { PutAside } from "../../../measuring/parsing/put-aside.ts"
import { type About, ReadFailure } from "../../../measuring/source.ts"
import type { PlayObservation } from "../../kinds/play.ts"
import { REPORT_ZONE } from "../../pacific.ts"
import { playCountDays } from "./counts.ts"
import { playEarningsDays, playSalesDays } from "./money.ts"

/** A kind of report in the bucket of Google Play Console. */
interface PlayReportFamily {
  report: PlayReport
  /** The name that is shown to people. */
  title: string
  /** The folder of its files in the bucket. */
  prefix: string
  /** Matches a file name without the folder. Group `month` is yyyyMM, group `app` is the package. */
  name: RegExp
  /** False if each file is about all apps of the developer. */
  perPackage: boolean
  zipped: boolean
  /** The time zone of its days. */
  dayZone: string
  /** False if the bodies name buyers' orders and places. Such bodies are never stored. */
  keepsBody: boolean
}

const stats = { perPackage: true, zipped: false, dayZone: REPORT_ZONE, keepsBody: true } as const
const money = { perPackage: false, zipped: true, keepsBody: false } as const

/** The kinds of reports that are read. */
export const PLAY_REPORTS: readonly PlayReportFamily[] = [
  {
    report: "play_installs",
    title: "installs",
    prefix: "stats/installs/",
    name: /^installs_(?<app>.+)_(?<month>\d{6})_overview\.csv$/,
    ...stats,
  },
  {
    report: "play_installs_country",
    title: "installs by country",
    prefix: "stats/installs/",
    name: /^installs_(?<app>.+)_(?<month>\d{6})_country\.csv$/,
    ...stats,
  },
  {
    report: "play_store_country",
    title: "store performance by country",
    prefix: "stats/store_performance/",
    name: /^store_performance_(?<app>.+)_(?<month>\d{6})_country\.csv$/,
    ...stats,
  },
  {
    report: "play_store_sources",
    title: "store performance by traffic source",
    prefix: "stats/store_performance/",
    name: /^store_performance_(?<app>.+)_(?<month>\d{6})_traffic_source\.csv$/,
    ...stats,
  },
  {
    report: "play_ratings",
    title: "ratings",
    prefix: "stats/ratings/",
    name: /^ratings_(?<app>.+)_(?<month>\d{6})_overview\.csv$/,
    ...stats,
  },
  {
    report: "play_ratings_country",
    title: "ratings by country",
    prefix: "stats/ratings/",
    name: /^ratings_(?<app>.+)_(?<month>\d{6})_country\.csv$/,
    ...stats,
  },
  {
    report: "play_crashes",
    title: "crashes",
    prefix: "stats/crashes/",
    name: /^crashes_(?<app>.+)_(?<month>\d{6})_overview\.csv$/,
    ...stats,
  },
  {
    report: "play_earnings",
    title: "earnings",
    prefix: "earnings/",
    name: /^earnings_(?<month>\d{6})(_[\w-]+)?\.zip$/,
    // The files print Pacific times, and each file begins with a Pacific month.
    dayZone: REPORT_ZONE,
    ...money,
  },
  {
    report: "play_sales",
    title: "estimated sales",
    prefix: "sales/",
    name: /^salesreport_(?<month>\d{6})\.zip$/,
    dayZone: "UTC",
    ...money,
  },
]

/** The parts of a file name. */
interface PlayFileName {
  family: PlayReportFamily
  /** The package. Null if the file is about all apps. */
  app: string | null
  /** "2026-10" */
  month: string
}

/** Returns the parts of a file name. Null if no such report is read. */
export function playFileName(object: string): PlayFileName | null {
  for (const family of PLAY_REPORTS) {
    if (!object.startsWith(family.prefix)) continue
    const { app = null, month } = family.name.exec(object.slice(family.prefix.length))?.groups ?? {}
    if (month === undefined || !/^20\d\d(0[1-9]|1[0-2])$/.test(month)) continue
    return { family, app, month: `${month.slice(0, 4)}-${month.slice(4)}` }
  }
  return null
}

/** A file of the bucket, with its decoded text. */
interface PlayObject {
  name: string
  /** The bucket's version number of the file, which increases when the file is replaced. */
  generation: string
  /** Time when this generation was written to the bucket, in ISO 8601. */
  updated: string
  text: string
}

/** The days of a file. If the file is unreadable, the problem instead, with its line and column. */
export type ParsedPlayReport =
  | {
      problem: null
      family: PlayReportFamily
      app: string | null
      /** The file name with its generation. */
      file: string
      /**
       * The days, oldest first. Empty if the file has no rows. A missing day is not reported; a day without rows is
       * reported and has no transactions.
       */
      days: readonly { day: string; rows: readonly object[] }[]
      /** How many rows were skipped, and why. Null if none were. */
      putAside: string | null
    }
  | { problem: string }

/** Raise this whenever files are parsed differently. */
const PARSER = 1

/** Parses a monthly file. */
export async function parsePlayReport(object: PlayObject): Promise<ParsedPlayReport> {
  const named = playFileName(object.name)
  if (named === null) return { problem: "the file name belongs to no report that is read" }
  const { family, app, month } = named
  const aside = new PutAside()
  try {
    const found = await daysIn(object, named, aside)
    const days = family.perPackage ? [...found] : wholeDays(found, { month, updated: object.updated, family })
    return {
      problem: null,
      family,
      app,
      file: `${object.name}#${object.generation}`,
      days: days.map(([day, rows]) => ({ day, rows })),
      putAside: aside.text(),
    }
  } catch (error) {
    if (!(error instanceof ReadFailure)) throw error
    return { problem: error.message }
  }
}

async function daysIn(
  { text }: PlayObject,
  { family: { report }, app, month }: PlayFileName,
  aside: PutAside,
): Promise<Map<string, readonly object[]>> {
  if (report === "play_earnings") return await playEarningsDays(text, month, aside)
  if (report === "play_sales") return await playSalesDays(text, month, aside)
  return await playCountDays(text, { report, app: app!, month }, aside)
}

/** Number of days after a month's end during which its estimated sales still grow. */
const SETTLED_DAYS = 3

/**
 * Adds the days without a transaction, which are measured zeros: all days up to the last day with a transaction; or, if
 * the file was made after the month had ended and settled, all days of the month. Later days of a month that still
 * grows are not reported.
 */
function wholeDays(
  found: ReadonlyMap<string, readonly object[]>,
  { month, updated, family }: { month: string; updated: string; family: PlayReportFamily },
): [string, readonly object[]][] {
  const first = `${month}-01`
  const last = addDays(first, daysInMonth(first) - 1)
  const settled = addDays(last, family.report === "play_sales" ? SETTLED_DAYS : 1)
  const end = updated.slice(0, 10) >= settled ? last : ([...found.keys()].at(-1) ?? "")
  const days: [string, readonly object[]][] = []
  for (let day = first; day <= end; day = addDays(day, 1)) days.push([day, found.get(day) ?? []])
  return days
}

/** Returns the observations of a parsed file, as `record` takes them. */
export function playObservations(
  { family, app, file, days }: Extract<ParsedPlayReport, { problem: null }>,
  account: string,
  { seenAt, sha256 }: About,
): PlayObservation[] {
  const head = { kind: family.report, source: "play-console", platform: "android", seenAt, parser: PARSER }
  return days.map(({ day, rows }) => {
    const about = { account, ...(app !== null && { app }), file, day, rows }
    return { ...head, origin: "own", sha256, ...about } as PlayObservation
  })
}
