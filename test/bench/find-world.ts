import { deriveChartNow } from "../../src/charts/store/chart-now.ts"
import { rebuildMarketApps } from "../../src/charts/store/market-apps.ts"
import type { Sql } from "../../src/database/types.ts"
import { STOREFRONTS } from "../../src/lib/storefronts.ts"
import { rebuildAppTexts } from "../../src/stores/store/app-texts.ts"

/** Genres with their four lists: 28 of them are the 112 lists of a storefront. */
export const GENRES = ["36", ...Array.from({ length: 27 }, (_, i) => String(6_000 + i))]
const DEPTH = 140
/** Apps of a genre in the world. A third of a list comes from its first 400, which chart everywhere. */
const OF_GENRE = 11_000
export const PUBLISHERS = 40_000

/** Returns a word for names: the most frequent one occurs in two of a hundred apps, the rarest in one of 5,000. */
export const wordAt = (place: number) => `w${Math.floor(20 * 100 ** place)}x`

/**
 * Creates a market with this many storefronts in its present state, without earlier readings. Returns its number of
 * places.
 */
export async function makeMarket(sql: Sql, storefronts: number, today: string): Promise<number> {
  const codes = ["us", ...STOREFRONTS.filter((code) => code !== "us")].slice(0, storefronts)
  await sql`select open_month(${today})`
  for (let genre = 0; genre < GENRES.length; genre++) {
    await sql`
      insert into store_app (platform, store_id, developer, developer_id)
      select 'ios', (100000000 + (i::bigint * 7919) % 1000000007)::text, 'Maker ' || i % ${PUBLISHERS}::int,
        (500000 + i % ${PUBLISHERS}::int)::text
      from generate_series(${genre * OF_GENRE}::int, ${(genre + 1) * OF_GENRE - 1}::int) i`
    await sql`
      insert into store_app_name (app_id, storefront, origin, name, name_at, name_weight)
      select id, 'us', 'own', concat_ws(' ', 'w' || floor(20 * 100 ^ (id % 10007 * 7919 % 10007 / 10007.0)) || 'x',
          'w' || floor(20 * 100 ^ (id % 10009 * 4729 % 10009 / 10009.0)) || 'x', id), now(), 0
      from store_app
      where id > ${genre * OF_GENRE}`
  }
  await sql`
    insert into chart (platform, storefront, device, chart, genre, first_day, last_day)
    select 'ios', s, k.device, k.chart, g, ${today}::date - 300, ${today}
    from unnest(${codes}::text[]) with ordinality s (s, n)
    cross join unnest(${GENRES}::text[]) g
    cross join (values ('iphone', 'free'), ('iphone', 'paid'), ('iphone', 'grossing'), ('ipad', 'free')) k (device,
      chart)
    order by s.n, g`
  for (const code of codes) {
    await sql`
      insert into chart_results (chart_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
      select c.id, ${today}, 10, ${`${today}T06:00:00Z`}, 200, true, 1, 'own', '', r.ids
      from chart c
      cross join lateral (
        select array_agg(1 + array_position(${GENRES}::text[], c.genre) * ${OF_GENRE}::int - ${OF_GENRE}::int + place
        order by i) as ids
        from (
          select i,
            case when i % 3 = 0 then (c.id * 5 + i) % 400 else 400 + (c.id * 977 + i * 53) % ${OF_GENRE - 400}::int
            end as place
          from generate_series(1, ${DEPTH}::int) i
        ) p
      ) r
      where c.storefront = ${code}`
    await sql`
      insert into app_first_seen (app_id, storefront, day, baseline, chart_id)
      select u.app_id, c.storefront,
        ${today}::date - case when u.app_id % 10 < 7 then 300 else (u.app_id * 31) % 299 end,
        u.app_id % 10 < 7, min(c.id)
      from chart c
      join chart_results r on r.chart_id = c.id
      cross join lateral unnest(r.app_ids) u (app_id)
      where c.storefront = ${code}
      group by u.app_id, c.storefront`
    await sql`
      insert into chart_place (app_id, chart_id, rank, day)
      select distinct on (u.app_id, c.id) u.app_id, c.id, u.rank, ${today}
      from chart c
      join chart_results r on r.chart_id = c.id
      cross join lateral unnest(r.app_ids) with ordinality u (app_id, rank)
      where c.storefront = ${code}
      order by u.app_id, c.id, u.rank`
    const charts = await sql<{ id: number }[]>`select id from chart where storefront = ${code} order by id`
    await sql.begin((tx) =>
      deriveChartNow(
        tx,
        charts.map(({ id }) => id),
      ),
    )
  }
  await estimateMarket(sql)
  await sql`analyze chart_place`
  await rebuildMarketApps(sql, async () => {})
  await rebuildAppTexts(sql, async () => {})
  for (const table of [
    "store_app",
    "store_app_name",
    "chart",
    "chart_now",
    "chart_place",
    "market_app",
    "app_first_seen",
    "app_text",
    "app_estimate",
  ])
    await sql`analyze ${sql(table)}`
  const [row] = await sql<{ places: number }[]>`select count(*)::int as places from chart_place`
  return row!.places
}

/** A statement has 4 seconds. */
const ESTIMATED_AT_ONCE = 2_000

/** Stores estimates: two of three apps have a figure, and one of ten of these has only an upper bound. */
async function estimateMarket(sql: Sql): Promise<void> {
  for (let from = 0; from < GENRES.length * OF_GENRE; from += ESTIMATED_AT_ONCE) {
    await sql`
      insert into app_estimate (
        app_id, version, made_at, formula, day, markets, days, basis, pairs, downloads, downloads_low, downloads_high,
        downloads_under, revenue, revenue_low, revenue_high, revenue_markets, growth, growth_low, growth_high, genre
      )
      select id, id / 50 + 1, now(), 1, current_date, 1, 29, 'prior', 0, v, v / 4, v * 4,
        case when v is null then 1000 end,
        v * 2, v / 3, v * 12, case when v is not null then 1 end, g, g - 9, g + 9, '6014'
      from (
        select id, case when id % 10 > 0 then 10 ^ (1 + id % 997 / 200.0) end as v, id % 101 - 40 as g
        from store_app
        where id % 3 > 0 and id > ${from} and id <= ${from + ESTIMATED_AT_ONCE}
      ) s`
  }
}
