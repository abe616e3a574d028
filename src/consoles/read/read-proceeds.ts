import type { Platform } from "../../core/observation/provenance.ts"
import { json } from "../../database/json.ts"
import type { Db } from "../../database/types.ts"
import { type OwnApp, SELLER_KINDS } from "./app-accounts.ts"
import { ownAccounts } from "./read-day.ts"
import type { SalesSpan } from "./read-downloads.ts"

/** An app's proceeds on a day. */
interface UsdDay {
  /** Index of the span in the request. */
  at: number
  day: string
  usd: number
}

/**
 * Returns the console's estimated proceeds from the United States by day, minus refunds. Days without a sale there,
 * days not reported yet, and days with proceeds in another currency are missing.
 */
export async function readUsdProceeds(sql: Db, spans: readonly SalesSpan[]): Promise<UsdDay[]> {
  if (spans.length === 0) return []
  return await sql<UsdDay[]>`
    select s.at, f.day, sum(f.proceeds)::float8 as usd
    from jsonb_to_recordset(${json(
      sql,
      spans.map((span, at) => ({ at, ...span })),
    )}) s (
      at int, account text, sku text, "from" date, "to" date
    )
    join sales_fact f on f.account_id = s.account and f.app = s.sku and f.day between s."from" and s."to"
    where f.country = 'us' and f.proceeds <> 0
    group by s.at, f.day
    having bool_and(f.proceeds_currency = 'USD')
    order by s.at, f.day`
}

/** An app's money of seven days in one store, from one report. */
export interface WeekProceeds {
  appId: string
  /** `estimated_sales`: what customers paid on Google Play, before fees and settlement. */
  figure: "proceeds" | "estimated_sales"
  /** The latest reported day among the last fourteen. Null if none of them is reported. */
  to: string | null
  /** Number of reported days among the seven. Days that are not reported yet add nothing. */
  days: number
  /** One amount per currency code. */
  proceeds: { currency: string; amount: string }[]
  /** True if the figures are from the demo account. */
  isInvented: boolean
}

/** The reports with money, by store. The first report that has one of the last fourteen days is used. */
const REPORTS: Record<Platform, string[]> = { ios: ["sales"], android: ["play_sales", "play_earnings"] }

/**
 * Returns the money of the seven days that end with the latest reported day. Google Play's estimated sales and settled
 * earnings are never summed, because they are about the same orders. Apps without an account are missing.
 */
export async function readWeekProceeds(
  sql: Db,
  { workspaceId, platform }: { workspaceId: number; platform: Platform },
  apps: readonly OwnApp[],
  today: string,
): Promise<WeekProceeds[]> {
  const reports = REPORTS[platform]
  return await sql<WeekProceeds[]>`
    with own as materialized (${ownAccounts(sql, { workspaceId, kind: SELLER_KINDS[platform] }, apps)}), latest as (
      select distinct on (d.account_id) d.account_id, d.report, max(d.day) as day
      from report_day d
      where d.account_id in (select account_id from own) and d.report = any(${reports})
        and d.day between ${today}::date - 13 and ${today}::date
      group by d.account_id, d.report
      order by d.account_id, array_position(${reports}::text[], d.report)
    )
    select o.app_id as "appId", o.state = 'demo' as "isInvented", l.day as "to",
      case coalesce(l.report, ${reports[0] as string}) when 'play_sales' then 'estimated_sales' else 'proceeds' end
        as figure, (
      select count(distinct d.day)::int
      from report_day d
      where d.account_id = o.account_id and d.report = l.report and d.day between l.day - 6 and l.day
    ) as days, (
      select coalesce(jsonb_agg(jsonb_build_object('currency', s.currency, 'amount', s.amount) order by s.currency),
        '[]')
      from (
        select m.currency, trim_scale(sum(m.amount))::text as amount
        from (
          select f.currency, f.gross as amount
          from estimated_sales_fact f
          where l.report = 'play_sales' and f.account_id = o.account_id and f.app = o.sku
            and f.day between l.day - 6 and l.day
          union all
          select f.proceeds_currency, f.proceeds
          from sales_fact f
          where l.report <> 'play_sales' and f.account_id = o.account_id and f.app = o.sku
            and f.day between l.day - 6 and l.day
        ) m
        group by m.currency
        having sum(m.amount) <> 0
      ) s
    ) as proceeds
    from own o
    left join latest l on l.account_id = o.account_id
    order by o.app_id
    limit 1000`
}
