import type { Sql } from "../../src/database/types.ts"

/** Pattern of the names of tables with rows per day. */
const BY_DAY =
  "^((rank_month|list_month|search_results|chart_results)_" +
  "|review_version|sales_fact_row|report_day|ads_day_fact_row|ads_report)"

/**
 * Stores 1,000 keywords of one app for 90 days, and ten times as many other rows. Returns the tables with rows per day
 * that are not empty. A query for a few days must not read such a table whole.
 */
export async function fillLarge(sql: Sql, mark: string): Promise<string[]> {
  await sql`
    select open_month(m::date)
    from generate_series(date_trunc('month', current_date - 90), current_date, interval '1 month') m`
  await sql`insert into store_app (platform, store_id) select 'ios', (5000 + n)::text from generate_series(1, 500) n`
  await sql`
    insert into list (platform, storefront, term)
    select 'ios', 'us', 'large ' || n from generate_series(1, 12000) n`
  await sql`
    insert into tracked_term (app_id, country, term, position)
    select ${`app_${mark}`}, 'us', 'large ' || n, n from generate_series(1, 1000) n`
  await sql`
    insert into rank_month
    select case when l.term ~ ' \\d{1,3}$|1000$' then 1 else 3 + l.id % 490 end, l.id, m::date,
      decode(repeat('05', 31), 'hex')
    from list l, generate_series(date_trunc('month', current_date - 90), current_date, interval '1 month') m
    where l.term like 'large%'`
  await sql`
    insert into list_month
    select l.id, m::date, decode(repeat('0a', 31), 'hex'), decode(repeat('32', 31), 'hex')
    from list l, generate_series(date_trunc('month', current_date - 90), current_date, interval '1 month') m
    where l.term like 'large%'`
  await sql`
    insert into search_results
    select l.id, current_date - n, 10, now(), 50, true, 1, 'own', null, '\\x00', '{7,8,9,10,1}'
    from list l, generate_series(1, 90) n
    where l.term ~ '^large (\\d{1,3}|1000)$'`
  await sql`
    insert into chart_results
    select c.id, current_date - n, 10, now(), 100, true, 1, 'own', null, '\\x00', '{8,1}'
    from chart c, generate_series(2, 90) n
    on conflict do nothing`
  await sql`
    insert into chart (platform, storefront, device, chart, genre)
    select 'ios', 'us', 'iphone', 'paid', (7000 + n)::text from generate_series(1, 100) n`
  await sql`
    insert into chart_results
    select c.id, current_date - n, 10, now(), 100, true, 1, 'own', null, '\\x00', '{8,9}'
    from chart c, generate_series(1, 90) n
    where c.chart = 'paid'`
  await sql`
    insert into review_version
    select a, 'us', 'x' || n, decode(md5(n::text), 'hex'), true, 5, null, '', null, null,
      now() - n * interval '2 hours', now(), now(), 'apple-reviews', 1, 'own', '\\x00'
    from unnest('{1,3,4,5,6,7,8,9}'::int[]) a, generate_series(1, 2000) n`
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, state, next_at)
    select 'other-' || n, min(id), 'other-' || n, '', '', 'demo', null
    from workspace, generate_series(1, 8) n
    group by n`
  const otherAccounts = Array.from({ length: 8 }, (_, n) => `other-${n + 1}`)
  const seller = sql`unnest(${[`app-store-connect-${mark}`, ...otherAccounts]}::text[]) id, generate_series(3, 730) n`
  const ads = sql`unnest(${[`apple-ads-${mark}`, ...otherAccounts]}::text[]) id, generate_series(3, 730) n`
  await sql`
    insert into report_day (account_id, report, day, digest, source, seen_at, parser, origin, sha256, rows)
    select id, 'sales', current_date - n, '\\x00', 'app-store-connect', now(), 1, 'own', '\\x00', '[]' from ${seller}`
  await sql`
    insert into sales_fact_row (account_id, day, place, app, country, product, title, counts_as, units, refunds,
      currency, gross, proceeds_currency, proceeds)
    select id, current_date - n, p, ${`sku-${mark}`}, 'us', 'p', 't', 'purchase', 1, 0, 'USD', 1, 'USD', 1
    from ${seller}, generate_series(1, 10) p`
  await sql`
    insert into ads_report (account_id, report, about, day, digest, source, seen_at, parser, origin, sha256, rows)
    select id, 'ads_days', ${`c-${mark}`}, current_date - n, '\\x00', 'apple-ads', now(), 1, 'own', '\\x00', '[]'
    from ${ads}`
  await sql`
    insert into ads_day_fact_row (account_id, campaign, day, place, ad_group, keyword, country, impressions, currency)
    select id, ${`c-${mark}`}, current_date - n, p, null, case when p > 1 then 'k1' end, 'us', 1, 'USD'
    from ${ads}, generate_series(1, 10) p`
  await sql`analyze`
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relkind = 'r' and relname ~ ${BY_DAY} and reltuples > 0`
  return tables.map(({ name }) => name)
}
