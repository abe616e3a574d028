import type { Db } from "../../../database/types.ts"
import type { Money } from "../../read-sales.ts"
import { type AdsMetrics, adsMetrics, type MetricsRow, moneyOf, summedMetrics } from "./metrics.ts"
import type { AdsScope } from "./standing.ts"

export interface AdsKeyword {
  id: string
  /** Null = deleted before it was ever read. */
  text: string | null
  match: string | null
  /** DELETED = not listed any more; what it cost stands. */
  status: string
  campaign: { id: string; name: string }
  group: { id: string; name: string | null }
  /** `own` false = the ad group's; null = none is known. */
  bid: (Money & { own: boolean }) | null
  metrics: AdsMetrics
}

type KeywordRow = Omit<AdsKeyword, "campaign" | "group" | "bid" | "metrics"> &
  MetricsRow & {
    campaignId: string
    campaignName: string
    groupId: string
    groupName: string | null
    ownBid: string | null
    groupBid: string | null
    paidIn: string | null
  }

/** By spend, the largest first; those that cost nothing after them. */
export async function readAdsKeywords(sql: Db, scope: AdsScope, limit: number): Promise<AdsKeyword[]> {
  const rows = await sql<KeywordRow[]>`
    select k.id, t.text, t.match, coalesce(t.status, 'DELETED') as status, k.campaign as "campaignId", k.name as "campaignName",
      k.ad_group as "groupId", g.name as "groupName", t.bid::text as "ownBid",
      g.bid::text as "groupBid", coalesce(t.currency, g.currency) as "paidIn", m.*
    from (${keywordIds(sql, scope)}) k
    left join ads_thing t on t.account_id = ${scope.account} and t.campaign = k.campaign and t.thing = 'keyword' and t.id = k.id
    left join ads_thing g
      on g.account_id = ${scope.account} and g.campaign = k.campaign and g.thing = 'group' and g.id = k.ad_group
    cross join lateral (
      select ${summedMetrics(sql)}
      from unnest(k.facts) f
    ) m
    order by m.spend::numeric desc, m.taps desc, k.campaign, k.id
    limit ${limit}`
  return rows.map((row) => keyword(row, scope))
}

/** Each keyword once, with its facts: those that stand, and those that cost something before they were deleted. */
function keywordIds(sql: Db, { account, app, from, to, country, campaign }: AdsScope) {
  return sql`
    select c.campaign, c.name, k.id, max(k.ad_group) as ad_group, array_agg(k.fact) filter (where k.fact is not null) as facts
    from ads_campaign c
    cross join lateral (
      select t.id, t.ad_group, null::ads_day_fact as fact
      from ads_thing t
      where t.account_id = ${account} and t.campaign = c.campaign and t.thing = 'keyword'
      union all
      select f.keyword, f.ad_group, f
      from ads_day_fact f
      where f.account_id = ${account} and f.campaign = c.campaign and f.keyword is not null
        and f.day between ${from} and ${to} and (${country}::text is null or f.country = ${country})
    ) k
    where c.account_id = ${account} and c.app = ${app} and (${campaign}::text is null or c.campaign = ${campaign})
    group by c.campaign, c.name, k.id`
}

function keyword(row: KeywordRow, scope: AdsScope): AdsKeyword {
  const { id, text, match, status, ownBid, groupBid, paidIn } = row
  const amount = ownBid ?? groupBid
  return {
    ...{ id, text, match, status },
    campaign: { id: row.campaignId, name: row.campaignName },
    group: { id: row.groupId, name: row.groupName },
    bid: amount === null ? null : { ...moneyOf(amount, paidIn ?? scope.currency), own: ownBid !== null },
    metrics: adsMetrics(row, scope),
  }
}

/** How many keywords there are, and what they cost and brought together. */
export async function sumKeywords(sql: Db, scope: AdsScope): Promise<{ count: number; metrics: AdsMetrics }> {
  const [row] = await sql<(MetricsRow & { count: number })[]>`
    select count(distinct (k.campaign, k.id))::int as count, ${summedMetrics(sql)}
    from (${keywordIds(sql, scope)}) k
    left join lateral unnest(k.facts) f on true`
  const sum = row as MetricsRow & { count: number }
  return { count: sum.count, metrics: adsMetrics(sum, scope) }
}
