import type { Sql } from "../../src/database/types.ts"
import { foldReview } from "../../src/formulas/review-text.ts"
import { type Filling, TODAY, NOW } from "./years-world.ts"

/** What stores say of apps: ratings, pages and what changed on them, what is sold within, who advertises, charts. */
export async function fillPages(sql: Sql, { storeApps, from }: Filling): Promise<void> {
  await sql`
    insert into rating_count (app_id, storefront, day, source, seen_at, origin, ratings, rating)
    select id, 'us', d, 'itunes-lookup', d + interval '2 hours', 'own', 1000 + extract(doy from d)::int, 4.5
    from read_app
    cross join generate_series(${from}::date, ${TODAY}::date, '1 day') d`
  await sql`
    insert into app_storefront (app_id, storefront, source, seen_at, available, name, version, price, currency, genre, parser, origin, sha256)
    select id, 'us', 'itunes-lookup', ${TODAY}::date + interval '2 hours', true, null, '1.1', 0, 'USD', '6007', 1, 'own', sha256('x')
    from read_app`
  await sql`
    insert into market_fact (app_id, storefront, source, day, seen_at, has_in_app_purchases, parser, origin, sha256)
    select id, 'us', 'apple-app-page', d, d + interval '2 hours', true, 1, 'own', sha256('x')
    from read_app
    cross join generate_series(${from}::date, ${TODAY}::date, '1 day') d`
  await fillAppAds(sql, from)
  await fillListings(sql, from)
  await fillCharts(sql, storeApps, from)
}

/** Read anew every 14 days (src/measuring/kinds/app-ads.ts). */
async function fillAppAds(sql: Sql, from: string): Promise<void> {
  const records = Array.from({ length: 200 }, (_, i) => ({
    system: `ads${i % 60}.example.com`,
    publisherId: String(100_000 + i),
    relation: i % 4 === 0 ? "DIRECT" : "RESELLER",
  }))
  await sql`
    insert into app_ads (app_id, day, seen_at, source, domain, state, records, variables, parser, origin, sha256)
    select id, d, d + interval '2 hours', 'app-ads', 'example.com', 'records', ${sql.json(records as never)}, '{}', 1, 'own', sha256('x')
    from read_app
    cross join generate_series(${TODAY}::timestamptz, ${from}::timestamptz, '-14 days') d`
}

async function fillListings(sql: Sql, from: string): Promise<void> {
  await sql`
    insert into listing_content (app_id, storefront, source, section, digest, content)
    select id, 'us', 'apple-app-page', s, substr(sha256(s::bytea), 1, 16),
      case s when 'page' then '{"name":"App","version":"1.0","languages":["English"]}'::jsonb else '["1000000001"]'::jsonb end
    from read_app
    cross join (values ('page'), ('similar')) s (s)`
  await sql`
    insert into listing_run (app_id, storefront, source, section, first_seen_at, seen_at, moments, sha256s, digest, parser, origin)
    select c.app_id, c.storefront, c.source, c.section, d - interval '6 days', d, array[d - interval '6 days', d],
      array[sha256('x'), sha256('x')], c.digest, 1, 'own'
    from listing_content c
    cross join generate_series(${TODAY}::timestamptz, ${from}::timestamptz, '-7 days') d`
  await sql`
    insert into listing_change (app_id, at, storefront, source, kind, subject, before, after, before_seen_at, origin)
    select id, d + interval '7 hours', 'us', 'apple-app-page', 'version', '', '"1.0"', '"1.1"', d, 'own'
    from read_app
    cross join generate_series(${from}::timestamptz, ${TODAY}::timestamptz, '7 days') d`
}

async function fillCharts(sql: Sql, storeApps: number, from: string): Promise<void> {
  await sql`
    insert into chart (platform, storefront, device, chart, genre, first_day, last_day)
    select 'ios', 'us', device, chart, genre, ${from}, ${TODAY}
    from (values ('iphone'), ('ipad')) d (device), (values ('free'), ('paid'), ('grossing')) c (chart), (values ('36'), ('6007')) g (genre)`
  await sql`
    insert into chart_results (chart_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select c.id, d, 10, d + interval '4 hours', 200, true, 1, 'own', sha256('x'), c.app_ids
    from (
      select id, n, array(select 1 + (g + id + n) % ${storeApps}::int from generate_series(1, 200) g) as app_ids
      from chart
      cross join generate_series(1, 31) n
    ) c
    join generate_series(${from}::date, ${TODAY}::date, '1 day') d on extract(day from d)::int = c.n`
  await sql`
    insert into chart_place (app_id, chart_id, rank, day)
    select app_id, chart_id, rank, day
    from chart_results
    cross join unnest(app_ids) with ordinality u (app_id, rank)
    where day = ${TODAY}
    on conflict do nothing`
}

/** Reviews, and the feed of alerts. */
export async function fillFeeds(sql: Sql, workspace: number, { from }: Filling): Promise<void> {
  const [title, text] = ["A title", "What somebody wrote of an app at some length, as people do."]
  await sql`
    insert into review_version (
      app_id, feed, review_id, digest, current, stars, title, text, version, at, first_seen_at, seen_at, source, parser,
      origin, sha256, folded
    )
    select ios_app, 'us', 'r' || to_char(d, 'YYYYMMDDHH24'), substr(sha256('x'), 1, 16), true, 1 + extract(day from d)::int % 5,
      ${title}, ${text}, '1.' || extract(month from d), d, d, d,
      'apple-reviews', 1, 'own', sha256('x'), ${foldReview({ title, text })}
    from tracked_app
    cross join generate_series(${from}::timestamptz, ${TODAY}::timestamptz, '12 hours') d`
  await sql`
    insert into review_read (app_id, feed, source, complete, seen_at, pages, empty, parser, origin, sha256)
    select ios_app, 'us', 'apple-reviews', true, ${NOW}, 1, false, 1, 'own', sha256('x')
    from tracked_app`
  await sql`
    insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts)
    select ${workspace}, a.id, 'rank_drop', 'ios', 'us', 'keyword ' || n, d, d + interval '3 hours',
      '{"term": "keyword 1", "rank": 9, "was": 3, "depth": 30, "wasDepth": 30, "source": "apple-web-search", "against": "2025-11-19"}'
    from tracked_app a
    cross join generate_series(${from}::date, ${TODAY}::date, '1 day') d
    cross join generate_series(1, 2) n`
}
