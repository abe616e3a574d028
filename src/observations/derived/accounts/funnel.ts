import type { Tx } from "../../../database/types.ts"
import { funnelEvents } from "../../../formulas/funnel.ts"

export interface AnalyticsDay {
  kind: string
  account: string
  app: string
  day: string
}

/** Of each day of a report the file of the newest processing date counts, whole: nothing of two files is added up. */
export async function deriveFunnel(tx: Tx, seen: readonly AnalyticsDay[]): Promise<void> {
  const keys = [...new Set(seen.map(({ kind, account, app, day }) => [kind, account, app, day].join("\n")))].sort()
  const column = (place: number) => keys.map((key) => key.split("\n")[place] as string)
  const days = tx`unnest(${column(0)}::text[], ${column(1)}::text[], ${column(2)}::text[], ${column(3)}::date[])`
  await tx`
    delete from funnel_fact
    where (report, account_id, app, day) in (select * from ${days})`
  const { said, countsAs } = funnelEvents()
  await tx`
    insert into funnel_fact (account_id, app, report, day, place, country, came_from, counts_as, count)
    select account_id, app, report, day, row_number() over (
        partition by account_id, app, report, day order by country, came_from, counts_as
      ), country, came_from, counts_as, count
    from (
      select n.account_id, n.app, n.report, n.day, r.row ->> 'country' as country, r.row ->> 'from' as came_from,
        coalesce(c.counts_as, 'other') as counts_as, sum((r.row ->> 'count')::int)::int as count
      from (
        select distinct on (report, account_id, app, day) report, account_id, app, day, rows
        from analytics_day
        where (report, account_id, app, day) in (select * from ${days})
        order by report, account_id, app, day, processed desc
      ) n
      cross join lateral jsonb_array_elements(n.rows) r (row)
      left join unnest(${said}::text[], ${countsAs}::text[]) c (said, counts_as) on c.said = lower(r.row ->> 'event')
      group by n.account_id, n.app, n.report, n.day, 5, 6, 7
    ) counted`
}
