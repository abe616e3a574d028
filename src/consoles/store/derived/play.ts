import type { Facts, ReportRows } from "../../../core/observation/facts.ts"
import type { Tx } from "../../../database/types.ts"
import type { PlayCountReport, PlayMoneyReport } from "../../../lib/upstreams.ts"

/** Parallel lists: the measures that have facts, and the event as which each measure is counted. */
const MEASURES = ["userInstalls", "visitors", "acquisitions"]
const COUNTS_AS = ["firstDownloads", "pageViews", "firstDownloads"]

/** The measures of a report that have facts: installs from anywhere, or from the store page. */
const HAS: Partial<Record<PlayCountReport, readonly string[]>> = {
  play_installs: ["userInstalls"],
  play_installs_country: ["userInstalls"],
  play_store_country: ["visitors", "acquisitions"],
  play_store_sources: ["visitors", "acquisitions"],
}

/**
 * Returns the derivation for a report with counts. A row without the measure becomes a fact without a count, because
 * Google withheld it.
 */
export function playCounts(report: PlayCountReport): Facts {
  const measures = HAS[report] ?? []
  const countsAs = measures.map((measure) => COUNTS_AS[MEASURES.indexOf(measure)]!)
  return {
    reportTable: "report_day",
    table: "funnel_fact_row",
    about: "app",
    daily: true,
    shared: true,
    async insert(tx: Tx, { from, set, before }) {
      await tx`
        insert into funnel_fact_row (set_id, account_id, app, report, day, place, country, came_from, counts_as, count)
        select ${set}::bigint, account_id, app, ${report}, day, ${before}::int + row_number() over (
            partition by account_id, app, day order by country, came_from, counts_as
          ), country, came_from, counts_as, count
        from (
          select s.account_id, s.about as app, s.day, s.row ->> 'country' as country,
            coalesce(s.row ->> 'from', '') as came_from, m.counts_as,
            case when bool_and(s.row ? m.measure) then sum((s.row ->> m.measure)::int)::int end as count
          from (${from}) s
          cross join unnest(${measures as string[]}::text[], ${countsAs}::text[]) m (measure, counts_as)
          group by s.account_id, s.about, s.day, 4, 5, 6
        ) counted`
    },
  }
}

export const PLAY_EARNINGS = moneyOf("play_earnings")
export const PLAY_SALES = moneyOf("play_sales")

/**
 * Returns the derivation for a report with money. Pieces can be derived one by one, because the parser has summed up
 * equal rows.
 */
function moneyOf(report: PlayMoneyReport): Facts {
  return {
    reportTable: "report_day",
    table: "sales_fact_row",
    about: null,
    daily: true,
    shared: true,
    async insert(tx: Tx, { from, set, before }: ReportRows) {
      await tx`
        insert into sales_fact_row (
          set_id, account_id, report, day, place, app, country, product, title, counts_as, units, refunds, currency,
          gross, proceeds_currency, proceeds, free_units, refunded
        )
        select ${set}::bigint, account_id, ${report}, day, ${before}::int + row_number() over (
            partition by account_id, day order by place
          ), s.row ->> 'app', s.row ->> 'country', s.row ->> 'product', s.row ->> 'title',
          case when s.row ->> 'soldAs' = 'subscription' then 'subscription' else 'purchase' end,
          (s.row ->> 'units')::int, (s.row ->> 'refunds')::int, s.row ->> 'currency', (s.row ->> 'gross')::numeric,
          coalesce(s.row ->> 'merchantCurrency', s.row ->> 'currency'), coalesce((s.row ->> 'proceeds')::numeric, 0),
          (s.row ->> 'free')::int, (s.row ->> 'refunded')::numeric
        from (${from}) s`
    },
  }
}
