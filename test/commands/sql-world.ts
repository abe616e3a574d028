import type { Sql } from "../../src/database/types.ts"

/** A text in every row of the other workspace. */
export const SECRET = "zzsecret"

/** Yesterday is measured: `rank` 4 for "tea", absent for "moon". The day before only "tea" is measured. */
export async function fillReports(sql: Sql, workspaces: { name: string; id: number; mark: string }[]): Promise<void> {
  await sql`
    select open_month(m::date)
    from generate_series(date_trunc('month', current_date - 2), current_date, interval '1 month') m`
  await sql`
    insert into store_app (platform, store_id, genre)
    values ('ios', '1200000001', '6007'), ('android', 'com.example.tea', null)`
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', storefront, term, current_date - 2, current_date - 1
    from unnest(array['us', 'de']) storefront, unnest(array['tea', 'moon', 'never', ${SECRET}]) term`
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select id, current_date - 1, 10, (current_date - 1)::timestamp at time zone 'utc' + interval '5 hours', 50, true, 1,
      'own', '\\x00', case term when 'moon' then array[7, 8] else array[7, 8, 9, 1] end
    from list
    where term <> 'never'`
  await sql`
    insert into rank_month (app_id, list_id, month, ranks)
    select 1, l.id, m.month, string_agg(
        set_byte('\\x00', 0, case
          when m.month + place = current_date - 1 then case l.term when 'moon' then 0 else 4 end
          when m.month + place = current_date - 2 and l.term = 'tea' then 5
          else 255
        end), '' order by place)
    from list l, generate_series(0, 30) place,
      (select distinct date_trunc('month', current_date - n)::date as month from generate_series(1, 2) n) m
    where l.term <> 'never'
    group by l.id, m.month`
  await sql`
    insert into list_month (list_id, month, sources, depths)
    select list_id, month, decode(repeat('0a', 31), 'hex'), decode(repeat('32', 31), 'hex')
    from rank_month`
  await sql`
    insert into chart (platform, storefront, device, chart, genre)
    select 'ios', storefront, 'iphone', 'free', genre
    from unnest(array['us', 'de']) storefront, unnest(array['36', '6007', '6014']) genre`
  await sql`
    insert into chart_results (chart_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select id, current_date - 1, 10, now(), 100, true, 1, 'own', '\\x00',
      case genre when '36' then array[8] else array[8, 1] end
    from chart`
  for (const { id, mark } of workspaces) {
    const app = `app_${mark}`
    const country = mark === SECRET ? "de" : "us"
    await sql`
      insert into tracked_app (id, workspace_id, name, ios_app, android_app, countries)
      values (${app}, ${id}, ${`App ${mark}`}, 1, 2, ${[country]})`
    await sql`
      insert into tracked_term (app_id, country, term, position)
      select ${app}, ${country}, term, 1
      from unnest(${["tea", "moon", "never", ...(mark === SECRET ? [SECRET] : [])]}::text[]) term`
    await sql`
      insert into review_version
        (app_id, feed, review_id, digest, current, stars, title, text, at, first_seen_at, seen_at, source, parser,
          origin, sha256)
      select a.app, a.feed, ${`r-${mark}-`} || a.app, decode(md5(${mark}), 'hex'), true, 4, ${mark}, ${mark},
        now(), now(), now(), 'apple-reviews', 1, 'own', '\\x00'
      from (values (1, ${country}), (2, ${mark === SECRET ? "de" : "en"})) a (app, feed)`
    for (const kind of ["app-store-connect", "google-play-console", "apple-ads"])
      await fillAccount(sql, { id, kind, mark, app })
  }
}

async function fillAccount(
  sql: Sql,
  { id, kind, mark, app }: { id: number; kind: string; mark: string; app: string },
): Promise<void> {
  const account = `${kind}-${mark}`
  const isPlay = kind === "google-play-console"
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, state, next_at)
    values (${account}, ${id}, ${kind}, ${mark}, ${mark}, 'demo', null)`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${account}, ${isPlay ? "com.example.tea" : "1200000001"}, ${`sku-${mark}`}, ${mark}, ${mark}, ${app})`
  if (kind !== "apple-ads") {
    await sql`
      insert into report_day (account_id, report, day, digest, source, seen_at, parser, origin, sha256, rows)
      select ${account}, ${isPlay ? "play_earnings" : "sales"}, current_date - n, '\\x00', ${kind}, now(), 1, 'own',
        '\\x00', '[]'
      from generate_series(1, 2) n`
    await sql`
      insert into sales_fact_row (account_id, day, place, app, country, product, title, counts_as, units, refunds,
        currency, gross, proceeds_currency, proceeds)
      values (${account}, current_date - 1, 0, ${`sku-${mark}`}, 'us', ${mark}, ${mark}, 'purchase', 3, 0, 'USD', 2.97,
        'USD', 2.07)`
    return
  }
  await sql`
    insert into ads_campaign_row (account_id, campaign, app, name, status, reasons, countries)
    values (${account}, ${`c-${mark}`}, '1200000001', ${mark}, 'ENABLED', '{}', '{us}')`
  await sql`
    insert into ads_report (account_id, report, about, day, digest, source, seen_at, parser, origin, sha256, rows)
    select ${account}, 'ads_days', ${`c-${mark}`}, current_date - n, '\\x00', 'apple-ads', now(), 1, 'own', '\\x00',
      '[]'
    from generate_series(1, 2) n`
  await sql`
    insert into ads_thing_row (account_id, campaign, thing, id, text, match, status)
    values (${account}, ${`c-${mark}`}, 'keyword', 'k1', ${mark}, 'EXACT', 'ACTIVE')`
  await sql`
    insert into ads_day_fact_row (account_id, campaign, day, place, ad_group, keyword, country, impressions, taps,
      installs, new_downloads, spend, currency)
    values (${account}, ${`c-${mark}`}, current_date - 1, 0, null, null, 'us', 100, 10, null, 2, 1.5, 'USD'),
      (${account}, ${`c-${mark}`}, current_date - 1, 1, 'g1', 'k1', 'us', 90, 9, null, 2, 1.4, 'USD')`
}
