// DATABASE_URL=postgres://… bun test/bench/years.ts — makes every read of an app and of its accounts' reports, called
// with only its id, with a week, with 92 days and with a year of history stored for 1,000 apps, in alternation. Prints
// how many times the processor time of the week the year takes, in the process and the database; for each world the
// number of entries (in all lists of the answer) and the rows that all steps of the plans returned or discarded; and
// the statements that read a whole table. The week has as many reviews and alerts as the year, and operations with a
// number of days are called with seven. A read that shows up to 90 days still has more data in a year than in a week:
// if the week shows another number of entries, the year is compared with the 92 days. A read over the goal is repeated
// with five times the rounds, and these results count. APPS, KEYWORDS and ROUNDS make it smaller,
// ONLY=get_pricing,fetch selects operations. Fails if a read takes over three times as much, answers with a fault or
// nothing, or reads a large shared table as a whole.
import * as v from "valibot"
import { catalog } from "../../src/catalog.ts"
import { EmptyAnswer, type Operation, PendingAnswer } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { Fault } from "../../src/lib/faults.ts"
import { findApp } from "../../src/tracking/tracked-app.ts"
import { explainEach, type Work } from "../core/explained.ts"
import { median } from "./load.ts"
import { type ProcessorTime, processorClock } from "./processor.ts"
import { appsToRead, contextIn, inputOf, isReadOfApp } from "./years-calls.ts"
import { type World, worldOf } from "./years-world.ts"

const APPS = Number(process.env.APPS ?? 1_000)
const KEYWORDS = Number(process.env.KEYWORDS ?? 20)
const ROUNDS = Number(process.env.ROUNDS ?? 12)
/** Warm-up calls: a connection plans and caches at first use. */
const WARM_UP = 3
/** Calls of a round, each for another app if there are enough. */
const ASKED = 10
const GOAL = 1.3
const MAX_RATIO = 3
/**
 * A read over the goal is repeated with this many times the rounds: with few rounds, one read in five exceeds the goal
 * by chance.
 */
const AGAIN = 5
/** Number for each app and day. */
const REVIEWS = 2
/** Apps with accounts. */
const OWNERS = 2
/** Operations that are called with a number of days, because their default covers all stored days. */
const SEVEN_DAYS = ["get_rank_history", "get_review_stats"]
/** Tables with at least this many rows must not be read as a whole. */
const LARGE = 10_000

/** Reads of all apps of the only workspace of this world, whose answer covers every tracked keyword. */
const OF_ALL_KEYWORDS = ["get_portfolio_overview", "get_usage", "list_alerts", "list_apps", "search"]

const server = process.env.DATABASE_URL
if (!server) throw new Error("set DATABASE_URL: this is about PostgreSQL")

class NotAnswered extends Error {}

const worldWith = async (days: number) => {
  const aDay = Math.round((REVIEWS * 365) / days)
  return await worldOf(server, { apps: APPS, keywords: KEYWORDS, days, reviews: aDay, alerts: aDay, owners: OWNERS })
}
const week = await worldWith(7)
const season = await worldWith(92)
const year = await worldWith(365)
const worlds = [week, season, year] as const
const clocks = new Map<World, () => ProcessorTime>()
for (const world of worlds) {
  // a server starts a process for each connection, once that many calls run at once
  const { sql } = world.scratch
  await Promise.all(Array.from({ length: sql.options.max }, () => sql`select pg_sleep(0.1)`))
  clocks.set(world, await processorClock(sql, server))
}
const problems: string[] = []
const overGoal: string[] = []
const only = process.env.ONLY?.split(",")
const reads = catalog.filter((operation) => isReadOfApp(operation) && (only?.includes(operation.id) ?? true))
for (const operation of reads) problems.push(...(await problemsOf(operation)))
console.log(`over ${GOAL}: ${overGoal.join(", ") || "none"}`)
for (const problem of problems) console.error(problem)
for (const { scratch } of worlds) await scratch.remove()
process.exit(problems.length > 0 ? 1 : 0)

async function problemsOf(operation: Operation): Promise<string[]> {
  const { id } = operation
  try {
    const before = await tableReads(year)
    const ratio = await compare(operation)
    const whole = wholeReads(id, before, await tableReads(year))
    return [...(ratio > MAX_RATIO ? [`${id} takes ${ratio.toFixed(2)} times as long`] : []), ...whole]
  } catch (error) {
    if (error instanceof Fault) return [`${id} answers ${error.code}`]
    if (error instanceof NotAnswered) return [`${id} ${error.message}`]
    throw error
  }
}

/** Compares the year with its reference: the week, or the 92 days. */
async function compare(operation: Operation): Promise<number> {
  const figures: Seen[] = []
  for (const world of worlds) figures.push(await seenIn(world, operation))
  const [entryCounts, read] = [figures.map(({ entries }) => entries), figures.map(({ read }) => read)]
  const showsOther = entryCounts[2] !== entryCounts[0]
  let times = await timesOf(operation, ROUNDS)
  const ratioTo = (other: number) => median(times.map((all) => all[2]! / all[other]!))
  const ratio = () => ratioTo(showsOther ? 1 : 0)
  if (ratio() > GOAL) times = await timesOf(operation, AGAIN * ROUNDS)
  if (ratio() > GOAL) overGoal.push(operation.id)
  const ms = worlds
    .map((_, at) =>
      median(times.map((all) => all[at]!))
        .toFixed(2)
        .padStart(7),
    )
    .join(" ")
  console.log(
    `${operation.id.padEnd(26)} ${ms} ms  of a week ${ratioTo(0).toFixed(2)}, ` +
      `of 92 days ${ratioTo(1).toFixed(2)} in ${times.length} rounds; shows ` +
      `${entryCounts.join(", ")}${showsOther ? ": compared with 92 days" : ""}; rows ${read.join(", ")}`,
  )
  return ratio()
}

/** Milliseconds of processor time of a call in each world, round by round. */
async function timesOf(operation: Operation, rounds: number): Promise<number[][]> {
  const times: number[][] = []
  for (let round = -WARM_UP; round < rounds; round++) {
    const order = round % 2 === 0 ? worlds : worlds.toReversed()
    const msByWorld = new Map<World, number>()
    for (const world of order) msByWorld.set(world, await tookOf(world, operation))
    if (round >= 0) times.push(worlds.map((world) => msByWorld.get(world)!))
  }
  return times
}

interface Seen {
  entries: number
  read: number
}

/** Figures of one call. */
async function seenIn(world: World, operation: Operation): Promise<Seen> {
  const works: Work[] = []
  const [app] = appsToRead(operation, APPS, { appCount: ASKED, owners: OWNERS })
  const text = await answerOf(world, operation, { app: app!, sql: explainEach(world.scratch.sql, works) })
  return { entries: entriesOf(JSON.parse(text)), read: Math.round(works.reduce((sum, { rows }) => sum + rows, 0)) }
}

function entriesOf(answer: unknown): number {
  if (typeof answer !== "object" || answer === null) return 0
  const nested = Object.values(answer).reduce((sum: number, value) => sum + entriesOf(value), 0)
  return nested + (Array.isArray(answer) ? answer.length : 0)
}

/** Milliseconds of processor time of a call, for the same few apps in each round. */
async function tookOf(world: World, operation: Operation): Promise<number> {
  const apps = appsToRead(operation, APPS, { appCount: ASKED, owners: OWNERS })
  const clock = clocks.get(world)!
  let ms = 0
  for (let call = 0; call < ASKED; call++) {
    const app = apps[call % apps.length]!
    const before = clock()
    const text = await answerOf(world, operation, { app, sql: world.scratch.sql })
    const ended = clock()
    ms += ended.process + ended.database - before.process - before.database
    const { issues } = v.safeParse(operation.output, JSON.parse(text))
    if (issues) throw new NotAnswered(`answers against its schema: ${v.getDotPath(issues[0])}, ${issues[0].message}`)
  }
  return ms / ASKED
}

/** Answers a call as invoke does, from its input to its text. */
async function answerOf(world: World, operation: Operation, { app, sql }: { app: number; sql: Sql }): Promise<string> {
  const ctx = contextIn(sql, world.workspace)
  const days = SEVEN_DAYS.includes(operation.id) && { days: 7 }
  const values = { ...inputOf(operation, world.apps[app] as string, world.rivals[app] as string), ...days }
  const input = v.parse(operation.input, values) as Record<string, unknown>
  if (operation.subject) {
    const trackedApp = await findApp(ctx.sql, ctx.caller, input.appId as string)
    Object.assign(input, { app: trackedApp, storefront: trackedApp.countries[0] })
  }
  const answer = await operation.run(input, ctx)
  if (answer instanceof EmptyAnswer || answer instanceof PendingAnswer)
    throw new NotAnswered("has nothing to answer with")
  return JSON.stringify(answer)
}

interface TableRead {
  name: string
  scans: number
  /** Rows that these scans read. */
  read: number
  rows: number
}

/** Returns the sequential scans of large tables so far. */
async function tableReads({ scratch: { sql } }: World): Promise<TableRead[]> {
  // a connection reports its counts only now and then, and only for itself
  const all = await Promise.all(Array.from({ length: sql.options.max }, () => sql.reserve()))
  await Promise.all(all.map((connection) => connection`select pg_stat_force_next_flush()`))
  for (const connection of all) connection.release()
  return await sql<TableRead[]>`
    select relname as name, seq_scan::int as scans, seq_tup_read::float8 as read, n_live_tup::int as rows
    from pg_stat_user_tables
    where n_live_tup > ${LARGE}::int
    order by relname
    limit 1000`
}

/** Prints the scans between two moments. Returns the tables that were read as a whole without a reason. */
function wholeReads(id: string, before: readonly TableRead[], after: readonly TableRead[]): string[] {
  const earlier = new Map(before.map((table) => [table.name, table]))
  return after.flatMap(({ name, scans, read, rows }) => {
    const previous = earlier.get(name)
    const [scanned, rowsRead] = [scans - (previous?.scans ?? 0), read - (previous?.read ?? 0)]
    if (scanned === 0) return []
    console.log(`  ${name}: ${scanned} scans through ${rowsRead} of its ${rows} rows`)
    const isMeant = name === "tracked_term" && OF_ALL_KEYWORDS.includes(id)
    return rowsRead >= rows && !isMeant ? [`${id} reads ${name} whole, of ${rows} rows`] : []
  })
}
