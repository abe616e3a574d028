import type { Sql, Tx } from "../database/types.ts"
import { nameIn } from "../observations/app-names.ts"
import { deriveAppTexts } from "../observations/derived/app-texts.ts"
import { deriveFigures } from "../observations/derived/figures.ts"
import { YOUNG_DAYS } from "../observations/derived/keyword-inputs.ts"
import { deriveMonths, type ListMonth } from "../observations/derived/months.ts"
import { deriveKeywordNow, deriveListNow } from "../observations/derived/now.ts"
import { removeDemoCharts } from "../observations/remove-demo-charts.ts"
import { removeDemoReviews } from "../observations/remove-demo-reviews.ts"
import { lockLists, lockRemoval } from "../observations/rows/identities.ts"
import { removeInvented } from "../observations/rows/invented.ts"
import { recountDays } from "../observations/rows/searches.ts"
import { DEMO } from "../observations/types.ts"
import { DEMO_APPS, DEMO_STOREFRONT } from "./demo.ts"
import { INVENTED_APP } from "./invented/world.ts"

export interface RemovedDemo {
  /** Apps that are not tracked any more. */
  apps: number
  readings: number
  /** Apps to which somebody had added something: they are the workspace's own now. */
  kept: { id: string; name: string }[]
}

/**
 * Clears everything whose origin is the demo, in every workspace: tracked apps, readings, what is derived from them,
 * ratings, names, facts, and the lists and store apps nobody else uses. An app that got a keyword, tag, burial, rival or
 * goal since is kept as its workspace's own, without the demo's keywords unless it has no others; but not the one that is in
 * no store. Reads every stored
 * result once. Returns what went.
 */
export async function removeDemo(sql: Sql, now: () => Date = () => new Date()): Promise<RemovedDemo> {
  const removed = await sql.begin(async (tx) => {
    await lockRemoval(tx)
    const tracked = await readDemoIds(tx)
    const kept = await keepOwn(tx)
    const { count: apps } = await tx`
      delete from tracked_app
      where origin = ${DEMO}`
    const readings = await removeReadings(tx)
    const charts = await removeDemoCharts(tx)
    const reviews = await removeDemoReviews(tx)
    const invented = await removeInvented(tx)
    const shown = await removeShown(tx)
    const unused = [...tracked.apps, ...readings.apps, ...charts.apps, ...reviews.apps, ...invented.apps, ...shown]
    await removeUnused(tx, [...tracked.lists, ...readings.lists], unused)
    return { apps, readings: readings.count + charts.count + reviews.count + invented.count, kept }
  })
  await deriveFigures(sql, { now, pause: async () => {} })
  return removed
}

interface DemoIds {
  lists: number[]
  apps: number[]
}

async function readDemoIds(tx: Tx): Promise<DemoIds> {
  // whoever sets a goal or a tag meanwhile waits here, or is seen below
  await tx`
    select id
    from tracked_app
    where origin = ${DEMO}
    order by id
    for update`
  const apps = await tx<{ id: number }[]>`
    select distinct unnest(array[ios_app, android_app]) as id
    from tracked_app
    where origin = ${DEMO}
    order by 1`
  const lists = await tx<{ id: number }[]>`
    select distinct l.id
    from tracked_app a
    join tracked_term t on t.app_id = a.id
    join list l on (l.storefront, l.term) = (t.country, t.term)
    where a.origin = ${DEMO}
    order by 1`
  return { apps: apps.flatMap(({ id }) => id ?? []), lists: lists.map(({ id }) => id) }
}

/** Makes demo apps that somebody worked on their workspace's own. A keyword of the demo that was tagged is kept too. */
async function keepOwn(tx: Tx): Promise<RemovedDemo["kept"]> {
  const brought = DEMO_APPS.flatMap(({ iosId, keywords }) => keywords.map((term) => ({ iosId, term })))
  const kept = await tx<RemovedDemo["kept"]>`
    with added as materialized (
      select t.app_id, t.country, t.term
      from tracked_app a
      join tracked_term t on t.app_id = a.id
      left join store_app i on i.id = a.ios_app
      where a.origin = ${DEMO}
        and (
          a.keyword_tags -> t.term is not null
          or t.country <> ${DEMO_STOREFRONT}
          or not exists (
            select
            from unnest(${brought.map(({ iosId }) => iosId)}::text[], ${brought.map(({ term }) => term)}::text[])
              b (store_id, term)
            where (b.store_id, b.term) = (i.store_id, t.term)
          )
        )
    ), kept as (
      update tracked_app
      set origin = 'own', name = coalesce(name, (
        select coalesce(
          ${nameIn(tx, tx`s.id`, { storefront: DEMO_STOREFRONT, countries: tx`tracked_app.countries` })},
          s.store_id
        )
        from store_app s
        where s.id in (ios_app, android_app)
        order by s.platform desc
        limit 1
      ))
      where origin = ${DEMO} and ios_app is distinct from (
          select id
          from store_app
          where platform = 'ios' and store_id = ${INVENTED_APP.id}
        )
        and (
          goal is not null
          or keyword_tags is not null
          or cardinality(buried_keywords) > 0
          or cardinality(manual_rivals) > 0
          or cardinality(hidden_rivals) > 0
          or id in (select app_id from added)
        )
      returning id, name
    ), dropped as (
      delete from tracked_term
      where app_id in (select id from kept)
        and app_id in (select app_id from added)
        and (app_id, country, term) not in (select app_id, country, term from added)
    )
    select id, name
    from kept
    order by id`
  return [...kept]
}

async function removeReadings(tx: Tx): Promise<DemoIds & { count: number }> {
  const touched = await tx<(ListMonth & { apps: number[] | null })[]>`
    select s.list_id as "listId", date_trunc('month', s.day)::date as month,
      array_agg(distinct u.app_id) filter (where u.app_id is not null) as apps
    from search_results s
    left join lateral unnest(s.app_ids) u (app_id) on true
    where s.origin = ${DEMO}
    group by 1, 2
    order by 1, 2`
  const lists = [...new Set(touched.map(({ listId }) => listId))]
  await lockLists(tx, lists)
  const removed = await tx<ListDay[]>`
    delete from search_results
    where origin = ${DEMO}
    returning list_id as "listId", day`
  await forget(tx, touched)
  await recountDays(tx, lists)
  await deriveMonths(tx, touched)
  await removeFigures(tx, removed)
  await deriveListNow(tx, lists)
  return { lists, apps: [...new Set(touched.flatMap(({ apps }) => apps ?? []))], count: removed.length }
}

interface ListDay {
  listId: number
  day: string
}

/** Removes the figures that may rest on removed search results, and marks the keywords that still have others. */
async function removeFigures(tx: Tx, removed: readonly ListDay[]): Promise<void> {
  const [lists, days] = [removed.map(({ listId }) => listId), removed.map(({ day }) => day)]
  await tx`
    delete from keyword_metric m
    using (select distinct * from unnest(${lists}::int[], ${days}::date[]) r (list_id, day)) r
    where m.list_id = r.list_id and m.formula > 0 and m.day between r.day and r.day + ${YOUNG_DAYS}::int`
  await deriveKeywordNow(tx, [...new Set(lists)])
  await tx`
    insert into figure_due (kind, platform, storefront, subject)
    select 'term', platform, storefront, term
    from list
    where id = any(${lists}::int[]) and last_day is not null
    order by platform, storefront, term
    on conflict do nothing`
}

/** Deletes what is derived of these lists' months, also for apps that are not tracked any more. */
async function forget(tx: Tx, touched: readonly ListMonth[]): Promise<void> {
  const [lists, months] = [touched.map(({ listId }) => listId), touched.map(({ month }) => month)]
  await tx`
    delete from rank_month
    where (list_id, month) in (select * from unnest(${lists}::int[], ${months}::date[]))`
  await tx`
    delete from list_month
    where (list_id, month) in (select * from unnest(${lists}::int[], ${months}::date[]))`
}

/** What results showed of their apps. Returns those whose facts or names went. */
async function removeShown(tx: Tx): Promise<number[]> {
  await tx`
    delete from rating_count
    where origin = ${DEMO}`
  await tx`
    delete from rating_quarter
    where origin = ${DEMO}`
  const named = await tx<{ id: number }[]>`
    delete from store_app_name
    where origin = ${DEMO}
    returning app_id as id`
  const apps = await tx<{ id: number }[]>`
    update store_app
    set developer = null, bundle_id = null, seen_at = null, source = null, origin = null
    where origin = ${DEMO}
    returning id`
  const ids = [...new Set([...named, ...apps].map(({ id }) => id))]
  await deriveAppTexts(tx, ids)
  return ids
}

async function removeUnused(tx: Tx, lists: number[], apps: number[]): Promise<void> {
  await tx`
    delete from list l
    where l.id = any(${lists}::int[])
      and not exists (select from search_results where list_id = l.id)
      and not exists (select from keyword_metric where list_id = l.id)
      and not exists (
        select
        from tracked_term t
        join tracked_app a on a.id = t.app_id
        where (t.country, t.term) = (l.storefront, l.term)
          and case l.platform when 'ios' then a.ios_app else a.android_app end is not null
      )`
  await tx`
    delete from store_app s
    where s.id = any(${apps}::int[])
      and not exists (select from tracked_app where ios_app = s.id or android_app = s.id)
      and not exists (select from rating_count where app_id = s.id)
      and not exists (select from app_storefront where app_id = s.id)
      and not exists (select from review_version where app_id = s.id)
      and not exists (select from review_read where app_id = s.id)
      and not exists (select from listing_content where app_id = s.id)
      and not exists (select from listing_item where app_id = s.id)
      and not exists (select from listing_version where app_id = s.id)
      and not exists (select from listing_change where app_id = s.id)
      and not exists (select from rank_month where app_id = s.id)
      and not exists (select from market_fact where app_id = s.id)
      and not exists (select from app_ads where app_id = s.id)
      and not exists (select from app_rival where rival = s.id)
      and not exists (select from chart_first_seen where app_id = s.id)
      and s.id not in (select unnest(app_ids) from developer_shelf)
      and s.id not in (select unnest(app_ids) from search_results)
      and s.id not in (select unnest(app_ids) from chart_results)`
}
