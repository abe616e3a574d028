// DATABASE_URL=postgres://… bun test/bench/years.ts — every read of an app, as called with nothing but its id, with a week
// and with a year of history stored for 1,000 apps, in turns: how many times more of the processor the year takes, in the process
// and the database, and where a statement of it reads a table from end to end. The answers have as many rows: the week has as
// many reviews as the year, and what shows days is asked for the last seven. APPS, KEYWORDS and ROUNDS make it smaller. Fails
// where a read takes over three times as much, answers with a fault or with nothing, or reads a large table whole that is not its own.
import * as v from "valibot"
import { catalog } from "../../src/catalog.ts"
import { Fault } from "../../src/faults.ts"
import { EmptyAnswer, type Operation, PendingAnswer } from "../../src/operation.ts"
import { findApp } from "../../src/tracking/tracked-app.ts"
import { median } from "./load.ts"
import { type ProcessorTime, processorClock } from "./processor.ts"
import { contextIn, inputOf, isReadOfApp } from "./years-calls.ts"
import { type World, worldOf } from "./years-world.ts"

const APPS = Number(process.env.APPS ?? 1_000)
const KEYWORDS = Number(process.env.KEYWORDS ?? 20)
const ROUNDS = Number(process.env.ROUNDS ?? 12)
/** Not counted: what a connection sees for the first time it plans and reads. */
const WARM_UP = 3
/** Apps that are asked about in a round. */
const ASKED = 10
const GOAL = 1.2
const MOST = 3
/** Of each app, a day. */
const REVIEWS = 2
/** Asked for by days: by itself it shows as many as there are. */
const SEVEN_DAYS = ["get_rank_history", "get_review_stats", "get_chart_positions", "get_rival"]
/** Rows from which on a table is not to be read whole. */
const LARGE = 10_000

/** Reads that are about all apps of the one workspace of this world: every tracked keyword there is belongs to their answer. */
const OF_ALL_KEYWORDS = ["get_portfolio_overview", "get_usage", "list_alerts", "list_apps", "search"]

const server = process.env.DATABASE_URL
if (!server) throw new Error("set DATABASE_URL: this is about PostgreSQL")

class NotAnswered extends Error {}

const size = { apps: APPS, keywords: KEYWORDS }
const week = await worldOf(server, { ...size, days: 7, reviews: Math.round((REVIEWS * 365) / 7) })
const year = await worldOf(server, { ...size, days: 365, reviews: REVIEWS })
const clocks = new Map<World, () => ProcessorTime>()
for (const world of [week, year]) {
  // a server's processes are there once as many asked at once
  const { sql } = world.scratch
  await Promise.all(Array.from({ length: sql.options.max }, () => sql`select pg_sleep(0.1)`))
  clocks.set(world, await processorClock(sql, server))
}
const problems: string[] = []
const overGoal: string[] = []
for (const operation of catalog.filter(isReadOfApp)) problems.push(...(await problemsOf(operation)))
console.log(`over ${GOAL}: ${overGoal.join(", ") || "none"}`)
for (const problem of problems) console.error(problem)
await week.scratch.remove()
await year.scratch.remove()
process.exit(problems.length > 0 ? 1 : 0)

async function problemsOf(operation: Operation): Promise<string[]> {
  const { id } = operation
  try {
    const before = await tableReads(year)
    const ratio = await compare(operation)
    const whole = wholeReads(id, before, await tableReads(year))
    return [...(ratio > MOST ? [`${id} takes ${ratio.toFixed(2)} times as long`] : []), ...whole]
  } catch (error) {
    if (error instanceof Fault) return [`${id} answers ${error.code}`]
    if (error instanceof NotAnswered) return [`${id} ${error.message}`]
    throw error
  }
}

async function compare(operation: Operation): Promise<number> {
  const times: [number, number][] = []
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const first = round % 2 === 0
    const [a, b] = first
      ? [await took(week, operation), await took(year, operation)]
      : [await took(year, operation), await took(week, operation)]
    if (round >= 0) times.push(first ? [a, b] : [b, a])
  }
  const [short, long] = [median(times.map(([ms]) => ms)), median(times.map(([, ms]) => ms))]
  const ratio = median(times.map(([a, b]) => b / a))
  if (ratio > GOAL) overGoal.push(operation.id)
  console.log(
    `${operation.id.padEnd(26)} ${short.toFixed(2).padStart(8)} ms  ${long.toFixed(2).padStart(8)} ms  ${ratio.toFixed(2).padStart(5)}`,
  )
  return ratio
}

/** The processor's milliseconds of a call, of the same few apps in each round. */
async function took(world: World, operation: Operation): Promise<number> {
  let ms = 0
  for (let at = 0; at < ASKED; at++) ms += await tookOf(world, operation, at)
  return ms / ASKED
}

/** Of a call as invoke makes it, from its input to its text. The answer is held to its schema beside them. */
async function tookOf(world: World, operation: Operation, at: number): Promise<number> {
  const ctx = contextIn(world.scratch.sql, world.workspace)
  const days = SEVEN_DAYS.includes(operation.id) && Object.hasOwn(operation.input.entries, "days") && { days: 7 }
  const asked = { ...inputOf(operation, world.apps[at] as string, world.rivals[at] as string), ...days }
  const clock = clocks.get(world)!
  const began = clock()
  const input = v.parse(operation.input, asked) as Record<string, unknown>
  if (operation.subject) {
    const app = await findApp(ctx.sql, ctx.caller, input.appId as string)
    Object.assign(input, { app, storefront: app.countries[0] })
  }
  const answer = await operation.run(input, ctx)
  const text = JSON.stringify(answer)
  const ended = clock()
  const ms = ended.own + ended.database - began.own - began.database
  if (answer instanceof EmptyAnswer || answer instanceof PendingAnswer)
    throw new NotAnswered("has nothing to answer with")
  const { issues } = v.safeParse(operation.output, JSON.parse(text))
  if (issues) throw new NotAnswered(`answers against its schema: ${v.getDotPath(issues[0])}, ${issues[0].message}`)
  return ms
}

interface TableRead {
  name: string
  scans: number
  /** Rows that those scans went through. */
  read: number
  rows: number
}

/** Sequential scans of large tables until now. */
async function tableReads({ scratch: { sql } }: World): Promise<TableRead[]> {
  // a connection tells what it read only now and then, and of itself alone
  const all = await Promise.all(Array.from({ length: sql.options.max }, () => sql.reserve()))
  await Promise.all(all.map((one) => one`select pg_stat_force_next_flush()`))
  for (const one of all) one.release()
  return await sql<TableRead[]>`
    select relname as name, seq_scan::int as scans, seq_tup_read::float8 as read, n_live_tup::int as rows
    from pg_stat_user_tables
    where n_live_tup > ${LARGE}::int
    order by relname
    limit 1000`
}

/** Prints what was scanned between two moments, and names those tables of it that were read whole for no reason. */
function wholeReads(id: string, before: readonly TableRead[], after: readonly TableRead[]): string[] {
  const earlier = new Map(before.map((table) => [table.name, table]))
  return after.flatMap(({ name, scans, read, rows }) => {
    const then = earlier.get(name)
    const [scanned, went] = [scans - (then?.scans ?? 0), read - (then?.read ?? 0)]
    if (scanned === 0) return []
    console.log(`  ${name}: ${scanned} scans through ${went} of its ${rows} rows`)
    const isMeant = name === "tracked_term" && OF_ALL_KEYWORDS.includes(id)
    return went >= rows && !isMeant ? [`${id} reads ${name} whole, of ${rows} rows`] : []
  })
}
