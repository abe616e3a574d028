// bun test/bench/search.ts — search and fetch in workspaces of 10 apps with 200 and with 2,000 keywords each, all results
// 200 deep, as ratios to list_keyword_ranks of one of the apps (200 keywords) in the same run. With DATABASE_URL on that
// server, else on the embedded database.
import type { Sql } from "../../src/database/types.ts"
import { rebuildNow } from "../../src/observations/derived/now.ts"
import type { Context } from "../../src/operation.ts"
import { fetchRecord } from "../../src/operations/account/fetch-record.ts"
import { search } from "../../src/operations/account/search.ts"
import { listKeywordRanks } from "../../src/operations/keywords/keywords.ts"
import { freshDatabase } from "../database.ts"
import { ask, contextOf, NOW, nameAll, newWorkspace } from "../observations/measured.ts"
import { median } from "./load.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 15)
const WORLD = 50_000
const APPS = 10
const DAY = "2025-11-19"

const sql = await freshDatabase()
await makeWorld(sql)
const small = await makeWorkspace(sql, "small", 200)
const large = await makeWorkspace(sql, "large", 2_000)
await rebuildNow(sql, async () => {})
await sql`analyze`

const base = await took(() => ask(listKeywordRanks, small, { appId: "small1" }))
console.log(`list_keyword_ranks, 200 keywords: ${base.toFixed(1)} ms`)
for (const [what, ctx] of [
  ["10 x 200", small],
  ["10 x 2,000", large],
] as const) {
  const name = what === "10 x 200" ? "small" : "large"
  for (const q of ["photo editor", "zebra", "a", "über", "日本", "https://apps.apple.com/us/app/id100000007"]) {
    await show(`${what}, search ${q}`, () => ask(search, ctx, { q }))
  }
  const { results } = await ask(search, ctx, { q: "name" })
  const rival = results.find(({ kind }: { kind: string }) => kind === "rival").id
  for (const id of [`app:${name}1`, `kw:${name}1:us:word%207%20${name}1`, rival]) {
    await show(`${what}, fetch ${id}`, () => ask(fetchRecord, ctx, { id }))
  }
}
process.exit(0)

async function show(what: string, call: () => Promise<unknown>): Promise<void> {
  const ms = await took(call)
  console.log(`${what}: ${ms.toFixed(1)} ms, ${(ms / base).toFixed(1)} of list_keyword_ranks`)
}

async function took(call: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < 3; i++) await call()
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const started = performance.now()
    await call()
    times.push(performance.now() - started)
  }
  return median(times)
}

/** Apps of which the low ids rank most often. */
async function makeWorld(sql: Sql): Promise<void> {
  await sql`select open_month(${DAY})`
  await sql`
    insert into store_app (platform, store_id, seen_at, source, origin)
    select 'ios', (100000000 + i)::text, now(), 'import', 'own'
    from generate_series(1, ${WORLD}::int) i`
  await nameAll(
    sql,
    sql`(array['Photo','Über','Tiny','Daily','日本'])[1 + id % 5] || ' ' || (array['Editor','Zoo','Diary'])[1 + id % 3] || ' name ' || id`,
  )
}

async function makeWorkspace(sql: Sql, name: string, terms: number): Promise<Context> {
  const workspaceId = await newWorkspace(sql)
  await sql`
    insert into tracked_app (id, workspace_id, ios_app, countries, created_at)
    select ${name} || i, ${workspaceId}, a.id, '{us}', now() + i * interval '1 second'
    from generate_series(1, ${APPS}::int) i
    join store_app a on a.store_id = (100000000 + i)::text`
  await sql`
    insert into tracked_term (app_id, country, term, position)
    select ${name} || i, 'us', 'word ' || t || ' ' || ${name} || i, t
    from generate_series(1, ${APPS}::int) i
    cross join generate_series(1, ${terms}::int) t`
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', 'us', term, ${DAY}, ${DAY}
    from tracked_term
    where app_id like ${`${name}%`}`
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select l.id, ${DAY}, 40, ${NOW}, 200, true, 1, 'own', '\\x00', r.ids
    from list l
    cross join lateral (
      select array_agg(1 + floor(${WORLD}::int * power(random(), 3))::int) as ids
      from generate_series(1, 200)
      where l.id > 0
    ) r
    where l.term like ${`%${name}%`}`
  return contextOf(sql, workspaceId)
}
