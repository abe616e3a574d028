import { json } from "../../database/json.ts"
import type { Db } from "../../database/types.ts"

/** A span of days of an app, in an account's sales reports. */
export interface SalesSpan {
  account: string
  sku: string
  from: string
  to: string
}

interface SpanDownloads {
  /** Number of days in the span that the console has reported. */
  reportedDays: number
  /** First downloads by storefront. A missing storefront had no downloads on the reported days. */
  countries: Record<string, number>
}

/** Returns the downloads of each span, in the given order. Uses one statement. */
export async function readDownloads(sql: Db, spans: readonly SalesSpan[]): Promise<SpanDownloads[]> {
  if (spans.length === 0) return []
  return await sql<SpanDownloads[]>`
    select r.days as "reportedDays", coalesce(d.countries, '{}') as countries
    from jsonb_to_recordset(${json(
      sql,
      spans.map((span, at) => ({ at, ...span })),
    )}) s (
      at int, account text, sku text, "from" date, "to" date
    )
    cross join lateral (
      select count(distinct day)::int as days
      from report_day
      where account_id = s.account and report = 'sales' and day between s."from" and s."to"
    ) r
    cross join lateral (
      select jsonb_object_agg(country, units) as countries
      from (
        select country, sum(units)::int as units
        from sales_fact
        where account_id = s.account and app = s.sku and day between s."from" and s."to"
          and counts_as = 'download'
        group by country
      ) c
    ) d
    order by s.at
    limit ${spans.length}`
}

/** A span of days of an Android app, in an account's installs reports. */
interface InstallsSpan {
  account: string
  androidPkg: string
  from: string
  to: string
}

interface SpanInstalls {
  /** Number of days in the span that the console has reported. */
  reportedDays: number
  /** Users in all countries who installed the app on the reported days. Null if Google withheld a day's count. */
  installs: number | null
}

/** Returns the installs of each span, in the given order. Uses one statement. */
export async function readInstalls(sql: Db, spans: readonly InstallsSpan[]): Promise<SpanInstalls[]> {
  if (spans.length === 0) return []
  return await sql<SpanInstalls[]>`
    select count(d.day)::int as "reportedDays", case when count(d.day) = count(d.installs)
      then coalesce(sum(d.installs), 0)::int end as installs
    from jsonb_to_recordset(${json(
      sql,
      spans.map((span, at) => ({ at, ...span })),
    )}) s (
      at int, account text, "androidPkg" text, "from" date, "to" date
    )
    left join lateral (
      select r.day, f.count as installs
      from (
        -- a restated day has a row for each version
        select distinct day
        from report_day
        where account_id = s.account and report = 'play_installs' and about = s."androidPkg"
          and day between s."from" and s."to"
      ) r
      left join funnel_fact f on f.account_id = s.account and f.app = s."androidPkg" and f.report = 'play_installs'
        and f.day = r.day and f.counts_as = 'firstDownloads'
    ) d on true
    group by s.at
    order by s.at
    limit ${spans.length}`
}
