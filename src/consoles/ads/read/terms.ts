import type { Fragment } from "postgres"
import type { Db } from "../../../database/types.ts"
import { type AdsMetrics, adsMetrics, type MetricsRow, metricsColumns, summedAsJson } from "./metrics.ts"
import { type AdsScope, ownCampaigns, ownReadAt } from "./standing.ts"

export interface AdsTerm<Rank> {
  /** Null if Apple withholds it: the row then sums up all withheld terms of the keyword. */
  term: string | null
  source: string
  campaign: { id: string; name: string }
  /** The ad group. Null for the part of a campaign's total that is in no row of Apple's report. */
  groupId: string | null
  /** Null if Apple matched the term automatically. */
  keyword: { id: string; text: string | null; match: string | null } | null
  metrics: AdsMetrics
  rank: Rank
}

interface AdsTerms<Rank> {
  /** Each campaign has a latest read; this is the earliest of these times. Null if a campaign was never read. */
  asOf: Date | null
  rows: AdsTerm<Rank>[]
  count: number
  total: AdsMetrics
  undisclosed: AdsMetrics
  /** Last day of the oldest period among the campaigns. Null if no campaign was read. */
  to: string | null
  /** Campaigns whose terms were never read. */
  unread: string[]
}

type TermRow<Rank> = MetricsRow & {
  term: string | null
  source: string
  campaignId: string
  campaignName: string
  groupId: string | null
  keywordId: string | null
  text: string | null
  match: string | null
  rank: Rank
}

type TermsRow<Rank> = Pick<AdsTerms<Rank>, "asOf" | "to" | "unread"> & {
  rows: TermRow<Rank>[]
  all: MetricsRow & { count: number }
  withheld: MetricsRow
}

/** Returns the terms ordered by spend, the largest first. `rankOf` maps a term to the app's organic rank, as SQL. */
export async function readAdsTerms<Rank>(
  sql: Db,
  scope: AdsScope,
  { limit, rankOf }: { limit: number; rankOf: (term: Fragment) => Fragment },
): Promise<AdsTerms<Rank>> {
  const { account, country } = scope
  const [row] = await sql<[TermsRow<Rank>]>`
    with ${ownCampaigns(sql, scope)}, typed as materialized (
      select f.term, f.origin, f.campaign, o.name, f.ad_group, f.keyword, sum(f.impressions) as impressions,
        sum(f.taps) as taps, sum(f.installs) as installs, sum(f.new_downloads) as new_downloads, sum(f.spend) as spend,
        max(f.currency) as currency
      from own o
      join ads_term_fact f on f.account_id = ${account} and f.campaign = o.campaign
      where (${country}::text is null or f.country = ${country})
      group by f.term, f.origin, f.campaign, o.name, f.ad_group, f.keyword
    ), shown as materialized (
      select *
      from typed
      order by spend desc, impressions desc, campaign, ad_group, keyword, term, origin
      limit ${limit}
    )
    select w.*, ${ownReadAt(sql, scope, "terms")} as "asOf",
      ${summedAsJson(sql, sql`typed`, sql`, count(*)::int as count`)} as all,
      ${summedAsJson(sql, sql`(select * from typed where term is null)`)} as withheld, (
        select coalesce(json_agg(to_json(r)), '[]')
        from (
          select k.term, k.origin as source, k.campaign as "campaignId", k.name as "campaignName",
            k.ad_group as "groupId",
            k.keyword as "keywordId", t.text, t.match, ${metricsColumns(sql)}, ${rankOf(sql`k.term`)} as rank
          from shown k
          left join ads_thing t
            on t.account_id = ${account} and t.campaign = k.campaign and t.thing = 'keyword' and t.id = k.keyword
          order by k.spend desc, k.impressions desc, k.campaign, k.ad_group, k.keyword, k.term, k.origin
          limit ${limit}
        ) r
      ) as rows
    from (
      select min(r.day)::text as to,
        coalesce(array_agg(o.campaign order by o.campaign) filter (where r.day is null), '{}') as unread
      from own o
      left join lateral (
        select max(day) as day
        from ads_report
        where account_id = ${account} and report = 'ads_terms' and about = o.campaign
      ) r on true
    ) w`
  const { rows, all, withheld, ...window } = row
  return {
    ...window,
    rows: rows.map((item) => termOf(item, scope)),
    count: all.count,
    total: adsMetrics(all, scope),
    undisclosed: adsMetrics(withheld, scope),
  }
}

function termOf<Rank>(row: TermRow<Rank>, scope: AdsScope): AdsTerm<Rank> {
  const { term, source, campaignId, campaignName, groupId, keywordId, text, match, rank } = row
  return {
    term,
    source,
    campaign: { id: campaignId, name: campaignName },
    groupId,
    keyword: keywordId === null ? null : { id: keywordId, text, match },
    metrics: adsMetrics(row, scope),
    rank,
  }
}
