// bun test/bench/storage.ts [sizes | history] — measures the bytes of a list's day and of a tracked rank; and how long
// the same 7 days of history take with 7 and with 365 days stored, in alternation. On the embedded database; with
// DATABASE_URL on that PostgreSQL too.

import type { Sql } from "../../src/database/types.ts"
import type { SearchObservation } from "../../src/keywords/kinds/search-shape.ts"
import { getRankHistory } from "../../src/keywords/operations/history.ts"
import { addDays } from "../../src/lib/days.ts"
import { findApp } from "../../src/tracking/tracked-app.ts"
import { contextOf } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { median } from "./load.ts"
import { benchWorkspace, type Scratch, scratchOn, track } from "./scratch.ts"
import { candidatesOf, idOf, searchOf, termOf } from "./world.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 100)
/** Calls of a round on each side. */
const CALLS = 5
const HISTORY_KEYWORDS = 200
const TODAY = "2025-11-20"

const only = process.argv[2]
const server = process.env.DATABASE_URL
for (const url of server ? [undefined, server] : [undefined]) {
  console.log(url ? "PostgreSQL" : "embedded database")
  if (only !== "history") await sizes(url, { depth: 200, lists: 100, tracking: 0 })
  if (only !== "history") await sizes(url, { depth: 30, lists: 600, tracking: 10 })
  if (only !== "sizes") await history(url)
}
process.exit(0)

interface Stored {
  depth: number
  lists: number
  /** The number of apps that track each list. */
  tracking: number
}

/**
 * Records a month of 31 days, day by day; the first day reading by reading, as workers do, because that order affects
 * the indexes.
 */
async function sizes(url: string | undefined, { depth, lists, tracking }: Stored): Promise<void> {
  const { sql, remove } = await scratchOn(url)
  const workspace = await benchWorkspace(sql)
  const keywords = Array.from({ length: lists }, (_, term) => termOf(term))
  const appNumbers = new Set(keywords.map((_, term) => candidatesOf(term, depth)[term % depth]!))
  for (const app of [...appNumbers].slice(0, tracking)) await track(sql, workspace, idOf(app), keywords)
  for (let day = 0; day < 31; day++) {
    const at = { day: addDays("2025-10-01", day), depth }
    const batch = day === 0 ? 1 : 100
    for (let first = 0; first < lists; first += batch) {
      const terms = Array.from({ length: batch }, (_, i) => (day === 0 ? (first * 371) % lists : first + i))
      await store(
        sql,
        terms.map((term) => searchOf({ ...at, term })),
      )
    }
  }
  console.log(`depth ${depth}: ${per(await bytes(sql, "search_results"), lists * 31)} a list-day`)
  if (tracking > 0) {
    const [ranks, months] = [await bytes(sql, "rank_month"), await bytes(sql, "list_month")]
    const scope = `${lists} lists, each tracked by ${tracking} apps`
    console.log(
      `${per(ranks, tracking * lists * 31)} a tracked rank, ${per(months, lists * 31)} a tracked list's day (${scope})`,
    )
  }
  await remove()
}

interface Sizes {
  tables: number
  indexes: number
}

function per({ tables, indexes }: Sizes, count: number): string {
  const [table, index, all] = [tables, indexes, tables + indexes].map((total) => (total / count).toFixed(1))
  return `${all} B (table ${table}, index ${index})`
}

/** Returns the sizes over all partitions: tables, indexes, TOAST tables and maps. */
async function bytes(sql: Sql, parent: string): Promise<Sizes> {
  await sql`vacuum`
  const [row] = await sql<Sizes[]>`
    select sum(pg_table_size(inhrelid))::int as tables, sum(pg_indexes_size(inhrelid))::int as indexes
    from pg_inherits
    where inhparent = ${parent}::regclass`
  return row!
}

async function store(sql: Sql, readings: SearchObservation[]): Promise<void> {
  const { recorded } = await record(sql, readings, () => new Date(`${TODAY}T12:00:00Z`))
  if (recorded !== readings.length) throw new Error(`${recorded} of ${readings.length} readings recorded`)
}

interface History {
  scratch: Scratch
  read(): Promise<void>
}

/** Calls the operation on a database with 7 days and on one with 365 days, in alternation. */
async function history(url: string | undefined): Promise<void> {
  const [short, long] = [await openHistory(url, 7), await openHistory(url, 365)]
  const times: [number, number][] = []
  for (let round = -5; round < ROUNDS; round++) {
    const first = round % 2 === 0
    const [a, b] = first ? [await timeOf(short), await timeOf(long)] : [await timeOf(long), await timeOf(short)]
    if (round >= 0) times.push(first ? [a, b] : [b, a])
  }
  const ratios = times.map(([withSeven, withYear]) => withYear / withSeven).sort((a, b) => a - b)
  const [seven, year] = [median(times.map(([ms]) => ms)), median(times.map(([, ms]) => ms))]
  const quantile = (share: number) => ratios[Math.floor(ratios.length * share)]!.toFixed(2)
  console.log(
    `7 days of ${HISTORY_KEYWORDS} keywords: ${seven.toFixed(2)} ms with 7 days stored, ` +
      `${year.toFixed(2)} ms with 365: ${(year / seven).toFixed(2)} times (medians; rounds' ratios: ` +
      `${quantile(0.5)}, quartiles ${quantile(0.25)} to ${quantile(0.75)})`,
  )
  await short.scratch.remove()
  await long.scratch.remove()
}

async function openHistory(url: string | undefined, days: number): Promise<History> {
  const scratch = await scratchOn(url)
  const { sql } = scratch
  const workspace = await benchWorkspace(sql)
  const keywords = Array.from({ length: HISTORY_KEYWORDS }, (_, term) => termOf(term))
  const appId = await track(sql, workspace, idOf(candidatesOf(0, 30)[0]!), keywords)
  for (const [term] of keywords.entries()) {
    const readings = Array.from({ length: days }, (_, ago) => searchOf({ term, day: addDays(TODAY, -ago), depth: 30 }))
    await store(sql, readings)
  }
  await sql`vacuum analyze`
  const ctx = contextOf(sql, workspace, new Date(`${TODAY}T12:00:00Z`))
  const caller = { ...ctx.caller, entitlements: { ...ctx.caller.entitlements, historyDays: 7 } }
  const readHistory = async () => {
    const app = await findApp(sql, caller, appId)
    const answer = await getRankHistory.run({ app, appId, storefront: "us" }, { ...ctx, caller })
    const { keywords } = answer as { keywords: { series: unknown[] }[] }
    const points = keywords.flatMap(({ series }) => series).length
    if (points !== 7 * HISTORY_KEYWORDS) throw new Error(`${points} points`)
  }
  return { scratch, read: readHistory }
}

async function timeOf({ read }: History): Promise<number> {
  const startedAt = performance.now()
  for (let i = 0; i < CALLS; i++) await read()
  return (performance.now() - startedAt) / CALLS
}
