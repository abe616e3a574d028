import type { Db } from "../../../database/types.ts"
import { uncut } from "../../../database/uncut.ts"
import type { Money } from "../../read-sales.ts"
import { type AdsMetrics, adsMetrics, type MetricsRow, moneyOf, summedMetrics } from "./metrics.ts"
import type { AdsScope } from "./standing.ts"

interface AdsCampaign {
  id: string
  name: string
  status: string
  serving: { status: string | null; reasons: string[] }
  countries: string[]
  budget: Money | null
  bidStrategy: string | null
  placement: string | null
  /** Null = no day of the window is known. */
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

const MOST = 2_000

/** By spend, the largest first. */
export async function readAppCampaigns(sql: Db, scope: AdsScope): Promise<AdsCampaign[]> {
  const { account, app, from, to, country } = scope
  const rows = await sql<CampaignRow[]>`
    select c.campaign as id, c.name, c.status, c.serving as "servingStatus", c.reasons, c.countries,
      c.budget::text as daily, c.currency as "paidIn", c.bidding as "bidStrategy", c.placement, m.*, exists (
        select
        from ads_report r
        where r.account_id = ${account} and r.report = 'ads_days' and r.about = c.campaign
          and r.day between ${from} and ${to}
      ) as "isKnown"
    from ads_campaign c
    cross join lateral (
      select ${summedMetrics(sql)}
      from ads_day_fact f
      where f.account_id = ${account} and f.campaign = c.campaign and f.day between ${from} and ${to}
        and f.keyword is null and (${country}::text is null or f.country = ${country})
    ) m
    where c.account_id = ${account} and c.app = ${app}
    order by m.spend::numeric desc, c.campaign
    limit ${MOST}`.then(uncut(MOST))
  return rows.map((row) => campaign(row, scope))
}

function campaign(row: CampaignRow, scope: AdsScope): AdsCampaign {
  const { id, name, status, servingStatus, reasons, countries, daily, paidIn, bidStrategy, placement } = row
  return {
    ...{ id, name, status, serving: { status: servingStatus, reasons }, countries, bidStrategy, placement },
    budget: daily === null ? null : moneyOf(daily, paidIn),
    metrics: row.isKnown ? adsMetrics(row, scope) : null,
  }
}

/** All campaigns together, with what Apple matches by itself. */
export async function sumCampaigns(sql: Db, scope: AdsScope): Promise<AdsMetrics> {
  const { account, app, from, to, country, campaign } = scope
  const [row] = await sql<MetricsRow[]>`
    select ${summedMetrics(sql)}
    from ads_campaign c
    join ads_day_fact f on f.account_id = c.account_id and f.campaign = c.campaign
    where c.account_id = ${account} and c.app = ${app} and f.day between ${from} and ${to} and f.keyword is null
      and (${country}::text is null or f.country = ${country}) and (${campaign}::text is null or c.campaign = ${campaign})`
  return adsMetrics(row as MetricsRow, scope)
}
