// bun test/bench/spy.ts — the keywords of an app, and of five, and those that share apps with one, among 1,000, 5,000 and 20,000 keywords of a storefront whose results
// are 200 deep: of apps that rank often and of ordinary ones, of whom nobody asked before, in a process that was asked of others and
// has read ahead what is shown of keywords, asked again, and by a process that keeps
// nothing of the storefront, as the first call of all is, which looks by the index of apps in what stands now or walks all of it; and
// what the index costs: bytes a list, and the time of recording another day of 1,000 lists with it and without. Fails where of apps
// of whom nobody asked before spy takes more than 50 ms, or the gap of five more than 15.
// With DATABASE_URL on that server, else embedded.
import * as v from "valibot"
import type { Sql } from "../../src/database/types.ts"
import { findNeighbours } from "../../src/history/searches/neighbours.ts"
import { record } from "../../src/observations/record.ts"
import type { Context, Operation } from "../../src/operation.ts"
import { hiveGetKeywordGap } from "../../src/operations/hive/gap.ts"
import { hiveSpyApp } from "../../src/operations/hive/spy.ts"
import { getRival } from "../../src/operations/rivals/get-rival.ts"
import { WrittenAnswer } from "../../src/vocabulary/prepared.ts"
import { freshDatabase } from "../database.ts"
import { ask, contextOf, NOW, nameAll, newWorkspace, reading } from "../observations/measured.ts"
import { median } from "./load.ts"
import { processorClock } from "./processor.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 10)
/** Calls before: a server is warm. */
const WARM = 10
const AHEAD_MS = 3_000
/** In which a statement ends that was sent before. */
const STATEMENT_MS = 30
const WORLD = 50_000
const TRACKED = 200
const RECORDED = Number(process.env.RECORDED ?? 1_000)
const OFTEN = [100, 200, 300, 400, 500]
const ORDINARY = [5_000, 5_200, 5_300, 5_400, 5_500]
/** Beside those of the gap. */
const SPIED = 130
/** Of whom others have asked. */
const OTHERS = [150, 250, 350, 450, 550]
/** Among the most lists, of apps of whom nobody asked before. */
const MOST_MS: Record<string, number> = {
  "spy, an app that ranks often": 50,
  "spy, an ordinary app": 50,
  "gap of five that rank often": 15,
  "gap of five ordinary apps": 15,
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
let lists = 0
let asNew: Answers = {}
let handles = 0
for (const until of [1_000, 5_000, 20_000]) {
  for (; lists < until; lists += 1_000) await addLists(sql, lists, 1_000)
  await sql`analyze`
  const latest = await answered(() => ctx)
  const asked = await askedOfOthers()
  asNew = await answered(() => asked, { areNew: true })
  const first = await answered(withoutKept)
  const walk = await withoutIndex(() => answered(withoutKept))
  for (const [question, { found }] of Object.entries(latest)) {
    const [again, once, start] = [latest, asNew, first].map((answers) => told(answers[question]!))
    console.log(
      `${lists} lists: ${question}, ${found} keywords: ${once}; asked again ${again}; the first call of all ${start}, by a walk ${walk[question]!.ms.toFixed(1)} ms`,
    )
  }
}
const [size] = await sql<[{ index: number; rows: number }]>`
  select pg_relation_size('list_now_apps')::int as index, pg_table_size('list_now')::int as rows`
console.log(
  `the index ${Math.round(size.index / lists)} bytes a list, the lists themselves ${Math.round(size.rows / lists)}`,
)
const days = [
  await recorded("2025-11-20"),
  await withoutIndex(() => recorded("2025-11-21")),
  await recorded("2025-11-22"),
]
const [first, without, third] = days as [number, number, number]
const ratio = (first + third) / 2 / without
console.log(
  `a list of another day recorded: ${without.toFixed(2)} ms without the index, ${ratio.toFixed(2)} times that with it`,
)
const missed = Object.entries(MOST_MS).filter(([question, most]) => asNew[question]!.ms > most)
for (const [question, most] of Object.entries(MOST_MS))
  console.log(`${question}, ${lists} lists: ${asNew[question]!.ms.toFixed(1)} of ${most} ms`)
process.exit(missed.length === 0 ? 0 : 1)

type Answers = Record<string, { ms: number; processors: number; found: number }>

function told({ ms, processors }: Answers[string]): string {
  return `${ms.toFixed(1)} ms (${processors.toFixed(1)} of processors)`
}

/** As of a process that has just begun: it keeps what it has read by the handle of its database. The one before reads no more ahead. */
async function withoutKept(): Promise<Context> {
  const own = ++handles
  await Bun.sleep(STATEMENT_MS)
  const latest: ProxyHandler<Sql> = {
    apply(target, self, args) {
      if (own !== handles) throw new Error("another process has begun")
      return Reflect.apply(target, self, args)
    },
  }
  return contextOf(new Proxy(sql, latest), workspaceId)
}

/** As some seconds after a call for others: of the apps that come nothing is kept. */
async function askedOfOthers(): Promise<Context> {
  const asked = await withoutKept()
  await written(hiveGetKeywordGap, { ids: OTHERS.map(idOf) }, asked)
  await Bun.sleep(AHEAD_MS)
  return asked
}

function idOf(app: number): string {
  return String(100_000_000 + app)
}

/** Whole answers and their JSON, as a call gets them but for its checks and its charge. */
async function answered(
  contextOfCall: () => Context | Promise<Context>,
  { areNew }: { areNew?: boolean } = {},
): Promise<Answers> {
  // those that come after them rank as often
  const shifted = (app: number, round: number) => idOf(areNew ? app + round : app)
  const gapOf = (apps: number[]) => (asked: Context, round: number) =>
    written(hiveGetKeywordGap, { ids: apps.map((app) => shifted(app, round)) }, asked)
  const spyOf = (app: number) => (asked: Context, round: number) =>
    written(hiveSpyApp, { id: shifted(app, round) }, asked)
  const rivalOf = (app: number) => (asked: Context, round: number) =>
    ask(getRival, asked, { appId: "own", rivalId: shifted(app, round) })
  return {
    "spy, an app that ranks often": await took(spyOf(SPIED), contextOfCall),
    "spy, an ordinary app": await took(spyOf(ORDINARY[0]! + 50), contextOfCall),
    "gap of five that rank often": await took(gapOf(OFTEN), contextOfCall),
    "gap of five ordinary apps": await took(gapOf(ORDINARY), contextOfCall),
    "keywords that share apps with one": await took(shareApps, contextOfCall),
    "get_rival, an app that ranks often": await took(rivalOf(SPIED), contextOfCall),
  }
}

async function written(operation: Operation, input: object, ctx: Context): Promise<{ total: number }> {
  const answer = await operation.run(v.parse(operation.input, input) as Record<string, unknown>, ctx)
  const text = answer instanceof WrittenAnswer ? answer.text : JSON.stringify(answer)
  return { total: Number(/"total":(\d+)/.exec(text)![1]) }
}

async function shareApps(): Promise<{ total: number }> {
  const [list] = await sql<{ listId: number; apps: number[] }[]>`
    select list_id as "listId", app_ids[1:20] as apps
    from list_now
    order by list_id desc
    limit 1`
  const market = { platform: "ios", storefront: "us", since: "2025-10-22" } as const
  return { total: (await findNeighbours(sql, market, { ...list!, least: 0.1, limit: 51 })).length }
}

async function took(
  call: (asked: Context, round: number) => Promise<{ total: number }>,
  contextOfCall: () => Context | Promise<Context>,
): Promise<Answers[string]> {
  for (let i = 0; i < WARM; i++) await call(await contextOfCall(), ROUNDS + i)
  const processorTime = await processorClock(sql, process.env.DATABASE_URL)
  const [times, processors]: [number[], number[]] = [[], []]
  let found = 0
  for (let i = 0; i < ROUNDS; i++) {
    const asked = await contextOfCall()
    const before = processorTime()
    const started = performance.now()
    found = (await call(asked, i)).total
    times.push(performance.now() - started)
    const after = processorTime()
    processors.push(after.own - before.own + after.database - before.database)
  }
  return { ms: median(times), processors: processors.reduce((sum, one) => sum + one, 0) / ROUNDS, found }
}

async function withoutIndex<T>(measure: () => Promise<T>): Promise<T> {
  await sql`drop index list_now_apps`
  const measured = await measure()
  await sql`create index list_now_apps on list_now using gin (app_ids) with (gin_pending_list_limit = 128)`
  return measured
}

/** Another day of lists, on which one place of twenty has another app and neighbours have changed places: ms a list. */
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
  // as a worker records them: one by one
  for (const one of seen) await record(sql, [one], () => new Date("2025-11-23T00:00:00Z"))
  return (performance.now() - started) / seen.length
}

/** Apps of which the low ids rank most often. */
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
