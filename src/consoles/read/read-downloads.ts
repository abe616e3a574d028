import { json } from "../../database/json.ts"
import type { Db } from "../../database/types.ts"

/** A span of days of an app in an account's sales reports. */
export interface SalesSpan {
  account: string
  sku: string
  from: string
  to: string
}

interface SpanDownloads {
  /** Number of days in the span that the console has reported. */
  reportedDays: number
  /** First downloads by storefront. A missing storefront had none on the reported days. */
  countries: Record<string, number>
}

/** Returns the downloads of each span, in the given order, with one statement. */
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
