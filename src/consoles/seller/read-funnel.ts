import type { Sql } from "../../database/types.ts"
import { ANALYTICS_REPORTS, type AnalyticsReport } from "../../lib/upstreams.ts"
import {
  type FunnelEvent,
  type ReadFiles,
  reportedDays,
  sourceName,
  type TrafficSource,
  trafficSource,
  wholeTo,
} from "../formulas/funnel.ts"
import type { ReportQuery } from "../read/app-accounts.ts"
import { type AppAccount, daysUpTo, type ReportStanding } from "../read/app-accounts.ts"
import { readTask } from "../tasks.ts"
import { readFileTroubles } from "../troubles.ts"

/** Number of days after which the figures of a day are complete, according to the console. */
const WHOLE_AFTER_DAYS: Record<AnalyticsReport, number> = { engagement: 3, downloads: 2 }

/** Status of one report about an app. */
interface AnalyticsStanding extends ReportStanding {
  /** The last complete day. Null if there is none. */
  wholeTo: string | null
}

export type FunnelStanding = Record<AnalyticsReport, AnalyticsStanding>

/** Returns, for each report, which of the requested days were reported, and the last complete day. */
export async function readFunnelStanding(
  sql: Sql,
  { id, outsideId }: AppAccount,
  { from, to, days }: { from: string; to: string; days: number },
): Promise<FunnelStanding> {
  const all = await readFiles(sql, { account: id, app: outsideId, from, to })
  const troubles = await readFileTroubles(sql, id, outsideId)
  const requestedDays = daysUpTo(to, days)
  const standings = ANALYTICS_REPORTS.map((report): [AnalyticsReport, AnalyticsStanding] => {
    const files = all.get(report)!
    const lag = WHOLE_AFTER_DAYS[report]
    const reported = reportedDays(requestedDays, files, lag)
    const isReported = new Set(reported)
    const late = requestedDays.filter((day) => !isReported.has(day))
    return [
      report,
      {
        reported,
        late,
        asOf: files.asOf,
        isKnown: files.first !== null,
        wholeTo: wholeTo(files, lag),
        troubles: troubles.filter((trouble) => trouble.report === report || trouble.report === null),
      },
    ]
  })
  return Object.fromEntries(standings) as FunnelStanding
}

interface FilesQuery {
  account: string
  app: string
  from: string
  to: string
}

interface FilesRow extends ReadFiles {
  report: AnalyticsReport
  /** Time when a file was last read. Null if none was. */
  asOf: Date | null
}

/**
 * Returns the files of each report. One statement for all three tables takes a fifth of the processor time of three
 * statements.
 */
async function readFiles(sql: Sql, { account, app, from, to }: FilesQuery): Promise<Map<AnalyticsReport, FilesRow>> {
  const rows = await sql<FilesRow[]>`
    select r.report, d.days as "daysInFiles", f.day as first, i.read, i.unread, i.gone,
      greatest(d.seen_at, i.read_at) as "asOf"
    from unnest(${[...ANALYTICS_REPORTS]}::text[]) r (report)
    cross join lateral (
      select coalesce(array_agg(distinct day::text order by day::text), '{}') as days, max(seen_at) as seen_at
      from analytics_day
      where account_id = ${account} and app = ${app} and report = r.report and day between ${from} and ${to}
      offset 0
    ) d
    left join lateral (
      select day::text
      from analytics_day
      where account_id = ${account} and app = ${app} and report = r.report
      order by analytics_day.day
      limit 1
    ) f on true
    cross join lateral (
      select max(read_at) as read_at,
        coalesce(array_agg(processed::text order by processed) filter (where read_at is not null), '{}') as read,
        coalesce(array_agg(processed::text order by processed) filter (where read_at is null and is_due),
          '{}') as unread,
        coalesce(array_agg(processed::text order by processed) filter (where read_at is null and not is_due),
          '{}') as gone
      from (
        select i.processed, i.read_at, t.next_at is not null as is_due
        from analytics_instance i
        left join account_task t on t.account_id = i.account_id and t.task = i.report and t.subject = i.instance
        where i.account_id = ${account} and i.app = ${app} and i.report = r.report
        offset 0
      ) i
    ) i
    order by r.report
    limit 10`
  return new Map(rows.map((row) => [row.report, row]))
}

/**
 * Returns why the console makes no reports for an app, and the action that a person must take. Null if it makes them,
 * or if that is not known yet.
 */
export async function readWhyNoAnalytics(sql: Sql, { id, outsideId }: AppAccount): Promise<string | null> {
  const task = await readTask(sql, id, "analytics", outsideId)
  if (task?.state === "not_requested")
    return (
      "no person has requested these reports of the app from the console; a person with the role Admin must do so " +
      `once: appmeter account analytics ${id} ${outsideId}`
    )
  if (task?.state === "stopped")
    return (
      "the console stopped making these reports because they were not read for a long time; a person with the " +
      `role Admin must request them again: appmeter account analytics ${id} ${outsideId}`
    )
  if (task?.state === "denied") return "the key may not read these reports; it needs the role Sales, Finance or Admin"
  return null
}

export interface FunnelRow extends Record<Exclude<FunnelEvent, "other">, number> {
  day: string
  /** Null if the report names no country. */
  country: string | null
  source: TrafficSource
}

/** Returns the sums of events by day, country and traffic source. Groups without events have no row. */
export async function readFunnel(
  sql: Sql,
  { id, outsideId }: AppAccount,
  { from, to, country }: ReportQuery,
): Promise<FunnelRow[]> {
  const rows = await sql<(Omit<FunnelRow, "source"> & { from: string })[]>`
    select day, country, came_from as from,
      coalesce(sum(count) filter (where counts_as = 'impressions'), 0)::int as impressions,
      coalesce(sum(count) filter (where counts_as = 'pageViews'), 0)::int as "pageViews",
      coalesce(sum(count) filter (where counts_as = 'taps'), 0)::int as taps,
      coalesce(sum(count) filter (where counts_as = 'firstDownloads'), 0)::int as "firstDownloads",
      coalesce(sum(count) filter (where counts_as = 'redownloads'), 0)::int as redownloads
    from funnel_fact
    where account_id = ${id} and app = ${outsideId} and report = any(${[...ANALYTICS_REPORTS]}::text[])
      and day between ${from} and ${to} and counts_as <> 'other'
      and (${country}::text is null or country = ${country})
    group by day, country, came_from
    order by day, country, came_from`
  return rows.map(({ from, ...row }) => Object.assign(row, { source: trafficSource(from) }))
}

export interface FunnelDay {
  day: string
  country: string
  /** Impressions in search results. */
  searchImpressions: number
  pageViews: number
  firstDownloads: number
}

/**
 * Returns the sums of events by day and storefront, over all traffic sources. A reported day without a row had no
 * events.
 */
export async function readFunnelDays(
  sql: Sql,
  { id, outsideId }: AppAccount,
  { from, to, countries }: { from: string; to: string; countries: readonly string[] },
): Promise<FunnelDay[]> {
  return await sql<FunnelDay[]>`
    select day, country,
      coalesce(sum(count) filter (where counts_as = 'impressions' and lower(came_from) = ${sourceName("search")}),
        0)::int
        as "searchImpressions",
      coalesce(sum(count) filter (where counts_as = 'pageViews'), 0)::int as "pageViews",
      coalesce(sum(count) filter (where counts_as = 'firstDownloads'), 0)::int as "firstDownloads"
    from funnel_fact
    where account_id = ${id} and app = ${outsideId} and report = any(${[...ANALYTICS_REPORTS]}::text[])
      and day between ${from} and ${to} and country = any(${countries as string[]}::text[])
      and counts_as = any(array['impressions', 'pageViews', 'firstDownloads'])
    group by day, country
    order by day, country`
}
