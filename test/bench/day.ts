// bun test/bench/day.ts [SHARE] — records the list readings of a day, 86,400 or the given share of them (default 0.01),
// each 200 results deep and recorded one by one as workers do, on top of the day before. Alternates with a plain insert
// of the same rows. On the embedded database; with DATABASE_URL on that PostgreSQL, whose processes must run on this
// machine so that their CPU time is visible.

import type { Sql } from "../../src/database/types.ts"
import type { SearchObservation } from "../../src/keywords/kinds/search-shape.ts"
import { SOURCE_CODES } from "../../src/lib/rank-sources.ts"
import { record } from "../record.ts"
import { median } from "./load.ts"
import { processorClock } from "./processor.ts"
import { benchWorkspace, scratchOn, track } from "./scratch.ts"
import { APPS, candidatesOf, idOf, searchOf, termOf } from "./world.ts"

const READS_A_DAY = 86_400
const DEPTH = 200
const IN_TURN = 25
/** Keywords of an app, and how many apps track each keyword. */
const KEYWORDS = 200
const TRACKED_BY = 2
const [YESTERDAY, TODAY] = ["2025-11-19", "2025-11-20"]
const MIDNIGHT = new Date("2025-11-21T00:00:00Z")

const share = Number(process.argv[2] ?? 0.01)
const reads = Math.round(READS_A_DAY * share)
// a single connection, so that the CPU time is that of one process
const { sql, remove } = await scratchOn(process.env.DATABASE_URL, 1)
const processorTime = await processorClock(sql, process.env.DATABASE_URL)
await prepare(sql)
const before = await sizes(sql)
const [product, plain] = await day(sql)
report(product, plain, before, await sizes(sql))
await remove()
process.exit(0)

/** Creates all partitions of a year and all apps, and tracks the keywords, which were read the day before. */
async function prepare(sql: Sql): Promise<void> {
  await sql`
    select open_month(month::date)
    from generate_series(${TODAY}::date - interval '1 year', ${TODAY}, interval '1 month') month`
  await sql`
    insert into store_app (platform, store_id)
    select 'ios', id
    from unnest(${Array.from({ length: APPS }, (_, app) => idOf(app))}::text[]) id`
  const workspace = await benchWorkspace(sql)
  const tracked = new Set<number>()
  for (let first = 0; first < reads * TRACKED_BY; first += KEYWORDS) {
    const app = candidatesOf(first % reads, DEPTH).find((app) => app > 1_000 && !tracked.has(app))!
    tracked.add(app)
    const terms = Array.from({ length: Math.min(KEYWORDS, reads) }, (_, i) => termOf((first + i) % reads))
    await track(sql, workspace, idOf(app), terms)
  }
  for (let first = 0; first < reads; first += 100) {
    const terms = Array.from({ length: Math.min(100, reads - first) }, (_, i) => first + i)
    await store(
      sql,
      terms.map((term) => searchOf({ term, day: YESTERDAY, depth: DEPTH })),
    )
  }
  await sql`create table plain_results (like search_results including all)`
  await sql`vacuum analyze`
}

interface Side {
  /** Milliseconds of each reading. */
  times: number[]
  ownCpuMs: number
  databaseCpuMs: number
}

/** Alternates between recorded readings and plain inserts of the same rows, in an order independent of the keywords. */
async function day(sql: Sql): Promise<[Side, Side]> {
  const sides: [Side, Side] = [newSide(), newSide()]
  for (let first = 0; first < reads; first += IN_TURN) {
    const readings = Array.from({ length: Math.min(IN_TURN, reads - first) }, (_, i) => {
      const turn = first + i
      return searchOf({ term: (turn * 50_021) % reads, day: TODAY, depth: DEPTH, second: Math.floor(turn / share) })
    })
    await measure(sides[0], readings, (reading) => store(sql, [reading]))
    await measure(sides[1], readings, (reading) => insert(sql, reading))
  }
  return sides
}

function newSide(): Side {
  return { times: [], ownCpuMs: 0, databaseCpuMs: 0 }
}

async function measure(
  side: Side,
  readings: SearchObservation[],
  write: (reading: SearchObservation) => Promise<void>,
) {
  const start = processorTime()
  for (const reading of readings) {
    const startedAt = performance.now()
    await write(reading)
    side.times.push(performance.now() - startedAt)
  }
  const ended = processorTime()
  side.ownCpuMs += ended.process - start.process
  side.databaseCpuMs += ended.database - start.database
}

async function store(sql: Sql, readings: SearchObservation[]): Promise<void> {
  const { recorded } = await record(sql, readings, () => MIDNIGHT)
  if (recorded !== readings.length) throw new Error(`${recorded} of ${readings.length} readings recorded`)
}

async function insert(sql: Sql, { term, source, seenAt, sha256, results }: SearchObservation): Promise<void> {
  await sql`
    insert into plain_results
      (list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
    values (
      ${Number(term.split(" ")[1])}, ${TODAY}, ${SOURCE_CODES[source]}, ${seenAt}, ${DEPTH}, true, 1, 'own', 'us',
      ${sha256}, ${results.map(({ id }) => (Number(id) - 1_000_000_000) / 37)}::int[]
    )`
}

function report(complete: Side, plain: Side, before: Sizes, after: Sizes): void {
  const count = complete.times.length
  const mean = (side: Side) => side.times.reduce((sum, ms) => sum + ms, 0) / count
  const quantile = (share: number) => complete.times.toSorted((a, b) => a - b)[Math.floor(count * share)]!.toFixed(1)
  const ofADay = (ms: number) => ((ms * READS_A_DAY) / 86_400_000).toFixed(3)
  const [serviceMs, database] = [complete.ownCpuMs / count, complete.databaseCpuMs / count]
  const name = process.env.DATABASE_URL ? "PostgreSQL" : "embedded database"
  console.log(
    `${name}: ${count} readings of ${DEPTH} results, ${share * 100} % of a day's; ` +
      `each keyword tracked by ${TRACKED_BY} apps`,
  )
  console.log(
    `a reading takes ${mean(complete).toFixed(1)} ms (median ${median(complete.times).toFixed(1)}, ` +
      `p95 ${quantile(0.95)}, p99 ${quantile(0.99)})`,
  )
  console.log(
    `  ${(mean(complete) / mean(plain)).toFixed(1)} times a plain insert of its row (${mean(plain).toFixed(2)} ms)`,
  )
  console.log(`  one after the other, a day's ${READS_A_DAY} take ${ofADay(mean(complete))} of its seconds`)
  console.log(`CPU of a reading: ${serviceMs.toFixed(2)} ms its own, ${database.toFixed(2)} ms the database's`)
  console.log(`  of a core all day: ${ofADay(serviceMs)} and ${ofADay(database)}`)
  const growth = [...after].map(([table, bytes]) => [table, bytes - (before.get(table) ?? 0)] as const)
  const grownTables = growth
    .filter(([table, bytes]) => bytes > 0 && table !== "plain_results")
    .sort((a, b) => b[1] - a[1])
  const kilobytes = (bytes: number) => `${(bytes / 1_024 / count).toFixed(2)} KB`
  console.log(`grown by ${kilobytes(grownTables.reduce((sum, [, bytes]) => sum + bytes, 0))} a reading:`)
  console.log(`  ${grownTables.map(([table, bytes]) => `${table} ${kilobytes(bytes)}`).join(", ")}`)
}

type Sizes = Map<string, number>

/** Returns the bytes of each table with its indexes. Partitions count for their parent table. */
async function sizes(sql: Sql): Promise<Sizes> {
  const rows = await sql<{ table: string; bytes: number }[]>`
    select coalesce(p.relname, c.relname) as table, sum(pg_total_relation_size(c.oid))::bigint as bytes
    from pg_class c
    left join pg_inherits i on i.inhrelid = c.oid
    left join pg_class p on p.oid = i.inhparent
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    group by 1
    order by 1`
  return new Map(rows.map(({ table, bytes }) => [table, Number(bytes)]))
}
