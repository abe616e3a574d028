import type { PendingQuery, Row } from "postgres"
import type { Facts } from "../../../core/observation/facts.ts"
import type { Tx } from "../../../database/types.ts"
import type { AdsReport } from "../../../lib/upstreams.ts"

interface AdsFacts extends Pick<Facts, "table" | "about" | "daily"> {
  columns: string
  /** SQL: derives facts from s (account_id, about, day, row, place). */
  facts(tx: Tx): PendingQuery<Row[]>
}

const METRICS = "impressions, taps, installs, new_downloads, spend, currency"
const metrics = (tx: Tx) => tx`
  (s.row ->> 'impressions')::int, (s.row ->> 'taps')::int, (s.row ->> 'installs')::int, (s.row ->> 'newDownloads')::int,
  (s.row ->> 'spend')::numeric, s.row ->> 'currency'`

const DECLARED: Record<AdsReport, AdsFacts> = {
  ads_campaigns: {
    table: "ads_campaign_row",
    about: null,
    daily: false,
    columns:
      "account_id, campaign, app, name, status, serving, reasons, countries, budget, currency, bidding, placement",
    facts: (tx) => tx`
      distinct on (s.account_id, s.row ->> 'id') s.account_id, s.row ->> 'id', s.row ->> 'app', s.row ->> 'name',
      s.row ->> 'status', s.row ->> 'serving', array(select jsonb_array_elements_text(s.row -> 'reasons')),
      array(select jsonb_array_elements_text(s.row -> 'countries')), (s.row ->> 'budget')::numeric,
      s.row ->> 'currency', s.row ->> 'bidding', s.row ->> 'placement'`,
  },
  ads_keywords: {
    table: "ads_thing_row",
    about: "campaign",
    daily: false,
    columns: "account_id, campaign, thing, id, ad_group, name, text, match, status, bid, currency, automatic",
    facts: (tx) => tx`
      distinct on (s.account_id, s.about, s.row ->> 'thing', s.row ->> 'id') s.account_id, s.about, s.row ->> 'thing',
      s.row ->> 'id', s.row ->> 'group', s.row ->> 'name', s.row ->> 'text', s.row ->> 'match', s.row ->> 'status',
      (s.row ->> 'bid')::numeric, s.row ->> 'currency', (s.row ->> 'automatic')::boolean`,
  },
  ads_days: {
    table: "ads_day_fact_row",
    about: "campaign",
    daily: true,
    columns: `account_id, campaign, day, place, ad_group, keyword, country, ${METRICS}`,
    facts: (tx) => tx`
      s.account_id, s.about, s.day, s.place, s.row ->> 'group', s.row ->> 'keyword', s.row ->> 'country',
        ${metrics(tx)}`,
  },
  ads_terms: {
    table: "ads_term_fact_row",
    about: "campaign",
    daily: false,
    columns: `account_id, campaign, place, day, ad_group, keyword, term, origin, country, ${METRICS}`,
    facts: (tx) => tx`
      s.account_id, s.about, s.place, s.day, s.row ->> 'group', s.row ->> 'keyword', s.row ->> 'term',
      s.row ->> 'source', s.row ->> 'country', ${metrics(tx)}`,
  },
  ads_changes: {
    table: "ads_change_fact_row",
    about: null,
    daily: true,
    columns:
      "account_id, day, place, change, at, changed_by, event, entity, entity_id, campaign, name, field, before, after",
    facts: (tx) => tx`
      s.account_id, s.day, s.place, s.row ->> 'change', (s.row ->> 'at')::timestamptz, s.row ->> 'by',
      s.row ->> 'event',
      s.row ->> 'entity', s.row ->> 'entityId', s.row ->> 'campaign', s.row ->> 'name', s.row ->> 'field',
      s.row ->> 'from', s.row ->> 'to'`,
  },
  ads_popularity: {
    table: "ads_term_popularity_row",
    about: "country",
    daily: false,
    columns: "account_id, country, term, genre, day, rank, in_genre, overall_100, overall_5",
    facts: (tx) => tx`
      distinct on (s.account_id, s.about, s.row ->> 'term', s.row ->> 'genre') s.account_id, s.about, s.row ->> 'term',
      s.row ->> 'genre', s.day, (s.row ->> 'rank')::int, (s.row ->> 'inGenre')::int, (s.row ->> 'overall100')::int,
      (s.row ->> 'overall5')::int`,
  },
}

/** The pieces of a report may contain two rows with the same key. The first row is used. */
export const ADS_FACTS = Object.fromEntries(
  Object.entries(DECLARED).map(([report, { columns, facts, ...declared }]) => {
    const insert: Facts["insert"] = async (tx, { from, set }) => {
      await tx`
        insert into ${tx(declared.table)} (${tx(columns.split(", "))}, set_id)
        select f.*, ${set}::bigint
        from (
          select ${facts(tx)}
          from (${from}) s
        ) f
        on conflict do nothing`
    }
    return [report, { reportTable: "ads_report", ...declared, insert }]
  }),
) as Record<AdsReport, Facts>
