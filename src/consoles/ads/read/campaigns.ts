import type { Db } from "../../../database/types.ts"
import type { Money } from "../../read/read-sales.ts"
import { type AdsMetrics, adsMetrics, type MetricsRow, metricsColumns, moneyOf, summedAsJson } from "./metrics.ts"
import { type AdsScope, type AdsStanding, ownCampaigns, standingOfDays } from "./standing.ts"

interface AdsCampaign {
  id: string
  name: string
  status: string
  serving: { status: string | null; reasons: string[] }
  countries: string[]
  budget: Money | null
  bidStrategy: string | null
  placement: string | null
  /** Null if no day of the period has known figures. */
  metrics: AdsMetrics | null
}

type CampaignRow = Omit<AdsCampaign, "serving" | "budget" | "metrics"> &
  MetricsRow & {
    servingStatus: string | null
    reasons: string[]
    daily: string | null
    paidIn: string
    isKnown: boolean
  }

type CampaignsRow = AdsStanding & { rows: CampaignRow[]; all: MetricsRow }

interface AdsCampaigns {
  standing: AdsStanding
  rows: AdsCampaign[]
  /** Totals over all campaigns, including what Apple matches automatically. */
  total: AdsMetrics
}

/** Returns the app's campaigns ordered by spend, the largest first. */
export async function readAppCampaigns(sql: Db, scope: AdsScope): Promise<AdsCampaigns> {
  const { account, app, from, to, country } = scope
  const [row] = await sql<[CampaignsRow]>`
    with ${ownCampaigns(sql, scope)}, cost as materialized (
      select f.campaign, sum(f.impressions) as impressions, sum(f.taps) as taps, sum(f.installs) as installs,
        sum(f.new_downloads) as new_downloads, sum(f.spend) as spend, max(f.currency) as currency
      from own o
      join ads_day_fact f on f.account_id = ${account} and f.campaign = o.campaign and f.day between ${from} and ${to}
      where f.keyword is null and (${country}::text is null or f.country = ${country})
      group by f.campaign
    )
    select s.*, ${summedAsJson(sql, sql`cost`)} as all, (
      select coalesce(json_agg(to_json(r)), '[]')
      from (
        select c.campaign as id, c.name, c.status, c.serving as "servingStatus", c.reasons, c.countries,
          c.budget::text as daily, c.currency as "paidIn", c.bidding as "bidStrategy", c.placement,
          ${metricsColumns(sql)}, exists (
            select
            from ads_report r
            where r.account_id = ${account} and r.report = 'ads_days' and r.about = c.campaign
              and r.day between ${from} and ${to}
          ) as "isKnown"
        from ads_campaign c
        left join cost k on k.campaign = c.campaign
        where c.account_id = ${account} and c.app = ${app}
        order by coalesce(k.spend, 0) desc, c.campaign
      ) r
    ) as rows
    from ${standingOfDays(sql, scope)} s`
  const { asOf, reported, late, rows, all } = row
  return {
    standing: { asOf, reported, late },
    rows: rows.map((item) => campaign(item, scope)),
    total: adsMetrics(all, scope),
  }
}

function campaign(row: CampaignRow, scope: AdsScope): AdsCampaign {
  const { id, name, status, servingStatus, reasons, countries, daily, paidIn, bidStrategy, placement } = row
  return {
    id,
    name,
    status,
    serving: { status: servingStatus, reasons },
    countries,
    bidStrategy,
    placement,
    budget: daily === null ? null : moneyOf(daily, paidIn),
    metrics: row.isKnown ? adsMetrics(row, scope) : null,
  }
}
