import type { Facts } from "../../../core/observation/facts.ts"
import type { Tx } from "../../../database/types.ts"
import type { AnalyticsReport } from "../../../lib/upstreams.ts"
import { funnelEvents } from "../../formulas/funnel.ts"

export const ENGAGEMENT = factsOf("engagement")
export const DOWNLOADS = factsOf("downloads")

/**
 * For each day, only the file with the latest processing date counts, and it counts as a whole: files are never summed.
 */
function factsOf(report: AnalyticsReport): Facts {
  const about = {
    reportTable: "analytics_day",
    table: "funnel_fact_row",
    about: "app",
    daily: true,
    shared: true,
  } as const
  return {
    ...about,
    async insert(tx: Tx, { from, set, before }) {
      const { eventNames, countsAs } = funnelEvents()
      await tx`
        insert into funnel_fact_row (set_id, account_id, app, report, day, place, country, came_from, counts_as, count)
        select ${set}::bigint, account_id, app, ${report}, day, ${before}::int + row_number() over (
            partition by account_id, app, day order by country, came_from, counts_as
          ), country, came_from, counts_as, count
        from (
          select s.account_id, s.about as app, s.day, s.row ->> 'country' as country, s.row ->> 'from' as came_from,
            coalesce(c.counts_as, 'other') as counts_as, sum((s.row ->> 'count')::int)::int as count
          from (${from}) s
          left join unnest(${eventNames}::text[], ${countsAs}::text[]) c (event_name,
            counts_as) on c.event_name = lower(s.row ->> 'event')
          group by s.account_id, s.about, s.day, 4, 5, 6
        ) counted`
    },
  }
}
