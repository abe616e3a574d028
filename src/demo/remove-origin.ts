import { deriveCharts } from "../charts/store/charts.ts"
import type { ChartDay } from "../charts/store/first-seen.ts"
import { OWN } from "../core/observation/origins.ts"
import type { Tx } from "../database/types.ts"
import { oldestDay } from "../keywords/store/figures-due.ts"
import { YOUNG_DAYS } from "../keywords/store/keyword-inputs.ts"
import { deriveKeywordNow, deriveListNow } from "../keywords/store/now.ts"
import { recountDays } from "../keywords/store/searches.ts"
import { removePages } from "../listings/store/remove-pages.ts"
import { putForwardEstimates } from "../market/store/estimates-due.ts"
import { lockCharts } from "../measuring/record/chart-identities.ts"
import { lockLists, lockRemoval } from "../measuring/record/identities.ts"
import { removeReviews } from "../reviews/store/remove-reviews.ts"
import { deriveAppTexts } from "../stores/store/app-texts.ts"
import { deriveMonths, type ListMonth } from "../tracking/rank-months.ts"

/** Ids of the lists and store apps that a publisher's readings concern. */
export interface Subjects {
  lists: readonly number[]
  apps: readonly number[]
}

interface Removal extends Subjects {
  readings: number
}

/**
 * Removes a publisher's search results, charts, reviews, pages, published popularities and assistants' answers, with
 * the names, facts and rating counts of apps in them, and derives dependent rows again. Also removes lists and apps
 * that are no longer used, including those in `used`. Marks keywords whose figures changed; call deriveFigures
 * afterwards. Scans every stored reading once. Returns the number of removed readings. Throws RangeError for the origin
 * of own readings.
 */
export async function removeOrigin(
  tx: Tx,
  publisher: string,
  { used = { lists: [], apps: [] }, now = new Date() }: { used?: Subjects; now?: Date } = {},
): Promise<number> {
  if (publisher === OWN) throw new RangeError("own readings have no publisher")
  await lockRemoval(tx)
  const removed = [
    await removeSearches(tx, publisher),
    await removeCharts(tx, publisher),
    await removeReviews(tx, publisher),
    await removePages(tx, publisher),
    await removePopularities(tx, publisher),
    await removeAnswers(tx, publisher),
    await removeShown(tx, publisher, now),
  ]
  await removeUnused(tx, {
    lists: [...used.lists, ...removed.flatMap(({ lists }) => lists)],
    apps: [...used.apps, ...removed.flatMap(({ apps }) => apps)],
  })
  return removed.reduce((sum, { readings }) => sum + readings, 0)
}

async function removeSearches(tx: Tx, publisher: string): Promise<Removal> {
  const touched = await tx<(ListMonth & { apps: number[] | null })[]>`
    select s.list_id as "listId", date_trunc('month', s.day)::date as month,
      array_agg(distinct u.app_id) filter (where u.app_id is not null) as apps
    from search_results s
    left join lateral unnest(s.app_ids) u (app_id) on true
    where s.origin = ${publisher}
    group by 1, 2
    order by 1, 2`
  const lists = [...new Set(touched.map(({ listId }) => listId))]
  await lockLists(tx, lists)
  const gone = await tx<ListDay[]>`
    delete from search_results
    where origin = ${publisher}
    returning list_id as "listId", day`
  await removeMonths(tx, touched)
  await recountDays(tx, lists)
  await deriveMonths(tx, touched)
  await removeFigures(tx, gone)
  await deriveListNow(tx, lists)
  return { lists, apps: [...new Set(touched.flatMap(({ apps }) => apps ?? []))], readings: gone.length }
}

/** Removes the derived months of these lists, also for apps that are no longer tracked. */
async function removeMonths(tx: Tx, touched: readonly ListMonth[]): Promise<void> {
  const [lists, months] = [touched.map(({ listId }) => listId), touched.map(({ month }) => month)]
  await tx`
    delete from rank_month
    where (list_id, month) in (select * from unnest(${lists}::int[], ${months}::date[]))`
  await tx`
    delete from list_month
    where (list_id, month) in (select * from unnest(${lists}::int[], ${months}::date[]))`
}

interface ListDay {
  listId: number
  day: string
}

/** Removes figures that may depend on removed search results, and marks the keywords that still have results. */
async function removeFigures(tx: Tx, gone: readonly ListDay[]): Promise<void> {
  const [lists, days] = [gone.map(({ listId }) => listId), gone.map(({ day }) => day)]
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

async function removeCharts(tx: Tx, publisher: string): Promise<Removal> {
  const charts = await tx<{ id: number }[]>`
    select distinct chart_id as id
    from chart_results
    where origin = ${publisher}
    order by id`
  const ids = charts.map(({ id }) => id)
  if (ids.length === 0) return { lists: [], apps: [], readings: 0 }
  await lockCharts(tx, ids)
  const apps = await tx<{ id: number }[]>`
    select distinct app_id as id
    from chart_first_seen
    where chart_id = any(${ids}::int[])
    order by id`
  const gone = await tx<ChartDay[]>`
    delete from chart_results
    where chart_id = any(${ids}::int[]) and origin = ${publisher}
    returning chart_id as "chartId", day`
  await deriveCharts(tx, gone)
  await tx`
    delete from chart c
    where id = any(${ids}::int[]) and not exists (select from chart_results where chart_id = c.id)`
  return { lists: [], apps: apps.map(({ id }) => id), readings: gone.length }
}

async function removePopularities(tx: Tx, publisher: string): Promise<Removal> {
  const rows = await tx<{ id: number }[]>`
    select distinct list_id as id
    from keyword_metric
    where metric = 'popularity' and formula = 0 and parts ->> 'origin' = ${publisher}
    order by id`
  const lists = rows.map(({ id }) => id)
  await lockLists(tx, lists)
  const { count } = await tx`
    delete from keyword_metric
    where list_id = any(${lists}::int[]) and metric = 'popularity' and formula = 0
      and parts ->> 'origin' = ${publisher}`
  await deriveKeywordNow(tx, lists)
  return { lists, apps: [], readings: count }
}

async function removeAnswers(tx: Tx, publisher: string): Promise<Removal> {
  const { count } = await tx`
    delete from assistant_answer
    where origin = ${publisher}`
  return { lists: [], apps: [], readings: count }
}

/** Removes the publisher's facts about apps. Dependent figures and estimates become due. */
async function removeShown(tx: Tx, publisher: string, now: Date): Promise<Removal> {
  const counted = await tx<{ app: number; storefront: string }[]>`
    with counts as (
      delete from rating_count
      where origin = ${publisher}
      returning app_id, storefront, day
    ), quarters as (
      delete from rating_quarter
      where origin = ${publisher}
      returning app_id, storefront, quarter + cardinality(days) - 1 as day
    ), gone as (
      select *
      from counts
      union all
      select *
      from quarters
    ), marked as (
      insert into figure_due (kind, platform, storefront, subject)
      select distinct 'app', a.platform, g.storefront, g.app_id::text
      from gone g
      join store_app a on a.id = g.app_id
      where g.day >= ${oldestDay(now)}::date
      order by 2, 3, 4
      on conflict do nothing
    )
    select distinct app_id as app, storefront
    from gone`
  const named = await tx<{ id: number }[]>`
    delete from store_app_name
    where origin = ${publisher}
    returning app_id as id`
  const described = await tx<{ id: number }[]>`
    update store_app
    set developer = null, bundle_id = null, genre = null, genres = null, developer_id = null, developer_site = null,
      seen_at = null, source = null, origin = null
    where origin = ${publisher}
    returning id`
  const changed = [...new Set([...named, ...described].map(({ id }) => id))]
  await deriveAppTexts(tx, changed)
  const rated = counted.map(({ app }) => app)
  await putForwardEstimates(tx, rated)
  return { lists: [], apps: [...changed, ...rated], readings: 0 }
}

async function removeUnused(tx: Tx, { lists, apps }: Subjects): Promise<void> {
  await tx`
    delete from list l
    where l.id = any(${lists as number[]}::int[])
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
    where s.id = any(${apps as number[]}::int[])
      and not exists (select from tracked_app where ios_app = s.id or android_app = s.id)
      and not exists (select from rating_count where app_id = s.id)
      and not exists (select from rating_quarter where app_id = s.id)
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
