// bun test/bench/now.ts [KEYWORDS] — the read of the latest rank of every keyword of an app (200, with two months of days),
// against the same rows of list_now and keyword_now fetched by primary key in the same run. Fails if it takes over 8 times as
// long. On the embedded database; with DATABASE_URL on that server.
import type { Sql } from "../../src/database/types.ts"
import { readKeywordsNow } from "../../src/history/ranks.ts"
import { deriveKeywordNow, deriveListNow, rebuildNow } from "../../src/observations/derived/now.ts"
import { listKeywordRanks } from "../../src/operations/keywords/keywords.ts"
import { findApp } from "../../src/tracking/tracked-app.ts"
import { freshDatabase } from "../database.ts"
import { ask, contextOf, NOW, newWorkspace } from "../observations/measured.ts"
import { median } from "./load.ts"

const KEYWORDS = Number(process.argv[2] ?? 200)
const ROUNDS = 60
const DAYS = 60
const WORLD = 20_000
const MOST = 8
const TODAY = "2025-11-20"
const SIDE = { platform: "ios", storefront: "us" } as const

const sql = await freshDatabase()
const ctx = contextOf(sql, await makeWorld(sql))
const app = await findApp(sql, ctx.caller, "own", undefined)
const terms = await sql<{ id: number }[]>`
  select l.id
  from tracked_term k
  join list l on l.term = k.term
  order by k.position`
const ids = terms.map(({ id }) => id)

const byKey = await took("list_now and keyword_now by primary key", async () => {
  await sql`
    select list_id, day, source, depth, seen_at, app_ids[1] as first
    from list_now
    where list_id = any(${ids}::int[])`
  await sql`select * from keyword_now where list_id = any(${ids}::int[])`
})
const joined = await took("ranks, figures and scheduled readings", () => readKeywordsNow(sql, app, SIDE))
await took("list_keyword_ranks", () => ask(listKeywordRanks, ctx, { appId: "own" }))
await took("deriving 50 lists, unchanged", () => sql.begin((tx) => deriveListNow(tx, ids.slice(0, 50))))
await took("deriving 50 keywords' figures, unchanged", () => sql.begin((tx) => deriveKeywordNow(tx, ids.slice(0, 50))))
const ratio = joined / byKey
console.log(`${KEYWORDS} keywords: ${ratio.toFixed(1)} times their rows by primary key`)
process.exit(ratio <= MOST ? 0 : 1)

async function took(what: string, call: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < 10; i++) await call()
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const started = performance.now()
    await call()
    times.push(performance.now() - started)
  }
  console.log(`${what}: ${median(times).toFixed(2)} ms`)
  return median(times)
}

/** One app that tracks the first of ten times as many keywords, each with a reading and figures a day. */
async function makeWorld(sql: Sql): Promise<number> {
  const workspaceId = await newWorkspace(sql)
  for (const month of ["2025-09-01", "2025-10-01", "2025-11-01"]) await sql`select open_month(${month})`
  await sql`
    insert into store_app (platform, store_id, seen_at, source, origin)
    select 'ios', (100000000 + i)::text, now(), 'import', 'own'
    from generate_series(1, ${WORLD}::int) i`
  await sql`
    insert into tracked_app (id, workspace_id, ios_app, countries)
    select 'own', ${workspaceId}, id, '{us}'
    from store_app
    where store_id = '100000001'`
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', 'us', 'word ' || md5(i::text), ${TODAY}::date - ${DAYS - 1}::int, ${TODAY}
    from generate_series(1, ${10 * KEYWORDS}::int) i`
  await sql`
    insert into tracked_term (app_id, country, term, position)
    select 'own', 'us', term, id
    from list
    order by id
    limit ${KEYWORDS}`
  for (let ago = 0; ago < DAYS; ago++) await addDay(sql, ago)
  await rebuildNow(sql, async () => {})
  await sql`analyze`
  return workspaceId
}

async function addDay(sql: Sql, ago: number): Promise<void> {
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select l.id, ${TODAY}::date - ${ago}::int, 10, ${NOW}::timestamptz - ${ago}::int * interval '1 day', 200, true, 1, 'own',
      sha256('x'), r.ids
    from (select id from list order by id limit ${2 * KEYWORDS}) l
    cross join lateral (
      select array_agg(1 + floor(${WORLD}::int * power(random(), 3))::int) as ids
      from generate_series(1, 200)
      where l.id > 0
    ) r`
  await sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    select l.id, m.metric, ${TODAY}::date - ${ago}::int, m.source, ${NOW}::timestamptz - ${ago}::int * interval '1 day', 50, 3, '{}'
    from (select id from list order by id limit ${2 * KEYWORDS}) l
    cross join (
      values ('demand', 'calculated'), ('difficulty', 'calculated'), ('hints', 'calculated'), ('popularity', 'estimate')
    ) m (metric, source)`
}
