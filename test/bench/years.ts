// DATABASE_URL=postgres://… bun test/bench/years.ts — every read of an app, as called with nothing but its id, with a week
// and with a year of history stored for 1,000 apps, in turns: how many times longer the year takes, and where a statement of
// it reads a table from end to end. APPS, KEYWORDS and ROUNDS make it smaller.
import type { Caller } from "../../src/access/caller.ts"
import { catalog } from "../../src/catalog.ts"
import type { Sql } from "../../src/database/types.ts"
import { Fault } from "../../src/faults.ts"
import { addDays } from "../../src/formulas/days.ts"
import type { Context, Operation } from "../../src/operation.ts"
import { ask, contextOf } from "../observations/measured.ts"
import { median } from "./load.ts"
import { benchWorkspace, type Scratch, scratchOn, track } from "./scratch.ts"

const APPS = Number(process.env.APPS ?? 1_000)
const KEYWORDS = Number(process.env.KEYWORDS ?? 20)
const ROUNDS = Number(process.env.ROUNDS ?? 30)
const LISTS = APPS * 2
const DEPTH = 30
const TODAY = "2025-11-20"
const NOW = new Date(`${TODAY}T12:00:00Z`)

const server = process.env.DATABASE_URL
if (!server) throw new Error("set DATABASE_URL: this is about PostgreSQL")

interface World {
  scratch: Scratch
  workspace: number
  apps: string[]
  /** A rival of each app, by its store id. */
  rivals: string[]
}

/** No storefront was scanned in this world. */
const NOTHING_HELD = ["get_storefront_audit"]

const [week, year] = [await worldOf(7), await worldOf(365)]
let slow = 0
for (const operation of catalog.filter(isReadOfApp)) {
  const ratio = await compare(operation)
  if (ratio > 3) slow++
}
await tableScans(year)
await week.scratch.remove()
await year.scratch.remove()
process.exit(slow > 0 ? 1 : 0)

function isReadOfApp({ id, method, group, path }: Operation): boolean {
  return (
    method === "GET" &&
    !NOTHING_HELD.includes(id) &&
    (group === "Your apps" || group === "Account") &&
    !path.includes(":jobId")
  )
}

async function compare(operation: Operation): Promise<number> {
  const times: [number, number][] = []
  for (let round = -3; round < ROUNDS; round++) {
    const at = (round + 3) % 10
    const first = round % 2 === 0
    const [a, b] = first
      ? [await took(week, operation, at), await took(year, operation, at)]
      : [await took(year, operation, at), await took(week, operation, at)]
    if (a === null || b === null) return 0
    if (round >= 0) times.push(first ? [a, b] : [b, a])
  }
  const [short, long] = [median(times.map(([ms]) => ms)), median(times.map(([, ms]) => ms))]
  const ratio = long / short
  console.log(
    `${operation.id.padEnd(26)} ${short.toFixed(2).padStart(8)} ms  ${long.toFixed(2).padStart(8)} ms  ${ratio.toFixed(2).padStart(5)}`,
  )
  return ratio
}

/** Null where the world has nothing to answer with. */
async function took(world: World, operation: Operation, at: number): Promise<number | null> {
  const input = inputOf(operation, world.apps[at] as string, world.rivals[at] as string)
  const began = performance.now()
  try {
    await ask(operation, contextIn(world), input)
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
  return performance.now() - began
}

function inputOf({ id, input }: Operation, appId: string, rivalId: string): Record<string, unknown> {
  if (id === "search") return { q: "app" }
  if (id === "fetch") return { id: `app:${appId}` }
  return {
    ...(Object.hasOwn(input.entries, "appId") && { appId }),
    ...(Object.hasOwn(input.entries, "rivalId") && { rivalId }),
  }
}

function contextIn({ scratch, workspace }: World): Context {
  const ctx = contextOf(scratch.sql, workspace, NOW)
  const caller = {
    ...ctx.caller,
    kind: "live",
    explorer: false,
    scopes: ["apps:read", "reviews:read", "revenue:read"],
  } as unknown as Caller
  return { ...ctx, caller }
}

async function worldOf(days: number): Promise<World> {
  const scratch = await scratchOn(server)
  const { sql } = scratch
  const workspace = await benchWorkspace(sql)
  const apps: string[] = []
  for (let app = 0; app < APPS; app++) {
    const keywords = Array.from({ length: KEYWORDS }, (_, i) => `keyword ${(app * 7 + i * 13) % LISTS}`)
    apps.push(await track(sql, workspace, String(1_000_000_000 + app), keywords))
  }
  const from = addDays(TODAY, 1 - days)
  for (let day = from; day <= addDays(TODAY, 28); day = addDays(day, 28)) await sql`select open_month(${day}::date)`
  await sql.begin(async (tx) => {
    // what is filled in at once here came day by day, and left nothing due
    await tx`set local statement_timeout = 0`
    await tx`set local session_replication_role = replica`
    const own = tx as unknown as Sql
    await fillRanks(own, from)
    await fillStores(own, from)
    await fillFeeds(own, workspace, from)
  })
  await analysed(sql)
  const followed = await sql<{ app: string; rival: string }[]>`
    select distinct on (r.app_id) r.app_id as app, s.store_id as rival
    from app_rival r
    join store_app s on s.id = r.rival
    order by r.app_id, r.terms desc`
  const rivalOf = new Map(followed.map(({ app, rival }) => [app, rival]))
  return { scratch, workspace, apps, rivals: apps.map((app) => rivalOf.get(app) ?? "") }
}

/** A year of 1,000 apps takes longer to analyse than a request's statement may. */
async function analysed(sql: Sql): Promise<void> {
  const one = await sql.reserve()
  await one`set statement_timeout = 0`
  await one`vacuum analyze`
  await one`reset statement_timeout`
  one.release()
}

/** What stands behind ranks: results, the bytes that follow from them, and what was reckoned of keywords. */
async function fillRanks(sql: Sql, from: string): Promise<void> {
  await sql`insert into store_app (platform, store_id, name) select 'ios', (1000000000 + g)::text, 'App ' || g from generate_series(${APPS}::int, ${APPS * 3}::int) g on conflict do nothing`
  await sql`update store_app set name = 'App ' || store_id, genre = '6007', developer_id = '9' || store_id, seen_at = ${NOW}, source = 'itunes-lookup', origin = 'own'`
  await sql`insert into list (platform, storefront, term) select 'ios', 'us', 'keyword ' || g from generate_series(0, ${LISTS - 1}::int) g on conflict do nothing`
  await sql`update list set first_day = ${from}, last_day = ${TODAY}`
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select l.id, d, 10, d + interval '3 hours', ${DEPTH}, true, 1, 'own', sha256('x'),
      array(select distinct 1 + (l.id * 31 + g * 17 + extract(day from d)::int % 3) % ${APPS * 3}::int from generate_series(1, ${DEPTH}::int) g)
    from list l
    cross join generate_series(${from}::date, ${TODAY}::date, '1 day') d`
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

/** What stores say of apps: ratings, pages and what changed on them, charts. */
async function fillStores(sql: Sql, from: string): Promise<void> {
  await sql`
    insert into rating_count (app_id, storefront, day, source, seen_at, origin, ratings, rating)
    select a.ios_app, 'us', d, 'itunes-lookup', d + interval '2 hours', 'own', 1000 + extract(doy from d)::int, 4.5
    from tracked_app a
    cross join generate_series(${from}::date, ${TODAY}::date, '1 day') d`
  await sql`
    insert into listing_content (app_id, storefront, source, section, digest, content)
    select ios_app, 'us', 'apple-app-page', s, substr(sha256(s::bytea), 1, 16),
      case s when 'page' then '{"name":"App","version":"1.0","languages":["English"]}'::jsonb else '["1000000001"]'::jsonb end
    from tracked_app
    cross join (values ('page'), ('similar')) s (s)`
  await sql`
    insert into listing_run (app_id, storefront, source, section, first_seen_at, seen_at, moments, sha256s, digest, parser, origin)
    select c.app_id, c.storefront, c.source, c.section, d, d + interval '6 days', array[d, d + interval '6 days'],
      array[sha256('x'), sha256('x')], c.digest, 1, 'own'
    from listing_content c
    cross join generate_series(${from}::timestamptz, ${TODAY}::timestamptz, '7 days') d`
  await sql`
    insert into listing_change (app_id, at, storefront, source, kind, subject, before, after, before_seen_at, origin)
    select ios_app, d + interval '7 hours', 'us', 'apple-app-page', 'version', '', '"1.0"', '"1.1"', d, 'own'
    from tracked_app
    cross join generate_series(${from}::timestamptz, ${TODAY}::timestamptz, '7 days') d`
  await sql`
    insert into chart (platform, storefront, device, chart, genre, first_day, last_day)
    select 'ios', 'us', device, chart, genre, ${from}, ${TODAY}
    from (values ('iphone'), ('ipad')) d (device), (values ('free'), ('paid'), ('grossing')) c (chart), (values ('36'), ('6007')) g (genre)`
  await sql`
    insert into chart_results (chart_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select c.id, d, 10, d + interval '4 hours', 200, true, 1, 'own', sha256('x'),
      array(select 1 + (g + c.id + extract(day from d)::int) % ${APPS * 3}::int from generate_series(1, 200) g)
    from chart c
    cross join generate_series(${from}::date, ${TODAY}::date, '1 day') d`
  await sql`
    insert into chart_place (app_id, chart_id, rank, day)
    select app_id, chart_id, rank, day
    from chart_results
    cross join unnest(app_ids) with ordinality u (app_id, rank)
    where day = ${TODAY}
    on conflict do nothing`
}

/** Reviews, the feed of alerts, and rivals. */
async function fillFeeds(sql: Sql, workspace: number, from: string): Promise<void> {
  await sql`
    insert into review_version (
      app_id, feed, review_id, digest, current, stars, title, text, version, at, first_seen_at, seen_at, source, parser,
      origin, sha256
    )
    select ios_app, 'us', 'r' || to_char(d, 'YYYYMMDDHH24'), substr(sha256('x'), 1, 16), true, 1 + extract(day from d)::int % 5,
      'A title', 'What somebody wrote of an app at some length, as people do.', '1.' || extract(month from d), d, d, d,
      'apple-reviews', 1, 'own', sha256('x')
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
  await sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms, day)
    select a.id, 'ios', 'us', 1 + (a.ios_app + g * 7) % ${APPS * 3}::int, false, g, ${TODAY}
    from tracked_app a
    cross join generate_series(1, 10) g
    on conflict do nothing`
}

/** Large tables that the year's reads went through from end to end. */
async function tableScans({ scratch: { sql } }: World): Promise<void> {
  const rows = await sql<{ name: string; scans: number; rows: number }[]>`
    select relname as name, seq_scan as scans, n_live_tup as rows
    from pg_stat_user_tables
    where seq_scan > ${ROUNDS}::int and n_live_tup > 10000
    order by relname
    limit 100`
  for (const { name, scans, rows: held } of rows) console.log(`${name} (${held} rows) was read whole ${scans} times`)
}
