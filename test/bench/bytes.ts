// bun test/bench/bytes.ts [DEPTH LISTS] — bytes of a stored rank with all that is known of its reading, of 60 days that are
// read day by day and packed by the night, tables, indexes, what is stored out of line and what deleted rows left behind; what
// packing costs; and what past days take to read beside the same days unpacked, in processor time of the database where it is a
// server. `CHART=FILE` takes the moves of a recorded chart (captured_at, rank, track_id) in place of the invented world's.

import { readFileSync } from "node:fs"
import type { Sql } from "../../src/database/types.ts"
import { readDays } from "../../src/history/searches/term-results.ts"
import { record } from "../../src/observations/record.ts"
import { foldSearches, rebuildIndexes } from "../../src/observations/rows/search-fortnights.ts"
import type { SearchObservation } from "../../src/observations/types.ts"
import { addDays } from "../../src/vocabulary/days.ts"
import { median } from "./load.ts"
import { scratchOn } from "./scratch.ts"
import { idOf, searchOf, termOf } from "./world.ts"

const DAYS = 60
const FIRST = "2025-09-01"
const [depth, lists] = process.argv.slice(2).map(Number)

for (const shape of depth
  ? [{ depth, lists: lists ?? 200 }]
  : [
      { depth: 200, lists: 200 },
      { depth: 30, lists: 600 },
    ]) {
  const { sql, remove } = await scratchOn(process.env.DATABASE_URL)
  await store(sql, shape)
  await remove()
}
process.exit(0)

async function store(sql: Sql, { depth, lists }: { depth: number; lists: number }): Promise<void> {
  const days = Array.from({ length: DAYS }, (_, day) => addDays(FIRST, day))
  const took = { record: 0, fold: 0, nights: [] as number[] }
  const weeks: number[] = []
  let ranks = 0
  for (const [number, day] of days.entries()) {
    const readings = Array.from({ length: lists }, (_, term) => readingOf({ term, day, number, depth }))
    ranks += readings.reduce((sum, { results }) => sum + results.length, 0)
    const from = performance.now()
    for (let at = 0; at < lists; at += 50)
      await record(sql, readings.slice(at, at + 50), () => new Date(`${addDays(day, 1)}T00:00:00Z`))
    took.record += performance.now() - from
    const night = performance.now()
    await fold(sql, addDays(day, 1))
    took.nights.push(performance.now() - night)
    // what autovacuum and the embedded database's night do
    await sql`vacuum analyze search_results, search_fortnight`
    if (number >= DAYS - 7)
      weeks.push((await sizes(sql)).reduce((sum, { table, index }) => sum + table + index, 0) / ranks)
  }
  const mean = weeks.reduce((sum, bytes) => sum + bytes, 0) / weeks.length
  console.log(
    `${lists} lists, ${depth} deep, ${DAYS} days: ${mean.toFixed(2)} bytes a rank (${Math.min(...weeks).toFixed(2)} to ${Math.max(...weeks).toFixed(2)} by the day of the week)`,
  )
  for (const { name, table, index, rows } of await sizes(sql))
    console.log(`  ${name}: ${rows} rows, ${(table / 1024).toFixed(0)} KB, indexes ${(index / 1024).toFixed(0)} KB`)
  took.fold = took.nights.reduce((sum, ms) => sum + ms, 0)
  const each = (ms: number) => `${((1_000 * ms) / (lists * DAYS)).toFixed(0)} µs`
  console.log(`  a reading: recorded ${each(took.record)}, packed ${each(took.fold)}`)
  await read(sql, { depth, lists })
}

/** As the retention job does it on that day. */
async function fold(sql: Sql, today: string): Promise<void> {
  for (let from: number | null = 0; from !== null; ) {
    const at: number = from
    const { next } = await sql.begin((tx) => foldSearches(tx, { today, most: 4, from: at }))
    from = next
  }
  await sql.begin(rebuildIndexes)
}

async function sizes(sql: Sql) {
  return await sql<{ name: string; table: number; index: number; rows: number }[]>`
    select relname as name, pg_table_size(c.oid)::float8 as table, pg_indexes_size(c.oid)::float8 as index, reltuples as rows
    from pg_class c
    where relkind = 'r'
      and (relname = 'search_fortnight' or oid in (select inhrelid from pg_inherits where inhparent = 'search_results'::regclass))
    order by 1`
}

/** A month's lists of a term: packed, then unpacked, a term after the other. */
async function read(sql: Sql, { depth, lists }: { depth: number; lists: number }): Promise<void> {
  const [from, to] = [addDays(FIRST, 5), addDays(FIRST, 35)]
  const terms = Array.from({ length: Math.min(lists, 50) }, (_, term) => termOf(term))
  const times = async () => {
    const rounds: number[] = []
    for (let round = 0; round < 5; round++) {
      const startedAt = performance.now()
      for (const term of terms) {
        const list = { platform: "ios" as const, storefront: "us", term }
        if ((await readDays(sql, list, { from, to, top: depth })).length !== 31) throw new Error("days are missing")
      }
      rounds.push((performance.now() - startedAt) / terms.length)
    }
    return { least: Math.min(...rounds), middle: median(rounds) }
  }
  const packed = await times()
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
    select r.*
    from (select distinct list_id from search_fortnight) l
    cross join lateral (
      select list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids
      from packed_searches(l.list_id, '-infinity', 'infinity')
    ) r`
  await sql`truncate search_fortnight`
  await sql`vacuum analyze search_results`
  const whole = await times()
  console.log(
    `  31 days of a term: packed ${packed.least.toFixed(2)} ms (${packed.middle.toFixed(2)}), unpacked ${whole.least.toFixed(2)} (${whole.middle.toFixed(2)})`,
  )
}

function readingOf({
  term,
  day,
  number,
  depth,
}: {
  term: number
  day: string
  number: number
  depth: number
}): SearchObservation {
  const invented = searchOf({ term, day, depth, second: 3_600 + (term % 80_000) })
  if (!process.env.CHART) return invented
  // another stretch of the chart for each list, whose apps are the list's own
  const chart = chartDays()
  const there = chart[((term * 3 + number) % (chart.length - DAYS)) + 0] as number[]
  return { ...invented, results: there.slice(0, depth).map((app) => ({ id: idOf((app + term * 977) % 300_000) })) }
}

let charted: number[][] | undefined

function chartDays(): number[][] {
  if (charted) return charted
  const days = new Map<string, number[]>()
  const apps = new Map<string, number>()
  for (const line of readFileSync(process.env.CHART as string, "utf8")
    .split("\n")
    .slice(1)) {
    const [at, , app] = line.split(",") as [string, string, string]
    if (app === undefined) continue
    if (!apps.has(app)) apps.set(app, apps.size)
    days.set(at.slice(0, 10), [...(days.get(at.slice(0, 10)) ?? []), apps.get(app)!])
  }
  charted = [...days.values()]
  return charted
}
