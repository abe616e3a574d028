// What test/bench/years.ts reads: worlds of so many apps, each with so many days of history, as measuring leaves them.
import { trackApp } from "../../src/actions/tracking.ts"
import type { Sql } from "../../src/database/types.ts"
import { addDays } from "../../src/formulas/days.ts"
import type { AuditRow } from "../../src/observations/storefront-audits.ts"
import { STOREFRONTS } from "../../src/storefronts.ts"
import { fillFeeds, fillPages } from "./years-pages.ts"
import { benchWorkspace, type Scratch, scratchOn } from "./scratch.ts"

export interface World {
  scratch: Scratch
  workspace: number
  apps: string[]
  /** The rival of each app that stands on most of its keywords, by its store id. */
  rivals: string[]
}

export interface Size {
  apps: number
  /** Of each app. */
  keywords: number
  days: number
}

/** How a world is filled: the number of store apps in it, and its first and last day. */
export interface Filling {
  storeApps: number
  lists: number
  from: string
}

export const TODAY = "2025-11-20"
export const NOW = new Date(`${TODAY}T12:00:00Z`)
/** Places of a keyword's results. */
const DEPTH = 30

export async function worldOf(server: string, { apps: count, keywords, days }: Size): Promise<World> {
  const began = performance.now()
  const scratch = await scratchOn(server)
  const { sql } = scratch
  const workspace = await benchWorkspace(sql)
  const filling = { storeApps: count * 3, lists: count * 2, from: addDays(TODAY, 1 - days) }
  const apps = await timed("tracked", tracked(sql, workspace, { count, keywords, lists: filling.lists }))
  for (let day = filling.from; day <= addDays(TODAY, 28); day = addDays(day, 28))
    await sql`select open_month(${day}::date)`
  await sql.begin(async (tx) => {
    // what is filled in at once here came day by day, and left nothing due
    await tx`set local statement_timeout = 0`
    await tx`set local session_replication_role = replica`
    await tx`set local maintenance_work_mem = '256MB'`
    await tx`set local work_mem = '128MB'`
    const own = tx as unknown as Sql
    await withoutIndexes(own, async () => {
      await timed("ranks", fillRanks(own, filling))
      await timed("rivals", fillRivals(own))
      await timed("metrics", fillMetrics(own, filling))
      await timed("pages", fillPages(own, filling))
      await timed("feeds", fillFeeds(own, workspace, filling))
      await timed("audits", fillAudits(own, days > 31))
    })
  })
  await timed("analysed", analysed(sql))
  const followed = await sql<{ app: string; rival: string }[]>`
    select distinct on (r.app_id) r.app_id as app, s.store_id as rival
    from app_rival r
    join store_app s on s.id = r.rival
    order by r.app_id, r.terms desc, r.rival`
  const rivalOf = new Map(followed.map(({ app, rival }) => [app, rival]))
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  console.log(`${days} days of ${count} apps were filled in within ${seconds} s`)
  return { scratch, workspace, apps, rivals: apps.map((app) => rivalOf.get(app)!) }
}

async function timed<T>(name: string, work: Promise<T>): Promise<T> {
  const t = performance.now()
  const r = await work
  console.log("  ", name, ((performance.now() - t) / 1000).toFixed(1))
  return r
}

/** In one transaction: one for each app waited a thousand times for the disk. */
async function tracked(sql: Sql, workspaceId: number, size: { count: number; keywords: number; lists: number }) {
  return await sql.begin(async (tx) => {
    const apps: string[] = []
    for (let app = 0; app < size.count; app++) {
      const keywords = Array.from({ length: size.keywords }, (_, i) => `keyword ${(app * 7 + i * 13) % size.lists}`)
      const iosId = String(1_000_000_000 + app)
      apps.push(await trackApp(tx, { workspaceId, iosId, countries: ["us"], keywords, origin: "own" }))
    }
    return apps
  })
}

/** Tables that most rows go to; an index made over all of them at once takes a fraction of the time. */
const LARGE = process.env.NOIDX ? ["nothing"] : ["alert", "keyword_metric", "market_fact", "rating_count", "review_version"]

async function withoutIndexes(tx: Sql, fill: () => Promise<void>): Promise<void> {
  const constraints = await tx<{ table: string; name: string; made: string }[]>`
    select c.conrelid::regclass::text as table, c.conname as name, pg_get_constraintdef(c.oid) as made
    from pg_constraint c
    where c.conrelid::regclass::text = any(${LARGE}) and c.contype in ('p', 'u')
      and not exists (select from pg_constraint f where f.contype = 'f' and f.conindid = c.conindid)
    order by c.conname`
  const indexes = await tx<{ name: string; made: string }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as made
    from pg_index
    where indrelid::regclass::text = any(${LARGE})
      and not exists (select from pg_constraint where conindid = indexrelid)
    order by indexrelid`
  for (const { table, name } of constraints) await tx`alter table ${tx(table)} drop constraint ${tx(name)}`
  for (const { name } of indexes) await tx`drop index ${tx(name)}`
  await fill()
  await timed("indexes", (async () => {
  for (const { table, name, made } of constraints)
    await tx.unsafe(`alter table "${table}" add constraint "${name}" ${made}`)
  for (const { made } of indexes) await tx.unsafe(made)
  })())
}

/** A year of 1,000 apps takes longer to analyse than a request's statement may. */
async function analysed(sql: Sql): Promise<void> {
  const one = await sql.reserve()
  await one`set statement_timeout = 0`
  await one`vacuum analyze`
  await one`reset statement_timeout`
  one.release()
}

/** What stands behind ranks: results, and the bytes that follow from them. */
async function fillRanks(sql: Sql, { storeApps, lists, from }: Filling): Promise<void> {
  // none of those that are tracked, which would use up ids: results name apps by ids from 1 on without a gap
  await sql`
    insert into store_app (platform, store_id)
    select 'ios', (1000000000 + g)::text
    from generate_series(${storeApps / 3}::int, ${storeApps - 1}::int) g`
  await sql`insert into list (platform, storefront, term) select 'ios', 'us', 'keyword ' || g from generate_series(0, ${lists - 1}::int) g on conflict do nothing`
  await sql`update list set first_day = ${from}, last_day = ${TODAY}`
  // the same three answers in turn: an array made for each day took most of the time
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
    select a.ios_app, l.id, m, decode(repeat(lpad(to_hex(1 + (l.id + extract(month from m)::int) % 30), 2, '0'), 31), 'hex')
    from tracked_app a
    join tracked_term t on t.app_id = a.id
    join list l on l.platform = 'ios' and l.storefront = 'us' and l.term = t.term
    cross join generate_series(date_trunc('month', ${from}::date), ${TODAY}::date, '1 month') m
    on conflict (app_id, list_id, month) do update set ranks = excluded.ranks`
}

/**
 * Rivals are those that stand on most of today's lists, as src/alerts/follow-rivals.ts has them. Apps are named for some
 * keywords that they stand on, so that plans find what words in a name are worth.
 */
async function fillRivals(sql: Sql): Promise<void> {
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
    update store_app s
    set name = 'App ' || s.store_id || coalesce(' for keyword ' || k.numbers, ''), genre = '6007',
      developer_id = '9' || s.store_id, developer_site = 'https://example.com', seen_at = ${NOW}, source = 'itunes-lookup',
      origin = 'own'
    from store_app o
    left join (
      select u.app_id, string_agg(split_part(l.term, ' ', 2), ' ' order by l.id) filter (where u.place <= 10) as numbers
      from (
        select r.list_id, u.app_id, row_number() over (partition by u.app_id order by r.list_id) as place
        from search_results r
        cross join unnest(r.app_ids) u (app_id)
        where r.day = ${TODAY}
      ) u
      join list l on l.id = u.list_id
      group by u.app_id
    ) k on k.app_id = o.id
    where s.id = o.id`
  // read every day, as what is tracked is, for somebody opened its page
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

/** Three figures follow from results, each day; one from hints, each week; one is published, each month. */
async function fillMetrics(sql: Sql, { from }: Filling): Promise<void> {
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
    cross join generate_series(date_trunc('month', ${from}::date) - interval '1 month', ${TODAY}::date - 45, '1 month') m
    where l.id % 2 = 0`
}

/** A scan of each app that is young, by the database's own clock; and with a history one that a month ago was. */
async function fillAudits(sql: Sql, withEarlier: boolean): Promise<void> {
  const rows = STOREFRONTS.map(auditRow)
  await sql`
    insert into storefront_audit (app_id, started_at, storefronts, class, finished_at, failed, rows)
    select ios_app, at, ${STOREFRONTS as string[]}::text[], 1, at + interval '5 minutes', false, ${sql.json(rows as never)}
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
