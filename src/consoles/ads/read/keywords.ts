import type { Fragment } from "postgres"
import type { Db } from "../../../database/types.ts"
import type { Money } from "../../read/read-sales.ts"
import { type AdsMetrics, adsMetrics, type MetricsRow, metricsColumns, moneyOf, summedAsJson } from "./metrics.ts"
import { type AdsScope, type AdsStanding, ownCampaigns, standingOfDays } from "./standing.ts"

interface AdsKeyword<Rank> {
  id: string
  /** Null if the keyword was deleted before its first read. */
  text: string | null
  match: string | null
  /** DELETED: the keyword is no longer listed, but its costs remain. */
  status: string
  campaign: { id: string; name: string }
  group: { id: string; name: string | null }
  /** `own` is false if the bid is the ad group's. Null if no bid is known. */
  bid: (Money & { own: boolean }) | null
  metrics: AdsMetrics
  rank: Rank
}

type KeywordRow<Rank> = Omit<AdsKeyword<Rank>, "campaign" | "group" | "bid" | "metrics"> &
  MetricsRow & {
    campaignId: string
    campaignName: string
    groupId: string
    groupName: string | null
    ownBid: string | null
    groupBid: string | null
    paidIn: string | null
  }

interface AdsKeywords<Rank> {
  standing: AdsStanding
  rows: AdsKeyword<Rank>[]
  count: number
  /** Totals over all keywords, and totals that include what Apple matched automatically in the campaigns. */
  total: AdsMetrics
  campaigns: AdsMetrics
}

type KeywordsRow<Rank> = AdsStanding & {
  rows: KeywordRow<Rank>[]
  all: MetricsRow & { count: number }
  campaigns: MetricsRow
}

/**
 * Returns the keywords ordered by spend, the largest first. Includes keywords without costs, and deleted keywords with
 * costs. `rankOf` maps a keyword's text to the app's organic rank, as SQL.
 */
export async function readAdsKeywords<Rank>(
  sql: Db,
  scope: AdsScope,
  { limit, rankOf }: { limit: number; rankOf: (text: Fragment) => Fragment },
): Promise<AdsKeywords<Rank>> {
  const { account, from, to, country } = scope
  const [row] = await sql<[KeywordsRow<Rank>]>`
    with ${ownCampaigns(sql, scope)}, cost as materialized (
      select f.campaign, f.keyword as id, max(f.ad_group) as ad_group, sum(f.impressions) as impressions,
        sum(f.taps) as taps, sum(f.installs) as installs, sum(f.new_downloads) as new_downloads, sum(f.spend) as spend,
        max(f.currency) as currency
      from own o
      join ads_day_fact f on f.account_id = ${account} and f.campaign = o.campaign and f.day between ${from} and ${to}
      where (${country}::text is null or f.country = ${country})
      group by f.campaign, f.keyword
    ), bought as materialized (
      select coalesce(t.campaign, c.campaign) as campaign, coalesce(t.id, c.id) as id,
        coalesce(t.ad_group, c.ad_group) as ad_group,
        t.text, t.match, coalesce(t.status, 'DELETED') as status, t.bid, t.currency as paid_in, c.impressions, c.taps,
        c.installs, c.new_downloads, coalesce(c.spend, 0) as spend, c.currency
      from (
        select t.*
        from own o
        join ads_thing t on t.account_id = ${account} and t.campaign = o.campaign and t.thing = 'keyword'
      ) t
      full join (select * from cost where id is not null) c on c.campaign = t.campaign and c.id = t.id
    ), shown as materialized (
      select *
      from bought
      order by spend desc, taps desc nulls last, campaign, id
      limit ${limit}
    )
    select s.*, ${summedAsJson(sql, sql`bought`, sql`, count(*)::int as count`)} as all,
      ${summedAsJson(sql, sql`(select * from cost where id is null)`)} as campaigns, (
        select coalesce(json_agg(to_json(r)), '[]')
        from (
          select k.id, k.text, k.match, k.status, k.campaign as "campaignId", o.name as "campaignName",
            k.ad_group as "groupId", g.name as "groupName", k.bid::text as "ownBid", g.bid::text as "groupBid",
            coalesce(k.paid_in, g.currency) as "paidIn", ${metricsColumns(sql)}, ${rankOf(sql`k.text`)} as rank
          from shown k
          join own o on o.campaign = k.campaign
          left join ads_thing g
            on g.account_id = ${account} and g.campaign = k.campaign and g.thing = 'group' and g.id = k.ad_group
          order by k.spend desc, k.taps desc nulls last, k.campaign, k.id
          limit ${limit}
        ) r
      ) as rows
    from ${standingOfDays(sql, scope)} s`
  const { asOf, reported, late, rows, all, campaigns } = row
  return {
    standing: { asOf, reported, late },
    rows: rows.map((item) => keyword(item, scope)),
    count: all.count,
    total: adsMetrics(all, scope),
    campaigns: adsMetrics(campaigns, scope),
  }
}

function keyword<Rank>(row: KeywordRow<Rank>, scope: AdsScope): AdsKeyword<Rank> {
  const { id, text, match, status, ownBid, groupBid, paidIn, rank } = row
  const amount = ownBid ?? groupBid
  return {
    id,
    text,
    match,
    status,
    campaign: { id: row.campaignId, name: row.campaignName },
    group: { id: row.groupId, name: row.groupName },
    bid: amount === null ? null : { ...moneyOf(amount, paidIn ?? scope.currency), own: ownBid !== null },
    metrics: adsMetrics(row, scope),
    rank,
  }
}
