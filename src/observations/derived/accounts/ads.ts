import type { PendingQuery, Row } from "postgres"
import type { Tx } from "../../../database/types.ts"
import type { AdsReport } from "../../../vocabulary/upstreams.ts"
import { type AdsObservation, aboutOf } from "../../rows/ads.ts"

/** What is derived together: a day of something of an account, or what was said last of it. */
export interface AdsSubjects {
  accounts: string[]
  abouts: string[]
  days: string[]
}

/** Each once, in order. */
export function adsSubjects(
  seen: readonly Pick<AdsObservation, "account" | "campaign" | "country" | "day">[],
): AdsSubjects {
  const keys = [...new Set(seen.map((one) => `${one.account} ${one.day} ${aboutOf(one)}`))].sort()
  const parts = keys.map((key) => key.split(" ") as [string, string, string])
  return {
    accounts: parts.map(([account]) => account),
    days: parts.map(([, day]) => day),
    abouts: parts.map(([, , about]) => about),
  }
}

interface AdsDerivation {
  table: string
  /** The column that says what a fact is about; null = the account itself. */
  about: "campaign" | "country" | null
  /** Every day has facts of its own; else what was said last stands alone. */
  daily: boolean
  columns: string
  facts(tx: Tx): PendingQuery<Row[]>
}

const METRICS = "impressions, taps, installs, new_downloads, spend, currency"
const metrics = (tx: Tx) => tx`
  (r.row ->> 'impressions')::int, (r.row ->> 'taps')::int, (r.row ->> 'installs')::int, (r.row ->> 'newDownloads')::int,
  (r.row ->> 'spend')::numeric, r.row ->> 'currency'`

/** Of n (account_id, about, day) and r (row, place). */
export const ADS_FACTS: Record<AdsReport, AdsDerivation> = {
  ads_campaigns: {
    ...{ table: "ads_campaign", about: null, daily: false },
    columns:
      "account_id, campaign, app, name, status, serving, reasons, countries, budget, currency, bidding, placement",
    facts: (tx) => tx`
      distinct on (n.account_id, r.row ->> 'id') n.account_id, r.row ->> 'id', r.row ->> 'app', r.row ->> 'name',
      r.row ->> 'status', r.row ->> 'serving', array(select jsonb_array_elements_text(r.row -> 'reasons')),
      array(select jsonb_array_elements_text(r.row -> 'countries')), (r.row ->> 'budget')::numeric, r.row ->> 'currency',
      r.row ->> 'bidding', r.row ->> 'placement'`,
  },
  ads_keywords: {
    ...{ table: "ads_thing", about: "campaign", daily: false },
    columns: "account_id, campaign, thing, id, ad_group, name, text, match, status, bid, currency, automatic",
    facts: (tx) => tx`
      distinct on (n.account_id, n.about, r.row ->> 'thing', r.row ->> 'id') n.account_id, n.about, r.row ->> 'thing',
      r.row ->> 'id', r.row ->> 'group', r.row ->> 'name', r.row ->> 'text', r.row ->> 'match', r.row ->> 'status',
      (r.row ->> 'bid')::numeric, r.row ->> 'currency', (r.row ->> 'automatic')::boolean`,
  },
  ads_days: {
    ...{ table: "ads_day_fact", about: "campaign", daily: true },
    columns: `account_id, campaign, day, place, ad_group, keyword, country, ${METRICS}`,
    facts: (tx) => tx`
      n.account_id, n.about, n.day, r.place, r.row ->> 'group', r.row ->> 'keyword', r.row ->> 'country', ${metrics(tx)}`,
  },
  ads_terms: {
    ...{ table: "ads_term_fact", about: "campaign", daily: false },
    columns: `account_id, campaign, place, day, ad_group, keyword, term, origin, country, ${METRICS}`,
    facts: (tx) => tx`
      n.account_id, n.about, r.place, n.day, r.row ->> 'group', r.row ->> 'keyword', r.row ->> 'term', r.row ->> 'source',
      r.row ->> 'country', ${metrics(tx)}`,
  },
  ads_changes: {
    ...{ table: "ads_change_fact", about: null, daily: true },
    columns:
      "account_id, day, place, change, at, changed_by, event, entity, entity_id, campaign, name, field, before, after",
    facts: (tx) => tx`
      n.account_id, n.day, r.place, r.row ->> 'change', (r.row ->> 'at')::timestamptz, r.row ->> 'by', r.row ->> 'event',
      r.row ->> 'entity', r.row ->> 'entityId', r.row ->> 'campaign', r.row ->> 'name', r.row ->> 'field', r.row ->> 'from',
      r.row ->> 'to'`,
  },
  ads_popularity: {
    ...{ table: "ads_term_popularity", about: "country", daily: false },
    columns: "account_id, country, term, genre, day, rank, in_genre, overall_100, overall_5",
    facts: (tx) => tx`
      distinct on (n.account_id, n.about, r.row ->> 'term', r.row ->> 'genre') n.account_id, n.about, r.row ->> 'term',
      r.row ->> 'genre', n.day, (r.row ->> 'rank')::int, (r.row ->> 'inGenre')::int, (r.row ->> 'overall100')::int,
      (r.row ->> 'overall5')::int`,
  },
}

/** Facts are exchanged whole: what is gone from a report is gone here. */
export async function deriveAds(tx: Tx, report: AdsReport, subjects: AdsSubjects): Promise<void> {
  const { table, columns, facts } = ADS_FACTS[report]
  await tx`
    delete from ${tx(table)}
    where ${factsAbout(tx, report, subjects)}`
  await tx`
    insert into ${tx(table)} (${tx(columns.split(", "))})
    select ${facts(tx)}
    from (${newestReports(tx, report, subjects)}) n
    cross join lateral jsonb_array_elements(n.rows) with ordinality r (row, place)`
}

/** Of a table of facts: those of these subjects. */
export function factsAbout(tx: Tx, report: AdsReport, { accounts, abouts, days }: AdsSubjects) {
  const { about, daily } = ADS_FACTS[report]
  const subject = about === null ? tx`''` : tx`${tx(about)}`
  return daily
    ? tx`(account_id, ${subject}, day) in (select * from unnest(${accounts}::text[], ${abouts}::text[], ${days}::date[]))`
    : tx`(account_id, ${subject}) in (select * from unnest(${accounts}::text[], ${abouts}::text[]))`
}

/** Of each what was said last. */
function newestReports(tx: Tx, report: AdsReport, { accounts, abouts, days }: AdsSubjects) {
  const { daily } = ADS_FACTS[report]
  const last = tx`seen_at desc, parser desc, sha256 desc`
  return daily
    ? tx`
      select distinct on (account_id, about, day) account_id, about, day, rows
      from ads_report
      where report = ${report} and (account_id, about, day) in (
        select * from unnest(${accounts}::text[], ${abouts}::text[], ${days}::date[])
      )
      order by account_id, about, day, ${last}`
    : tx`
      select distinct on (account_id, about) account_id, about, day, rows
      from ads_report
      where report = ${report} and (account_id, about) in (select * from unnest(${accounts}::text[], ${abouts}::text[]))
      order by account_id, about, day desc, ${last}`
}
