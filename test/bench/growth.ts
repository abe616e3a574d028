// bun test/bench/growth.ts — measures how the work for one item grows with the keywords of a storefront (results 200
// deep): importing a line, recording a search, deriving the alerts of an app with 100 keywords, a claim with its end,
// spy, gap and a rival. Prints the rows that the database reads, its processor time and the sum with that of the
// process, and their growth from the first size to the last. Fails if the work for one item grows with the storefront,
// if an answer about the whole storefront grows faster than the keywords found, or if an answer about ordinary apps
// takes more than 100 ms of processor time. LISTS=1000,10000,100000, ROUNDS=10. Uses the server of DATABASE_URL, else
// the embedded database.

import * as v from "valibot"
import { deriveFindings } from "../../src/alerts/findings.ts"
import { openImportFindings } from "../../src/alerts/imported.ts"
import type { Operation } from "../../src/core/operation.ts"
import { deriveKeywordNow, deriveListNow } from "../../src/keywords/store/now.ts"
import { hiveGetKeywordGap } from "../../src/market/operations/gap.ts"
import { getRival } from "../../src/market/operations/rivals/get-rival.ts"
import { hiveSpyApp } from "../../src/market/operations/spy.ts"
import { claim } from "../../src/measuring/claim.ts"
import { endMeasured } from "../../src/measuring/due.ts"
import { openLane } from "../../src/measuring/pace.ts"
import { deriveMonths } from "../../src/tracking/rank-months.ts"
import { freshDatabase } from "../database.ts"
import { ask, contextOf, NOW, nameAll, newWorkspace, reading } from "../measuring/record/measured.ts"
import { searches } from "../measuring/stand-in.ts"
import { importLines, record } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"
import { median } from "./load.ts"
import { processorClock } from "./processor.ts"

const SIZES = (process.env.LISTS ?? "1000,10000,100000").split(",").map(Number)
const ROUNDS = Number(process.env.ROUNDS ?? 10)
/** Warm-up calls, which do not count. */
const WARM = 3
const MAX_ORDINARY_MS = 100
/** Maximum growth of rows and time for one item, and for each keyword found. Above 1, because the machine is shared. */
const MAX_GROWTH = { rows: 1.5, ms: 2.5 }
const APPS = 50_000
const DEPTH = 200
const AT_ONCE = 1_000
const OWN_TERMS = 100
const [DAY_BEFORE, LATEST_DAY] = ["2025-11-18", "2025-11-19"]
const MONTH = "2025-11-01"
const EVERYWHERE = 1
const POPULAR = [100, 200, 300, 400, 500]
const ORDINARY = [5_000, 5_200, 5_300, 5_400, 5_500]
const LANE = { upstream: "apps.apple.com", egress: "bench" } as const

interface Work {
  /** Returns the number of keywords in the answer; 1 for work on one item. */
  run(round: number): Promise<number>
  isAboutAll?: boolean
  isOrdinary?: boolean
}

interface Measured {
  rows: number
  databaseMs: number
  bothMs: number
  ms: number
  found: number
}

class RolledBack extends Error {}

const sql = await freshDatabase()
const workspaceId = await newWorkspace(sql)
const ctx = contextOf(sql, workspaceId)
let readings = 0
let trackers = 0
let copied: readonly number[] = []

const WORKS: Record<string, Work> = {
  "import a line of ids": { run: () => importLine({ named: 0 }) },
  "import a line that names 12 ordinary apps": { isAboutAll: true, run: () => importLine({ named: 12 }) },
  "record a search": { run: recordSearch },
  "derive an app's alerts": { run: findAlerts },
  "claim a search and end it": { run: claimAndEnd },
  "spy, an ordinary app": {
    isAboutAll: true,
    isOrdinary: true,
    run: (i) => totalOf(hiveSpyApp, { id: idOf(ORDINARY[0]! + i) }),
  },
  "spy, a popular app": { isAboutAll: true, run: (i) => totalOf(hiveSpyApp, { id: idOf(POPULAR[0]! + i) }) },
  "spy, an app in nearly every list": { isAboutAll: true, run: () => totalOf(hiveSpyApp, { id: idOf(EVERYWHERE) }) },
  "gap of five ordinary apps": {
    isAboutAll: true,
    isOrdinary: true,
    run: (i) => totalOf(hiveGetKeywordGap, { ids: idsOf(ORDINARY, i) }),
  },
  "gap of five popular apps": { isAboutAll: true, run: (i) => totalOf(hiveGetKeywordGap, { ids: idsOf(POPULAR, i) }) },
  "get_rival, a popular app": {
    isAboutAll: true,
    run: async (i) => (await ask(getRival, ctx, { appId, rivalId: idOf(POPULAR[0]! + i) })).total,
  },
}

const appId = await makeWorld()
const results = new Map<string, Measured[]>(Object.keys(WORKS).map((work) => [work, []]))
let lists = 2 * OWN_TERMS
for (const until of SIZES) {
  await addLists(until - lists)
  lists = until
  await assertDerived()
  await sql`update due set next_at = now() - interval '1 hour', lease = null, lease_until = null where kind = 'search'`
  await sql`vacuum (analyze)`
  for (const [name, { run }] of Object.entries(WORKS)) results.get(name)!.push(await measureWork(run))
}
process.exit(printTable() ? 0 : 1)

function printTable(): boolean {
  const table: Record<string, Record<string, string>> = {}
  const missed: string[] = []
  for (const [name, { isAboutAll, isOrdinary }] of Object.entries(WORKS)) {
    const each = results.get(name)!
    const [first, last] = [each[0]!, each.at(-1)!]
    const found = isAboutAll ? Math.max(1, last.found / first.found) : 1
    const growth = { rows: last.rows / first.rows, ms: last.bothMs / first.bothMs }
    const isGrowing = growth.rows > MAX_GROWTH.rows * found || growth.ms > MAX_GROWTH.ms * found
    if (isGrowing || (isOrdinary && last.bothMs > MAX_ORDINARY_MS)) missed.push(name)
    const formatEach = (select: (run: Measured) => number, digits: number) =>
      each.map((run) => select(run).toFixed(digits)).join(", ")
    table[name] = {
      "rows read": formatEach(({ rows }) => rows, 0),
      "database ms": formatEach(({ databaseMs }) => databaseMs, 1),
      "ms of both": formatEach(({ bothMs }) => bothMs, 1),
      "keywords found": isAboutAll ? formatEach((run) => run.found, 0) : "",
      growth:
        `rows ${growth.rows.toFixed(1)}, ms ` +
        `${growth.ms.toFixed(1)}${isAboutAll ? `, found ${found.toFixed(1)}` : ""}`,
    }
  }
  console.log(`keywords of the storefront: ${SIZES.join(", ")}`)
  console.table(table)
  console.log(
    missed.length === 0 ? "nothing grows with the storefront" : `grows with the storefront: ${missed.join("; ")}`,
  )
  return missed.length === 0
}

async function measureWork(run: Work["run"]): Promise<Measured> {
  for (let i = 0; i < WARM; i++) await run(ROUNDS + i)
  const processorTime = await processorClock(sql, process.env.DATABASE_URL)
  const times: Omit<Measured, "rows" | "found">[] = []
  const rowsBefore = await rowsRead()
  let found = 0
  for (let i = 0; i < ROUNDS; i++) {
    const before = processorTime()
    const started = performance.now()
    found = await run(i)
    const ms = performance.now() - started
    const after = processorTime()
    const databaseMs = after.database - before.database
    times.push({ ms, databaseMs, bothMs: databaseMs + after.process - before.process })
  }
  const rows = ((await rowsRead()) - rowsBefore) / ROUNDS
  const middle = (select: (time: (typeof times)[0]) => number) => median(times.map(select))
  return {
    rows,
    databaseMs: middle(({ databaseMs }) => databaseMs),
    bothMs: middle(({ bothMs }) => bothMs),
    ms: middle(({ ms }) => ms),
    found,
  }
}

/** Returns the rows read so far. A connection reports its counts on request, else about once a second. */
async function rowsRead(): Promise<number> {
  const flush = () => sql`select pg_stat_force_next_flush(), pg_sleep(0.05)`
  await Promise.all(Array.from({ length: sql.options.max }, flush))
  await sql`select pg_stat_clear_snapshot()`
  const [row] = await sql<[{ rows: number }]>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as rows
    from pg_stat_user_tables`
  return row.rows
}

/**
 * Imports a line. A name or rating affects the figures of every keyword with the app among its first ten results.
 * Returns the number of these keywords.
 */
async function importLine({ named }: { named: number }): Promise<number> {
  const { sha256, seenAt, ...line } = nextReading(named)
  const findings = openImportFindings({ now: () => NOW })
  async function* singleLine() {
    yield JSON.stringify({ ...line, seenAt: seenAt.toISOString() })
  }
  const { recorded } = await importLines(sql, singleLine(), { note: findings.note, now: () => NOW })
  if (recorded !== 1) throw new Error(`the line for ${line.term} was not recorded`)
  await findings.tell(sql)
  const apps = line.results.slice(0, named).map(({ id }) => id)
  const [{ touched }] = await sql<[{ touched: number }]>`
    select count(*)::int as touched
    from list_now
    where app_ids[1:10] && array(select id from store_app where platform = 'ios' and store_id = any(${apps}::text[]))`
  return touched
}

async function recordSearch(): Promise<number> {
  await record(sql, [nextReading(12)], () => NOW)
  return 1
}

/** Derives alerts in a transaction that is rolled back, so that each round starts from the same state. */
async function findAlerts(): Promise<number> {
  const subject = { platform: "ios", storefront: "us", subject: idOf(EVERYWHERE) } as const
  try {
    await sql.begin(async (tx) => {
      await deriveFindings(tx, [subject], NOW)
      const [{ n }] = await tx<[{ n: number }]>`select count(*)::int as n from alert`
      if (n === 0) throw new Error("no alert was derived")
      throw new RolledBack()
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  }
  return 1
}

async function claimAndEnd(): Promise<number> {
  const { claimed } = await claim(sql, LANE, [searches], 600_000)
  if (!claimed) throw new Error("nothing is due")
  await sql.begin((tx) => endMeasured(tx, claimed))
  return 1
}

/** Makes the whole answer and its JSON, without the checks and the charge of a call. */
async function totalOf(operation: Operation, input: object): Promise<number> {
  const answer = await operation.run(v.parse(operation.input, input) as Record<string, unknown>, ctx)
  return JSON.parse(JSON.stringify(answer)).total
}

function idOf(app: number): string {
  return String(100_000_000 + app)
}

/** Returns ids shifted by the round: shifted apps rank about as often, and no two rounds request the same apps. */
function idsOf(apps: readonly number[], i: number): string[] {
  return apps.map((app) => idOf(app + i))
}

function termOf(group: string, n: number): string {
  return `${group} ${n}`
}

/** Returns today's next reading of one of the imported terms, a few seconds after the previous one. */
function nextReading(named: number) {
  const at = new Date(Date.parse("2025-11-20T00:00:00Z") + ++readings * 5_000)
  const term = termOf("imported", readings % OWN_TERMS)
  return reading(term, at.toISOString(), [], { depth: DEPTH, results: resultsOf(readings, named) })
}

/** Returns results that begin with ordinary apps with names and ratings, as on a store page. */
function resultsOf(seed: number, named: number) {
  const apps = new Set<number>()
  for (let i = 0; apps.size < named; i++) apps.add(ORDINARY[0]! + Math.floor(20_000 * noise(seed * 2_000 + i)))
  apps.add(EVERYWHERE + (seed % 3))
  for (let i = 0; apps.size < DEPTH - 1; i++) apps.add(1 + Math.floor(APPS * noise(seed * 1_000 + i) ** 3))
  apps.add(EVERYWHERE)
  return [...apps].map((app, place) => ({
    id: idOf(app),
    ...(place < named && {
      name: `App ${app}`,
      developer: `Developer ${app % 500}`,
      ratings: 1_000 + app + seed,
      rating: 4.5,
    }),
  }))
}

/** Returns numbers from 0 to below 1, the same for the same seed. */
function noise(seed: number): number {
  const x = Math.sin(seed) * 43_758.5453
  return x - Math.floor(x)
}

/** Creates the apps, and two tracked apps with 100 keywords each: one for deriving alerts, one for the import. */
async function makeWorld(): Promise<string> {
  for (const month of ["2025-10-01", "2025-11-01"]) await sql`select open_month(${month})`
  await sql`
    insert into store_app (platform, store_id, seen_at, source, origin)
    select 'ios', (100000000 + i)::text, now(), 'import', 'own'
    from generate_series(1, ${APPS}::int) i`
  await nameAll(sql, sql`'App ' || id`)
  const ownTerms = Array.from({ length: OWN_TERMS }, (_, n) => termOf("own", n))
  const imported = Array.from({ length: OWN_TERMS }, (_, n) => termOf("imported", n))
  for (const [i, day] of [DAY_BEFORE, LATEST_DAY].entries())
    for (const [n, term] of [...ownTerms, ...imported].entries())
      await record(
        sql,
        [reading(term, `${day}T10:00:00Z`, [], { depth: DEPTH, results: resultsOf(2 * n + i, 12) })],
        () => NOW,
      )
  const id = await trackOwn(sql, { workspaceId, iosId: idOf(EVERYWHERE), keywords: ownTerms })
  await trackOwn(sql, { workspaceId, iosId: idOf(2), keywords: imported })
  // the findings belong to apps that existed before their readings
  await sql`update tracked_app set created_at = ${NOW}::timestamptz - interval '10 days'`
  await sql`update tracked_term set added_at = ${NOW}::timestamptz - interval '10 days'`
  await openLane(sql, LANE, 0)
  return id
}

/**
 * Adds this many keywords to the storefront. The first thousand are derived, and the rest are copies of the first
 * thousand.
 */
async function addLists(count: number): Promise<void> {
  const [index] = await sql<
    [{ made: string }]
  >`select indexdef as made from pg_indexes where indexname = 'list_now_apps'`
  await sql`drop index list_now_apps`
  for (let remaining = count; remaining > 0; remaining -= AT_ONCE) {
    const ids = await trackAnother(Math.min(AT_ONCE, remaining))
    if (copied.length > 0) await copyLists(ids)
    else {
      await deriveLists(ids)
      copied = ids
    }
  }
  await sql.unsafe(index.made)
}

/** Tracks another app with as many new keywords. Returns the ids of their lists. */
async function trackAnother(count: number): Promise<number[]> {
  const id = await trackOwn(sql, { workspaceId, iosId: idOf(20_000 + ++trackers), keywords: [] })
  const rows = await sql<{ id: number }[]>`
    with added as (
      insert into list (platform, storefront, term, first_day, last_day)
      select 'ios', 'us', 'word ' || md5(${trackers}::int || ' ' || i), ${LATEST_DAY}, ${LATEST_DAY}
      from generate_series(1, ${count}::int) i
      returning id, term
    ), tracked as (
      insert into tracked_term (app_id, country, term, position)
      select ${id}, 'us', term, row_number() over (order by id)
      from added
    )
    select id
    from added
    order by id`
  return rows.map((row) => row.id)
}

async function deriveLists(ids: readonly number[]): Promise<void> {
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select l.id, ${LATEST_DAY}, 10, ${LATEST_DAY}::timestamptz + interval '10 hours', ${DEPTH}, true, 1, 'own',
      sha256('x'), r.ids
    from unnest(${ids as number[]}::int[]) l (id)
    cross join lateral (
      select array_agg(app order by place) as ids
      from (
        select app, min(place) as place
        from (
          select 1 + floor(${APPS}::int * power(random(), 3))::int as app, place
          from generate_series(1, ${DEPTH}::int) place
          where l.id > 0
        ) p
        group by app
      ) p
    ) r`
  await sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    select id, 'popularity', ${LATEST_DAY}, 'estimate', ${LATEST_DAY}::timestamptz + interval '10 hours', 1 + id % 60,
      3, '{}'
    from unnest(${ids as number[]}::int[]) l (id)
    where id % 2 = 0`
  await sql.begin(async (tx) => {
    await deriveMonths(
      tx,
      ids.map((listId) => ({ listId, month: MONTH })),
    )
    await deriveKeywordNow(tx, ids)
    await deriveListNow(tx, ids)
  })
}

/**
 * Copies the derived rows. The same readings give the same rows, except for the ranks of the app that tracks the
 * keyword.
 */
async function copyLists(ids: readonly number[]): Promise<void> {
  const copy = (table: string, changed: string) =>
    sql.unsafe(
      `insert into ${table}
       select (jsonb_populate_record(t, ${changed})).*
       from unnest($1::int[], $2::int[]) c (copy, original)
       join ${table} t on t.list_id = c.original
       join list l on l.id = c.copy`,
      [ids as number[], copied.slice(0, ids.length)],
    )
  for (const table of ["search_results", "keyword_metric", "keyword_now", "list_month"])
    await copy(table, "jsonb_build_object('list_id', c.copy)")
  await copy("list_now", "jsonb_build_object('list_id', c.copy, 'term', l.term)")
  const day = Number(LATEST_DAY.slice(8)) - 1
  await sql`
    insert into rank_month (app_id, list_id, month, ranks)
    select a.id, n.list_id, ${MONTH},
      set_byte(decode(repeat('ff', 31), 'hex'), ${day}, coalesce(array_position(n.app_ids, a.id), 0))
    from list_now n
    join store_app a on a.platform = 'ios' and a.store_id = ${idOf(20_000 + trackers)}
    where n.list_id = any(${ids as number[]}::int[])`
}

/** Derives a sample again: the copies must equal the result of deriving their readings. */
async function assertDerived(): Promise<void> {
  const rows = await sql<{ id: number }[]>`select id from list order by md5(id::text) limit 50`
  const ids = rows.map(({ id }) => id)
  const readDerived = async () =>
    JSON.stringify(
      await sql`
        select to_jsonb(n) as list, to_jsonb(k) as keyword, to_jsonb(m) as month,
          (select jsonb_agg(r order by app_id) from rank_month r where r.list_id = n.list_id) as ranks
        from list_now n
        left join keyword_now k on k.list_id = n.list_id
        left join list_month m on m.list_id = n.list_id
        where n.list_id = any(${ids}::int[])
        order by n.list_id`,
    )
  const before = await readDerived()
  await sql.begin(async (tx) => {
    await deriveMonths(
      tx,
      ids.map((listId) => ({ listId, month: MONTH })),
    )
    await deriveKeywordNow(tx, ids)
    await deriveListNow(tx, ids)
  })
  if ((await readDerived()) !== before) throw new Error("the derived rows of the world are not those of its readings")
}
