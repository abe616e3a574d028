import type { Db } from "../../../database/types.ts"
import { type AdsMetrics, adsMetrics, type MetricsRow, summedMetrics } from "./metrics.ts"
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

export interface AdsTerms {
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

/** By spend, the largest first. */
export async function readAdsTerms(sql: Db, scope: AdsScope, limit: number): Promise<AdsTerms> {
  const { account } = scope
  const rows = await sql<TermRow[]>`
    select m.*, t.text, t.match
    from (
      select f.term, f.origin as source, f.campaign as "campaignId", f.name as "campaignName", f.ad_group as "groupId",
        f.keyword as "keywordId", ${summedMetrics(sql)}
      from (${termFacts(sql, scope)}) f
      group by f.term, f.origin, f.campaign, f.name, f.ad_group, f.keyword
    ) m
    left join ads_thing t
      on t.account_id = ${account} and t.campaign = m."campaignId" and t.thing = 'keyword' and t.id = m."keywordId"
    order by m.spend::numeric desc, m.impressions desc, m."campaignId", m."groupId", m."keywordId", m.term, m.source
    limit ${limit}`
  const [total, undisclosed] = [await sumTerms(sql, scope, false), await sumTerms(sql, scope, true)]
  const { to, unread } = await readWindows(sql, scope)
  return {
    rows: rows.map((row) => termOf(row, scope)),
    ...{ count: total.count, total: adsMetrics(total, scope), undisclosed: adsMetrics(undisclosed, scope), to, unread },
  }
}

function termFacts(sql: Db, { account, app, country, campaign }: AdsScope) {
  return sql`
    select c.name, f.*
    from ads_campaign c
    join ads_term_fact f on f.account_id = c.account_id and f.campaign = c.campaign
    where c.account_id = ${account} and c.app = ${app} and (${campaign}::text is null or c.campaign = ${campaign})
      and (${country}::text is null or f.country = ${country})`
}

function termOf(row: TermRow, scope: AdsScope): AdsTerm {
  const { term, source, campaignId, campaignName, groupId, keywordId, text, match } = row
  return {
    ...{ term, source, campaign: { id: campaignId, name: campaignName }, groupId },
    keyword: keywordId === null ? null : { id: keywordId, text, match },
    metrics: adsMetrics(row, scope),
  }
}

async function sumTerms(sql: Db, scope: AdsScope, isWithheld: boolean): Promise<MetricsRow & { count: number }> {
  const [row] = await sql<(MetricsRow & { count: number })[]>`
    select count(distinct (f.term, f.origin, f.campaign, f.ad_group, f.keyword))::int as count, ${summedMetrics(sql)}
    from (${termFacts(sql, scope)}) f
    where not ${isWithheld} or f.term is null`
  return row as MetricsRow & { count: number }
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
