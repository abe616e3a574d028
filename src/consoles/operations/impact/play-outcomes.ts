import type { Sql } from "../../../database/types.ts"
import { addDays } from "../../../lib/days.ts"
import { DAY_MS } from "../../../lib/time.ts"
import { pacificDay } from "../../pacific.ts"
import type { AppAccount } from "../../read/app-accounts.ts"
import { type PlayCountryDay, type PlayStanding, readPlayCountryDays, readPlayStanding } from "../../read/read-play.ts"
import type { ChangedPage } from "./changed-day.ts"
import { inSpan, judgedSince, type OutcomeFigures, type OutcomeSpan } from "./outcome.ts"
import { perDownload, readCountryDays, type SoldBy, salesSpan, soldBy, together } from "./sales-outcomes.ts"

/** The monthly files with figures by country that are compared. */
const REPORTS = ["play_store_country", "play_installs_country", "play_earnings"] as const

interface PlayImpact {
  /** Outcomes of the store page (`page`), and of installs and earnings (`sales`). Empty if no file has figures. */
  page: OutcomeFigures[]
  sales: OutcomeFigures[]
  /** Status of each file on the compared days that are already over. */
  standings: PlayStanding[]
  /** Number of compared days that are already over. */
  days: number
}

/**
 * Compares the visitors of the store page, the visitors who installed the app, installs and settled proceeds of
 * storefronts that changed with those of storefronts that did not. A figure is complete once its file has the last day
 * of the window: monthly files appear late, and those of earnings after the month has ended.
 */
export async function readPlayImpact(
  sql: Sql,
  account: AppAccount,
  { changed, window, now }: { changed: ChangedPage; window: number; now: Date },
): Promise<PlayImpact> {
  const span = salesSpan(changed, window)
  const yesterday = addDays(pacificDay(now), -1)
  const query = { to: yesterday, days: Math.round((Date.parse(yesterday) - Date.parse(span.first)) / DAY_MS) + 1 }
  const countries = [...changed.treated, ...changed.unchanged]
  const place = { from: span.first, to: span.after.to, countries }
  const [counted, sold, ...standings] = await Promise.all([
    readPlayCountryDays(sql, account, place),
    readCountryDays(sql, account, place),
    ...REPORTS.map((report) => readPlayStanding(sql, account, report, query)),
  ])
  const [visits, installs, earnings] = standings as [PlayStanding, PlayStanding, PlayStanding]
  const countsOf = (country: string, { report, reported }: PlayStanding) =>
    playCounts(
      country,
      counted.filter((row) => row.report === report),
      { span, reported: new Set(reported) },
    )
  const soldIn = (country: string): SoldBy => {
    const { installs: downloads } = countsOf(country, installs)
    const rows = sold.filter((row) => row.country === country)
    const { values } = soldBy(country, rows, span, new Set(earnings.reported))
    return { name: country, weight: totalOf(downloads), values, downloads }
  }
  const within = standings.map((standing) => standingIn(standing, span))
  return {
    page: visits.isKnown ? pageOutcomes(changed, span, visits, (country) => countsOf(country, visits)) : [],
    sales: installs.isKnown ? salesOutcomes(changed, span, { installs, earnings }, soldIn) : [],
    standings: within.filter(({ isKnown }) => isKnown),
    days: Math.min(span.days, query.days),
  }
}

interface Counts {
  name: string
  visitors: (number | null)[]
  installs: (number | null)[]
}

/**
 * Returns the counts of a country on each day. A reported day without a row is zero, unless the file sums up small
 * countries on that day: the country may be one of them. A withheld count is unknown.
 */
function playCounts(
  name: string,
  rows: readonly PlayCountryDay[],
  { span, reported }: { span: OutcomeSpan; reported: ReadonlySet<string> },
): Counts {
  const byDay = new Map(rows.filter(({ country }) => country === name).map((row) => [row.day, row]))
  const summedUp = new Set(rows.filter(({ country }) => country === null).map(({ day }) => day))
  const each = (count: (row: PlayCountryDay) => number | null) =>
    inSpan(span, (day) => {
      const row = byDay.get(day)
      if (!reported.has(day)) return null
      return row ? count(row) : summedUp.has(day) ? null : 0
    })
  return { name, visitors: each((row) => row.visitors), installs: each((row) => row.installs) }
}

function pageOutcomes(
  { treated, unchanged }: ChangedPage,
  span: OutcomeSpan,
  standing: PlayStanding,
  countsIn: (country: string) => Counts,
): OutcomeFigures[] {
  const shared = {
    better: "higher" as const,
    treated,
    country: null,
    span,
    isComplete: isReported(standing, span),
    isYoung: (standing.reported[0] ?? span.after.to) > judgedSince(span),
  }
  const counts = new Map([...treated, ...unchanged].map((country) => [country, countsIn(country)]))
  const comparing = (figuresOf: (of: Counts) => OutcomeFigures["comparison"]["treated"][number]) => ({
    scale: "counts" as const,
    treated: treated.map((country) => figuresOf(counts.get(country)!)),
    controls: unchanged.map((country) => figuresOf(counts.get(country)!)),
  })
  const weighed = ({ name, visitors }: Counts) => ({ name, weight: totalOf(visitors) })
  return [
    {
      outcome: "conversion",
      ...shared,
      comparison: comparing((of) => ({ ...weighed(of), values: of.installs, per: of.visitors })),
    },
    {
      outcome: "store_visitors",
      ...shared,
      comparison: comparing((of) => ({ ...weighed(of), values: of.visitors })),
    },
    {
      outcome: "acquisitions",
      ...shared,
      comparison: comparing((of) => ({ ...weighed(of), values: of.installs })),
    },
  ]
}

function salesOutcomes(
  { treated, unchanged }: ChangedPage,
  span: OutcomeSpan,
  { installs, earnings }: { installs: PlayStanding; earnings: PlayStanding },
  soldIn: (country: string) => SoldBy,
): OutcomeFigures[] {
  const [changedSales, controls] = [treated.map(soldIn), unchanged.map(soldIn)]
  const shared = { better: "higher" as const, treated, country: null, span }
  const downloads: OutcomeFigures = {
    outcome: "downloads",
    ...shared,
    isComplete: isReported(installs, span),
    comparison: {
      scale: "counts",
      treated: [together(treated.join(" "), changedSales, span)],
      controls: controls.map(({ per: _, ...figures }) => ({ ...figures, values: figures.downloads })),
    },
  }
  if (!earnings.isKnown) return [downloads]
  return [
    downloads,
    {
      outcome: "proceeds_per_download",
      ...shared,
      isComplete: isReported(installs, span) && isReported(earnings, span),
      comparison: { scale: "counts", treated: changedSales.map(perDownload), controls: controls.map(perDownload) },
    },
  ]
}

function isReported({ reported }: PlayStanding, { after }: OutcomeSpan): boolean {
  return (reported.at(-1) ?? "") >= after.to
}

function totalOf(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

/** Returns the status without late days before the first file and without days after the window. */
function standingIn({ reported, late, ...standing }: PlayStanding, { after }: OutcomeSpan): PlayStanding {
  const first = reported[0] ?? ""
  return {
    ...standing,
    reported: reported.filter((day) => day <= after.to),
    late: late.filter((day) => day > first && day <= after.to),
  }
}
