// Fills the worlds of test/bench/years.ts with the rows that measuring day by day would have stored.

import type { Sql } from "../../src/database/types.ts"
import { loadDemoOwner } from "../../src/demo/accounts/owner.ts"
import { STOREFRONTS } from "../../src/lib/storefronts.ts"
import type { AuditRow } from "../../src/listings/audits/storefront-audits.ts"
import { recording } from "../../src/recording.ts"
import { foldReview } from "../../src/reviews/formulas/review-text.ts"

export interface Filling {
  storeApps: number
  lists: number
  /** The first day; TODAY is the last. */
  from: string
  /** Number for each app and day. */
  reviews: number
  alerts: number
}

export const TODAY = "2025-11-20"
export const NOW = new Date(`${TODAY}T12:00:00Z`)
/** Places in a keyword's results. */
const DEPTH = 30

/** Fills the rows behind ranks: results, and the bytes derived from them. */
export async function fillRanks(sql: Sql, { storeApps, lists, from }: Filling): Promise<void> {
  // without tracked apps, which would use up ids, because results refer to apps by consecutive ids from 1 on
  await sql`
    insert into store_app (platform, store_id)
    select 'ios', (1000000000 + g)::text
    from generate_series(${storeApps / 3}::int, ${storeApps - 1}::int) g`
  await sql`
    insert into list (platform, storefront, term) select 'ios', 'us', 'keyword ' || g
      from generate_series(0, ${lists - 1}::int) g on conflict do nothing`
  await sql`update list set first_day = ${from}, last_day = ${TODAY}`
  // three lists of results in alternation, because creating an array for each day took most of the time
  await sql`
    create temp table answer on commit drop as
    select l.id, n, array(
        select distinct 1 + (l.id * 31 + g * 17 + n) % ${storeApps}::int
        from generate_series(1, ${DEPTH}::int) g
      ) as app_ids
    from list l
    cross join generate_series(0, 2) n`
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select a.id, d, 10, d + interval '3 hours', ${DEPTH}, true, 1, 'own', sha256('x'), a.app_ids
    from answer a
    join generate_series(${from}::date, ${TODAY}::date, '1 day') d on extract(day from d)::int % 3 = a.n`
  await sql`
    insert into list_month (list_id, month, sources, depths)
    select l.id, m, decode(repeat('0a', 31), 'hex'), decode(repeat('1e', 31), 'hex')
    from list l
    cross join generate_series(date_trunc('month', ${from}::date), ${TODAY}::date, '1 month') m
    on conflict (list_id, month) do update set sources = excluded.sources, depths = excluded.depths`
  await sql`
    insert into rank_month (app_id, list_id, month, ranks)
    select a.ios_app, l.id, m,
      decode(repeat(lpad(to_hex(1 + (l.id + extract(month from m)::int) % 30), 2, '0'), 31), 'hex')
    from tracked_app a
    join tracked_term t on t.app_id = a.id
    join list l on l.platform = 'ios' and l.storefront = 'us' and l.term = t.term
    cross join generate_series(date_trunc('month', ${from}::date), ${TODAY}::date, '1 month') m
    on conflict (app_id, list_id, month) do update set ranks = excluded.ranks`
}

/**
 * Fills the rivals: the apps in most of today's lists, as in src/alerts/follow-rivals.ts. App names contain some of
 * their keywords, so that plans get realistic statistics of words in names.
 */
export async function fillRivals(sql: Sql): Promise<void> {
  await sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms, day)
    select app_id, 'ios', 'us', rival, false, terms, ${TODAY}
    from (
      select t.app_id, u.rival, count(*) as terms,
        row_number() over (partition by t.app_id order by count(*) desc, u.rival) as place
      from tracked_app a
      join tracked_term t on t.app_id = a.id
      join list l on l.platform = 'ios' and l.storefront = 'us' and l.term = t.term
      join search_results r on r.list_id = l.id and r.day = ${TODAY}
      cross join unnest(r.app_ids) u (rival)
      where u.rival <> a.ios_app
      group by t.app_id, u.rival
    ) r
    where place <= 10`
  await sql`
    update store_app
    set genre = '6007', developer_id = '9' || store_id, developer_site = 'https://example.com', seen_at = ${NOW},
      source = 'itunes-lookup', origin = 'own'`
  await sql`
    insert into store_app_name (app_id, storefront, origin, name, name_at, name_weight)
    select o.id, 'us', 'own', 'App ' || o.id || coalesce(': keyword ' || k.numbers, ''), ${NOW}, 0
    from store_app o
    left join (
      select u.app_id, string_agg(split_part(l.term, ' ', 2), ' ' order by l.id) filter (where u.place <= 5) as numbers
      from (
        select r.list_id, u.app_id, row_number() over (partition by u.app_id order by r.list_id) as place
        from search_results r
        cross join unnest(r.app_ids) u (app_id)
        where r.day = ${TODAY}
      ) u
      join list l on l.id = u.list_id
      group by u.app_id
    ) k on k.app_id = o.id
    order by o.id`
  // read every day, like tracked apps, because somebody opened its page
  await sql`
    create temp table read_app on commit drop as
    select ios_app as id
    from tracked_app
    union
    select rival
    from (
      select distinct on (app_id) rival
      from app_rival
      order by app_id, terms desc, rival
    ) r`
}

/**
 * Fills metrics: three are derived from results each day, one from hints each week, and one is published each month.
 */
export async function fillMetrics(sql: Sql, { from }: Filling): Promise<void> {
  await sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    select l.id, m.metric, d, m.source, d + interval '3 hours', 1 + (l.id + extract(doy from d)::int) % 90, 1, '{}'
    from list l
    cross join (
      values ('demand', 'calculated', 1), ('difficulty', 'calculated', 1), ('popularity', 'estimate', 1),
        ('hints', 'calculated', 7)
    ) m (metric, source, every)
    cross join generate_series(${from}::date, ${TODAY}::date, '1 day') d
    where (d::date - ${from}::date) % m.every = 0`
  await sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    select l.id, 'popularity', m, 'apple-ads-report', m + interval '33 days', 1 + l.id % 90, 0, '{}'
    from list l
    cross join generate_series(date_trunc('month', ${from}::date) - interval '1 month', ${TODAY}::date - 45,
      '1 month') m
    where l.id % 2 = 0`
}

/** Fills store data of apps: ratings, pages and their changes, in-app products, advertisers, charts. */
export async function fillPages(sql: Sql, { storeApps, from }: Filling): Promise<void> {
  await sql`
    insert into rating_count (app_id, storefront, day, source, seen_at, origin, ratings, rating)
    select id, 'us', d, 'itunes-lookup', d + interval '2 hours', 'own', 1000 + extract(doy from d)::int, 4.5
    from read_app
    cross join generate_series(${from}::date, ${TODAY}::date, '1 day') d`
  await sql`
    insert into app_storefront (app_id, storefront, source, seen_at, available, name, version, price, currency, genre,
      parser, origin, sha256)
    select id, 'us', 'itunes-lookup', ${TODAY}::date + interval '2 hours', true, null, '1.1', 0, 'USD', '6007', 1,
      'own', sha256('x')
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

/** Fills app-ads.txt files, which are read again every 14 days (src/listings/due/app-ads.ts). */
async function fillAppAds(sql: Sql, from: string): Promise<void> {
  const records = Array.from({ length: 200 }, (_, i) => ({
    system: `ads${i % 60}.example.com`,
    publisherId: String(100_000 + i),
    relation: i % 4 === 0 ? "DIRECT" : "RESELLER",
  }))
  await sql`
    insert into app_ads (app_id, day, seen_at, source, domain, state, records, variables, parser, origin, sha256)
    select id, d, d + interval '2 hours', 'app-ads', 'example.com', 'records', ${sql.json(records as never)}, '{}', 1,
      'own', sha256('x')
    from read_app
    cross join generate_series(${TODAY}::timestamptz, ${from}::timestamptz, '-14 days') d`
}

async function fillListings(sql: Sql, from: string): Promise<void> {
  await sql`
    insert into listing_content (app_id, storefront, source, section, digest, content)
    select id, 'us', 'apple-app-page', s, substr(sha256(s::bytea), 1, 16),
      case s when 'page' then '{"name":"App","version":"1.0","languages":["English"]}'::jsonb
        else '["1000000001"]'::jsonb end
    from read_app
    cross join (values ('page'), ('similar')) s (s)`
  await sql`
    insert into listing_run (app_id, storefront, source, section, first_seen_at, seen_at, moments, sha256s, digest,
      parser, origin)
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
    from (values ('iphone'), ('ipad')) d (device), (values ('free'), ('paid'), ('grossing')) c (chart),
      (values ('36'), ('6007')) g (genre)`
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

/** Number of its newest reviews that a feed lists in each reading. */
const IN_FEED = 500

/** Fills reviews, and the feed of alerts. */
export async function fillFeeds(sql: Sql, workspace: number, { from, reviews, alerts }: Filling): Promise<void> {
  const [title, text] = ["A title", "What somebody wrote of an app at some length, as people do."]
  await sql`
    insert into review_version (
      app_id, feed, review_id, digest, current, stars, title, text, version, at, first_seen_at, seen_at, source, parser,
      origin, sha256, folded
    )
    select ios_app, 'us', 'r' || to_char(d, 'YYYYMMDDHH24') || n, substr(sha256('x'), 1, 16), true,
      1 + extract(day from d)::int % 5, ${title}, ${text}, '1.' || extract(month from d), d, d,
      least(${NOW}, d + ${IN_FEED / reviews} * interval '1 day'),
      'apple-reviews', 1, 'own', sha256('x'), ${foldReview({ title, text })}
    from tracked_app
    cross join generate_series(${from}::timestamptz, ${TODAY}::timestamptz, '1 day') d
    cross join generate_series(1, ${reviews}::int) n`
  await sql`
    insert into review_read (app_id, feed, source, complete, seen_at, pages, empty, parser, origin, sha256)
    select ios_app, 'us', 'apple-reviews', true, ${NOW}, 1, false, 1, 'own', sha256('x')
    from tracked_app`
  await sql`
    insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts)
    select ${workspace}, a.id, 'rank_drop', 'ios', 'us', 'keyword ' || n, d, d + interval '3 hours',
      '{"term": "keyword 1", "rank": 9, "was": 3, "depth": 30, "wasDepth": 30,
        "source": "apple-web-search", "against": "2025-11-19"}'
    from tracked_app a
    cross join generate_series(${from}::date, ${TODAY}::date, '1 day') d
    cross join generate_series(1, ${alerts}::int) n`
}

/** Fills the daily reports of a console and an ad account, and a change of the page in between. */
export async function fillOwners(
  sql: Sql,
  { workspaceId, apps, days }: { workspaceId: number; apps: readonly string[]; days: number },
): Promise<void> {
  const named = await sql<{ id: string; iosId: string }[]>`
    select a.id, s.store_id as "iosId"
    from tracked_app a
    join store_app s on s.id = a.ios_app
    where a.id = any(${apps as string[]}::text[])
    order by a.id`
  const demo = named.map((app) => ({ ...app, name: "An app", keywords: ["keyword 13", "keyword 26"] }))
  await loadDemoOwner(recording, sql, { workspaceId, apps: demo, now: () => NOW, days })
}

/** Fills a recent scan of each app, by the database's clock, and with a longer history also one from a month ago. */
export async function fillAudits(sql: Sql, withEarlier: boolean): Promise<void> {
  const rows = STOREFRONTS.map(auditRow)
  await sql`
    insert into storefront_audit (app_id, started_at, storefronts, priority, finished_at, failed, rows)
    select ios_app, at, ${STOREFRONTS as string[]}::text[], 1, at + interval '5 minutes', false,
      ${sql.json(rows as never)}
    from tracked_app
    cross join unnest(array[now() - interval '2 hours', now() - interval '1 month']) a (at)
    where ${withEarlier} or at > now() - interval '1 day'`
}

function auditRow(country: string, place: number): AuditRow {
  const isSold = place % 10 !== 0
  return {
    country,
    state: isSold ? "sold" : "not_sold",
    readAt: "2025-11-20T10:00:00.000Z",
    language: isSold ? "en-US" : null,
    name: isSold ? "An app by its name" : null,
    subtitle: isSold ? "And what it is good for" : null,
    text: isSold ? `text ${place % 30}` : null,
    writtenIn: isSold ? "en" : null,
    screenshotsPhone: isSold ? 5 : null,
    screenshotsPad: isSold ? 3 : null,
    rating: isSold ? 4.5 : null,
    ratings: isSold ? place * 10 : null,
    price: isSold ? 0 : null,
    currency: isSold ? "USD" : null,
  }
}
