import type { Sql } from "../../../database/types.ts"
import { addDays, dayOf, earlier } from "../../../lib/days.ts"
import type { AnalyticsReport } from "../../../lib/upstreams.ts"
import type { DailyFigures } from "../../impact/series.ts"
import { pacificDay } from "../../pacific.ts"
import type { AppAccount } from "../../read/app-accounts.ts"
import {
  type FunnelDay,
  type FunnelStanding,
  readFunnelDays,
  readFunnelStanding,
  readWhyNoAnalytics,
} from "../../seller/read-funnel.ts"
import type { ChangedPage } from "./changed-day.ts"
import { inSpan, judgedSince, type OutcomeFigures, type OutcomeSpan, spanAround } from "./outcome.ts"

export interface FunnelImpact {
  standing: FunnelStanding
  /** Number of requested days. */
  days: number
  /** Empty if the reports have no data yet. */
  outcomes: OutcomeFigures[]
  /** Why outcomes are missing, and the action that a person must take. Null if none are missing. */
  missing: string | null
}

/**
 * Compares the search impressions, and the first downloads per page view, of storefronts that changed with those of
 * storefronts that did not.
 */
export async function readFunnelImpact(
  sql: Sql,
  account: AppAccount,
  { changed, window, now }: { changed: ChangedPage; window: number; now: Date },
): Promise<FunnelImpact> {
  const span = funnelSpan(changed, window)
  const to = earlier(span.after.to, addDays(pacificDay(now), -1))
  const query = { from: span.first, to, days: span.days }
  const standing = await readFunnelStanding(sql, account, query)
  const { engagement, downloads } = standing
  if (!engagement.isKnown) {
    const why = await readWhyNoAnalytics(sql, account)
    return { standing, days: span.days, outcomes: [], missing: why ?? FIRST_FILE }
  }
  const countries = [...changed.treated, ...changed.unchanged]
  const rows = await readFunnelDays(sql, account, { from: span.first, to, countries })
  const outcomes = outcomesOf(rows, { changed, span, standing })
  return { standing, days: span.days, outcomes, missing: downloads.isKnown ? null : DOWNLOADS_FILE }
}

const FIRST_FILE = "the console creates the first analytics file within two days of the request"
const DOWNLOADS_FILE = "the console's analytics have no downloads yet"

/**
 * Apple does not document the time zone of these days, so both days on which the change may have happened are left out.
 */
function funnelSpan({ notYetAt, at, ownDays }: ChangedPage, window: number): OutcomeSpan {
  return spanAround(null, { from: pacificDay(notYetAt), to: dayOf(at) }, { window, ownDays })
}

interface FunnelContext {
  changed: ChangedPage
  span: OutcomeSpan
  standing: FunnelStanding
}

function outcomesOf(rows: readonly FunnelDay[], { changed, span, standing }: FunnelContext): OutcomeFigures[] {
  const { engagement, downloads } = standing
  const byCountry = Map.groupBy(rows, ({ country }) => country)
  const seen = (country: string, reports: readonly AnalyticsReport[]) =>
    countsOf(byCountry.get(country) ?? [], { name: country, span, standing, reports })
  const shared = { better: "higher" as const, treated: changed.treated, country: null, span }
  const impressions = ({ searchImpressions, ...one }: FunnelCounts) => ({ ...one, values: searchImpressions })
  const impressionsIn = (country: string) => impressions(seen(country, ["engagement"]))
  const loaded = (country: string) => {
    const { pageViews, firstDownloads, ...one } = seen(country, ["engagement", "downloads"])
    return { ...one, values: firstDownloads, per: pageViews }
  }
  const state = (reports: readonly AnalyticsReport[]) => ({
    isComplete: reports.every((report) => (standing[report].wholeTo ?? "") >= span.after.to),
    isYoung: reports.some((report) => (standing[report].reported[0] ?? span.after.to) > judgedSince(span)),
  })
  const areBothReported = engagement.isKnown && downloads.isKnown
  return [
    {
      outcome: "search_impressions",
      ...shared,
      ...state(["engagement"]),
      comparison: {
        scale: "counts",
        treated: changed.treated.map(impressionsIn),
        controls: changed.unchanged.map(impressionsIn),
      },
    },
    ...(areBothReported
      ? [
          {
            outcome: "conversion" as const,
            ...shared,
            ...state(["engagement", "downloads"]),
            comparison: {
              scale: "counts" as const,
              treated: changed.treated.map(loaded),
              controls: changed.unchanged.map(loaded),
            },
          },
        ]
      : []),
  ]
}

interface FunnelCounts extends Pick<DailyFigures, "name" | "weight"> {
  searchImpressions: (number | null)[]
  pageViews: (number | null)[]
  firstDownloads: (number | null)[]
}

/**
 * Returns the counts of each day. A day is unknown if one of the reports does not cover it. A covered day without a row
 * is zero.
 */
function countsOf(
  rows: readonly FunnelDay[],
  about: Omit<FunnelContext, "changed"> & { name: string; reports: readonly AnalyticsReport[] },
): FunnelCounts {
  const { name, span, standing, reports } = about
  const reportedDays = reports.map((report) => new Set(standing[report].reported))
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const each = (count: (row: FunnelDay) => number) =>
    inSpan(span, (day) => {
      if (!reportedDays.every((days) => days.has(day))) return null
      const row = byDay.get(day)
      return row ? count(row) : 0
    })
  const weight = rows.reduce((sum, row) => sum + (reports.length > 1 ? row.pageViews : row.searchImpressions), 0)
  return {
    name,
    weight,
    searchImpressions: each((row) => row.searchImpressions),
    pageViews: each((row) => row.pageViews),
    firstDownloads: each((row) => row.firstDownloads),
  }
}
