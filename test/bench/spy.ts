// bun test/bench/spy.ts — how spy, gap and get_rival grow with the keywords of a storefront (results 200 deep), for an
// ordinary app, a popular one and one in nearly every list: whole answers, and how much their time grew for how many times
// as many keywords found. Also the cost of the index of apps: bytes a list, and the time to record another day with it and
// without. Fails if an answer about ordinary apps takes more than 100 ms, or if the time grows faster than the keywords
// found. LISTS=1000,10000,100000 for other sizes. With DATABASE_URL on that server, else embedded.
import * as v from "valibot"
import type { Sql } from "../../src/database/types.ts"
import { record } from "../../src/observations/record.ts"
import type { Operation } from "../../src/operation.ts"
import { hiveGetKeywordGap } from "../../src/operations/hive/gap.ts"
import { hiveSpyApp } from "../../src/operations/hive/spy.ts"
import { getRival } from "../../src/operations/rivals/get-rival.ts"
import { freshDatabase } from "../database.ts"
import { ask, contextOf, NOW, nameAll, newWorkspace, reading } from "../observations/measured.ts"
import { median } from "./load.ts"
import { processorClock } from "./processor.ts"

const SIZES = (process.env.LISTS ?? "1000,10000").split(",").map(Number)
const ROUNDS = Number(process.env.ROUNDS ?? 10)
/** Calls before the first that counts. */
const WARM = 6
const MAX_ORDINARY_MS = 100
/** How much faster than the keywords found the time may grow; more than 1, as the machine is not alone. */
const MAX_GROWTH = 1.5
const WORLD = 50_000
const TRACKED = 200
const RECORDED = Number(process.env.RECORDED ?? 300)
const EVERYWHERE = 1
const POPULAR = [100, 200, 300, 400, 500]
const ORDINARY = [5_000, 5_200, 5_300, 5_400, 5_500]

interface Answered {
  ms: number
  processorMs: number
  found: number
}

const sql = await freshDatabase()
await makeWorld(sql)
const workspaceId = await newWorkspace(sql)
const ctx = contextOf(sql, workspaceId)
await sql`
  insert into tracked_app (id, workspace_id, ios_app, countries)
  select 'own', ${workspaceId}, id, '{us}'
  from store_app
  where store_id = '100000001'`
const questions: Record<string, (round: number) => Promise<number>> = {
  "spy, an ordinary app": (round) => totalOf(hiveSpyApp, { id: idOf(ORDINARY[0]! + round) }),
  "spy, a popular app": (round) => totalOf(hiveSpyApp, { id: idOf(POPULAR[0]! + round) }),
  "spy, an app in nearly every list": () => totalOf(hiveSpyApp, { id: idOf(EVERYWHERE) }),
  "gap of five ordinary apps": (round) => totalOf(hiveGetKeywordGap, { ids: idsOf(ORDINARY, round) }),
  "gap of five popular apps": (round) => totalOf(hiveGetKeywordGap, { ids: idsOf(POPULAR, round) }),
  "get_rival, a popular app": async (round) =>
    (await ask(getRival, ctx, { appId: "own", rivalId: idOf(POPULAR[0]! + round) })).total,
}
const answers = new Map<string, Answered[]>(Object.keys(questions).map((question) => [question, []]))
let lists = 0
for (const until of SIZES) {
  for (; lists < until; lists += 1_000) await addLists(sql, lists, 1_000)
  await sql`analyze`
  for (const [question, call] of Object.entries(questions)) answers.get(question)!.push(await timeOf(call))
}

let isMissed = false
console.log(`keywords of the storefront: ${SIZES.join(", ")}`)
for (const [question, measured] of answers) {
  const [first, last] = [measured[0]!, measured.at(-1)!]
  const growth = last.processorMs / first.processorMs
  const found = Math.max(1, last.found / first.found)
  const isSlow = question.includes("ordinary") && last.ms > MAX_ORDINARY_MS
  isMissed ||= isSlow || growth > MAX_GROWTH * found
  const shown = measured.map(({ ms, processorMs, found }) => `${found} in ${ms.toFixed(1)} (${processorMs.toFixed(1)})`)
  const grown = `${growth.toFixed(2)} times for ${found.toFixed(1)} times the keywords`
  console.log(`${question}: keywords in ms (of processors) ${shown.join(", ")}; ${grown}`)
}
const [size] = await sql<[{ index: number; rows: number }]>`
  select pg_relation_size('list_now_apps')::int as index, pg_table_size('list_now')::int as rows`
console.log(`the index ${Math.round(size.index / lists)} bytes a list, the rows ${Math.round(size.rows / lists)}`)
const before = await recorded("2025-11-20")
await sql`drop index list_now_apps`
const without = await recorded("2025-11-21")
await sql`create index list_now_apps on list_now using gin (app_ids)`
const ratio = (before + (await recorded("2025-11-22"))) / 2 / without
console.log(
  `a list of another day recorded: ${without.toFixed(2)} ms without the index, ${ratio.toFixed(2)} times with it`,
)
process.exit(isMissed ? 1 : 0)

function idOf(app: number): string {
  return String(100_000_000 + app)
}

/** Neighbouring ids rank as often, and no round asks for the apps of another. */
function idsOf(apps: readonly number[], round: number): string[] {
  return apps.map((app) => idOf(app + round))
}

/** Makes the whole answer and its JSON, without the checks and the charge of a call. */
async function totalOf(operation: Operation, input: object): Promise<number> {
  const answer = await operation.run(v.parse(operation.input, input) as Record<string, unknown>, ctx)
  return JSON.parse(JSON.stringify(answer)).total
}

async function timeOf(call: (round: number) => Promise<number>): Promise<Answered> {
  for (let i = 0; i < WARM; i++) await call(ROUNDS + i)
  const processorTime = await processorClock(sql, process.env.DATABASE_URL)
  const times: number[] = []
  const processors: number[] = []
  let found = 0
  for (let i = 0; i < ROUNDS; i++) {
    const before = processorTime()
    const started = performance.now()
    found = await call(i)
    times.push(performance.now() - started)
    const after = processorTime()
    processors.push(after.own - before.own + after.database - before.database)
  }
  return { ms: median(times), processorMs: median(processors), found }
}

/** Records another day of lists, with one of twenty apps replaced and neighbours swapped: ms a list. */
async function recorded(day: string): Promise<number> {
  const rows = await sql<{ term: string; ids: string[] }[]>`
    select l.term, (
      select array_agg(s.store_id order by u.at)
      from (
        select case when random() < 0.05 then 1 + floor(${WORLD}::int * power(random(), 3))::int else app end as app,
          place + 2 * random() as at
        from unnest(n.app_ids) with ordinality a (app, place)
        offset 0
      ) u
      join store_app s on s.id = u.app
    ) as ids
    from list_now n
    join list l on l.id = n.list_id
    order by n.list_id
    limit ${RECORDED}`
  const seen = rows.map(({ term, ids }) => reading(term, `${day}T10:00:00Z`, [...new Set(ids)], { depth: 200 }))
  const started = performance.now()
  // one by one, like a worker
  for (const one of seen) await record(sql, [one], () => new Date("2025-11-23T00:00:00Z"))
  return (performance.now() - started) / seen.length
}

/** Apps; those with low ids rank most often. */
async function makeWorld(sql: Sql): Promise<void> {
  for (const month of ["2025-10-01", "2025-11-01"]) await sql`select open_month(${month})`
  await sql`
    insert into store_app (platform, store_id, seen_at, source, origin)
    select 'ios', (100000000 + i)::text, now(), 'import', 'own'
    from generate_series(1, ${WORLD}::int) i`
  await nameAll(sql, sql`'App ' || id`)
}

async function addLists(sql: Sql, from: number, count: number): Promise<void> {
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', 'us', 'word ' || md5(i::text), '2025-11-19', '2025-11-19'
    from generate_series(${from + 1}::int, ${from + count}::int) i`
  if (from === 0)
    await sql`
      insert into tracked_term (app_id, country, term, position)
      select 'own', 'us', term, id
      from list
      order by id
      limit ${TRACKED}`
  await sql`
    with answer as (
      insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
      select l.id, '2025-11-19', 10, ${NOW}::timestamptz - interval '1 day', 200, true, 1, 'own', sha256('x'), r.ids
      from (select id from list order by id desc limit ${count}) l
      cross join lateral (
        select array_agg(app order by place) as ids
        from (
          select distinct on (app) app, place
          from (
            select 1 + floor(${WORLD}::int * power(random(), 3))::int as app, place
            from generate_series(1, 200) place
            where l.id > 0
          ) p
          order by app, place
        ) p
      ) r
      returning *
    )
    insert into list_now (
      list_id, day, source, depth, seen_at, platform, storefront, term, popularity, popular_until, app_ids
    )
    select a.list_id, a.day, a.source, a.depth, a.seen_at, l.platform, l.storefront, l.term,
      case when l.id % 2 = 0 then 1 + l.id % 60 end, case when l.id % 2 = 0 then date '2026-02-17' end, a.app_ids
    from answer a
    join list l on l.id = a.list_id`
  await sql`
    insert into keyword_now (list_id, estimate, estimate_day, estimate_at)
    select id, 1 + id % 60, '2025-11-19', ${NOW}
    from list
    where id > (select max(id) from list) - ${count}::int and id % 2 = 0`
}
