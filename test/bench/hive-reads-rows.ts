import { PLACES } from "../../src/charts/formulas/landscape.ts"
import type { Sql } from "../../src/database/types.ts"
import type { HiveWorld } from "./hive-reads-world.ts"

/** Fetches the rows behind an answer by their known primary keys, all statements at once. */
export async function rowsOf(
  sql: Sql,
  operation: string,
  answer: object,
  world: HiveWorld,
): Promise<() => Promise<unknown>> {
  const apps = await sql<{ id: number }[]>`
    select id
    from store_app
    where platform = 'ios' and store_id = any(${[...idsIn(answer)]}::text[])`
  const ids = apps.map(({ id }) => id)
  const [listed] = await sql<{ list: number }[]>`select id as list from list where term = ${world.term}`
  const [charted] = await sql<{ chart: number }[]>`
    select id as chart
    from chart
    where (storefront, device, chart, genre) = ('us', 'iphone', 'free', '6015')`
  const [list, chart] = [listed!.list, charted!.chart]
  const [now] = await sql<{ first: number[] }[]>`
    select app_ids[1:${PLACES}::int] as first
    from chart_results
    where chart_id = ${chart}
    order by day desc
    limit 1`
  const first = now!.first
  const nameRows = (appIds = ids) => namesOf(sql, appIds)
  const ratings = (appIds = ids) => ratingsOf(sql, appIds)
  const facts = (appIds = ids) => sql`
    select *
    from app_storefront
    where app_id = any(${appIds}::int[]) and (storefront, source) = ('us', 'itunes-lookup')`
  const resultRows = (days: number) => sql`
    select day, source, depth, seen_at, origin, egress, sha256, app_ids
    from search_results
    where list_id = ${list} and day > current_date - ${days}::int`
  const placeRows = () => [
    sql`select * from chart_place where app_id = any(${ids}::int[])`,
    sql`select * from app_first_seen where app_id = any(${ids}::int[]) and storefront = 'us'`,
  ]
  const lists = () => sql`select * from chart_now where chart_id = ${chart}`
  const page = () => sql`
    select section, content, seen_at
    from listing_run
    join listing_content using (app_id, storefront, source, section, digest)
    where app_id = any(${ids}::int[]) and storefront = 'us'`
  const metrics = (days: number) => sql`
    select *
    from keyword_metric
    where list_id = ${list} and metric = any('{popularity,difficulty}') and day > current_date - ${days}::int`
  const readDue = () => sql`
    select *
    from due
    where kind in ('search', 'hints', 'difficulty') and (platform, storefront, subject) = ('ios', 'us', ${world.term})`
  const statements: Record<string, () => Promise<unknown>[]> = {
    check_rank: () => [...nameRows(), resultRows(1)],
    get_keyword_difficulty: () => [
      ...[...nameRows(), ratings(), resultRows(1)],
      sql`select * from keyword_metric where list_id = ${list}`,
      sql`select * from hint_answer where platform = 'ios' and storefront = 'us' and prefix = ${world.term}`,
    ],
    hive_find_apps: () => [
      ...nameRows(),
      sql`select * from market_app where storefront = 'us' order by rank, store_id limit 50`,
    ],
    hive_get_chart: () => [...nameRows(), lists()],
    hive_get_chart_movers: () => [
      ...nameRows(),
      sql`
        select day, source, depth, seen_at, app_ids from chart_results
        where chart_id = ${chart} and day > current_date - 3`,
    ],
    hive_list_new_apps: () => [...nameRows(), ...placeRows()],
    hive_get_publisher: () => [
      ...[...nameRows(), ...placeRows()],
      sql`
        select * from developer_shelf
        where developer_id = ${world.publisherId} and platform = 'ios' and storefront = 'us'`,
    ],
    hive_resolve_app: () => [...nameRows(), ratings()],
    hive_get_similar_apps: () => [...nameRows(), page()],
    hive_list_reviews: () => [
      ...nameRows(),
      sql`
        select v.*
        from review_version v
        join unnest(${reviewsIn(answer)}::text[]) u (id) on u.id = v.review_id
        join store_app s on s.id = v.app_id
        where s.platform = 'ios' and s.store_id = ${world.appId} and v.feed = 'us'`,
    ],
    hive_get_app: () => [...nameRows(), ratings(), facts(), page()],
    hive_get_keyword_ranks: () => [...nameRows(), resultRows(7)],
    hive_get_keyword_metrics: () => [
      ...[sql`select * from keyword_now where list_id = ${list}`, metrics(1), readDue()],
      sql`select * from hint_answer where platform = 'ios' and storefront = 'us' and prefix = ${world.term}`,
      resultRows(1),
    ],
    hive_get_keyword_metrics_history: () => [metrics(30), readDue()],
    // the figures include apps that the answer does not name
    hive_get_landscape: () => [...nameRows(first), ratings(first), facts(first), lists()],
  }
  return () => Promise.all(statements[operation]!())
}

/** Names of apps in the United States, and their sellers. */
export function namesOf(sql: Sql, apps: readonly number[]) {
  return [
    sql`select id, store_id, developer, developer_id from store_app where id = any(${apps as number[]}::int[])`,
    sql`select app_id, name from store_app_name where app_id = any(${apps as number[]}::int[]) and storefront = 'us'`,
  ]
}

/** Fetches the latest rating counts of each app in the United States. */
export function ratingsOf(sql: Sql, apps: readonly number[]) {
  return sql`
    select r.*
    from unnest(${apps as number[]}::int[]) u (id)
    cross join lateral (
      select ratings, rating, stars, seen_at, source
      from rating_count
      where app_id = u.id and storefront = 'us'
      order by day desc
      limit 1
    ) r`
}

/** Returns all store ids in the answer. */
export function idsIn(answer: unknown): Set<string> {
  return new Set([...JSON.stringify(answer).matchAll(/"(1\d{9})"/g)].map(([, id]) => id as string))
}

function reviewsIn(answer: object): string[] {
  return ((answer as { reviews?: { id: string }[] }).reviews ?? []).map(({ id }) => id)
}
