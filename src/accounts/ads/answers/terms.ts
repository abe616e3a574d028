import type { Db } from "../../../database/types.ts"
import { type AdsMetrics, adsMetrics, type MetricsRow, NO_METRICS, summedMetrics } from "./metrics.ts"
import type { AdsScope } from "./standing.ts"

export interface AdsTerm {
  /** Null = withheld: all of the keyword's that Apple does not say. */
  term: string | null
  source: string
  campaign: { id: string; name: string }
  groupId: string
  /** Null = Apple matched by itself. */
  keyword: { id: string; text: string | null; match: string | null } | null
  metrics: AdsMetrics
}

interface AdsTerms {
  rows: AdsTerm[]
  count: number
  total: AdsMetrics
  undisclosed: AdsMetrics
  /** The last day of the window that was read longest ago; null = none was. */
  to: string | null
  /** Campaigns whose terms were never read. */
  unread: string[]
}

type TermRow = MetricsRow & {
  term: string | null
  source: string
  campaignId: string
  campaignName: string
  groupId: string
  keywordId: string | null
  text: string | null
  match: string | null
}

interface TermTotals {
  all: MetricsRow & { count: number }
  withheld: MetricsRow
}

/** By spend, the largest first. Each fact is read once. */
export async function readAdsTerms(sql: Db, scope: AdsScope, limit: number): Promise<AdsTerms> {
  const { account, app, country, campaign } = scope
  const rows = await sql<(TermRow & { totals: TermTotals })[]>`
    with typed as materialized (
      select f.term, f.origin, f.campaign, c.name, f.ad_group, f.keyword, sum(f.impressions) as impressions, sum(f.taps) as taps,
        sum(f.installs) as installs, sum(f.new_downloads) as new_downloads, sum(f.spend) as spend, max(f.currency) as currency
      from ads_campaign c
      join ads_term_fact f on f.account_id = c.account_id and f.campaign = c.campaign
      where c.account_id = ${account} and c.app = ${app} and (${campaign}::text is null or c.campaign = ${campaign})
        and (${country}::text is null or f.country = ${country})
      group by f.term, f.origin, f.campaign, c.name, f.ad_group, f.keyword
    ), shown as materialized (
      select *
      from typed
      order by spend desc, impressions desc, campaign, ad_group, keyword, term, origin
      limit ${limit}
    )
    select k.term, k.origin as source, k.campaign as "campaignId", k.name as "campaignName", k.ad_group as "groupId",
      k.keyword as "keywordId", t.text, t.match, m.*, jsonb_build_object(
        'all', (select to_jsonb(a) from (select count(*)::int as count, ${summedMetrics(sql)} from typed f) a),
        'withheld', (select to_jsonb(a) from (select ${summedMetrics(sql)} from typed f where f.term is null) a)
      ) as totals
    from shown k
    left join ads_thing t
      on t.account_id = ${account} and t.campaign = k.campaign and t.thing = 'keyword' and t.id = k.keyword
    cross join lateral (select ${summedMetrics(sql)} from (select k.*) f) m
    order by k.spend desc, k.impressions desc, k.campaign, k.ad_group, k.keyword, k.term, k.origin
    limit ${limit}`
  const { all, withheld } = rows[0]?.totals ?? { all: { ...NO_METRICS, count: 0 }, withheld: NO_METRICS }
  const { to, unread } = await readWindows(sql, scope)
  return {
    rows: rows.map((row) => termOf(row, scope)),
    ...{ count: all.count, total: adsMetrics(all, scope), undisclosed: adsMetrics(withheld, scope), to, unread },
  }
}

function termOf(row: TermRow, scope: AdsScope): AdsTerm {
  const { term, source, campaignId, campaignName, groupId, keywordId, text, match } = row
  return {
    ...{ term, source, campaign: { id: campaignId, name: campaignName }, groupId },
    keyword: keywordId === null ? null : { id: keywordId, text, match },
    metrics: adsMetrics(row, scope),
  }
}

async function readWindows(sql: Db, { account, app, campaign }: AdsScope) {
  const [row] = await sql<{ to: string | null; unread: string[] }[]>`
    select min(r.day)::text as to, coalesce(array_agg(c.campaign order by c.campaign) filter (where r.day is null), '{}') as unread
    from ads_campaign c
    left join lateral (
      select max(day) as day
      from ads_report
      where account_id = c.account_id and report = 'ads_terms' and about = c.campaign
    ) r on true
    where c.account_id = ${account} and c.app = ${app} and (${campaign}::text is null or c.campaign = ${campaign})`
  return row as { to: string | null; unread: string[] }
}
