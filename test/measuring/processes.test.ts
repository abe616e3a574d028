import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { readTree } from "../../src/database/assets.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { createMeasuring } from "../../src/measuring/worker.ts"
import { recording } from "../../src/recording.ts"
import { someWorkspace } from "../access/registered.ts"
import { scratchFolder } from "../database/processes.ts"
import { freshDatabase, openInMemory, scratchUrl } from "../database.ts"
import { gateway, until } from "../jobs/platform.ts"
import { long, longOnServer } from "../long.ts"
import { type ReplayServer, reachOf, replayServer } from "../stores/parsing/replay.ts"
import { trackOwn } from "../world/tracked.ts"
import { EGRESS, gaps, stored, stuck } from "./scene.ts"
import { answersSearches, counted, requestedTerms } from "./stand-in.ts"

setDefaultTimeout(120_000)

let sql: Sql
let stores: ReplayServer
let children: Bun.Subprocess[] = []

beforeEach(async () => {
  stores = replayServer()
  if (!process.env.DATABASE_URL) return
  sql = await freshDatabase()
  await sql`create table effect (subject text not null)`
})

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL")
  children = []
  await stores.stop()
})

/** Leases short enough to wait for their end, and early retries. */
const SHORT = { leaseMs: 700, retry: { baseMs: 50, capMs: 500 } }

/** Starts worker-process.ts and waits until it looks for work. */
async function startWorker(
  options: object = SHORT,
  { gapMs = 0, database = { databaseUrl: scratchUrl(sql) } as object } = {},
) {
  const task = JSON.stringify({ database, stores: stores.address("" as never).replace(/\/$/, ""), options, gapMs })
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, "worker-process.ts"), task], {
    stdout: "pipe",
    stderr: "inherit",
  })
  children.push(child)
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  expect(new TextDecoder().decode(value)).toBe("ready\n")
  reader.releaseLock()
  return child
}

async function kill(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGKILL")
  await child.exited
}

/** Tracks this many terms, so that only their searches are due. */
async function track(db: Sql, terms: readonly string[]): Promise<void> {
  const { id: workspaceId } = await someWorkspace(db, { name: `processes ${process.pid} ${terms.length}` })
  const app = { workspaceId, iosId: "1234567", countries: ["us"], keywords: terms, origin: "own" }
  await trackOwn(db, app)
  await db`delete from due where kind <> 'search'`
}

const named = (count: number) => Array.from({ length: count }, (_, i) => `term ${i}`)

const unread = async (db: Sql) =>
  (await db<{ n: number }[]>`select count(*) as n from due where measured_at is null`)[0]!.n

/** Expects one reading and one effect per subject, and nothing due before tomorrow. */
async function expectOnce(db: Sql, subjects: number): Promise<void> {
  expect(await stored(db)).toBe(subjects)
  const [effects] = await db`select count(*) as n, count(distinct subject) as of from effect`
  expect(effects).toEqual({ n: subjects, of: subjects })
  const [rows] = await db`
    select count(*) as n, count(lease) as leased, count(*) filter (where next_at <= now()) as due,
      sum(failures) as failures
    from due`
  expect(rows).toEqual({ n: subjects, leased: 0, due: 0, failures: 0 })
  expect(await stuck(db)).toEqual([])
}

/** Runs a worker in this process until nothing is due. */
async function workOff(db: Sql): Promise<void> {
  const reach = reachOf(stores)
  const options = { sql: db, kinds: [counted], reach, egress: EGRESS, gapsMs: gaps(), log: silentLog, random: () => 0 }
  const measuring = createMeasuring({ recording, ...options })
  await until(async () => {
    await measuring.runOnce()
    return (await unread(db)) === 0
  })
}

const SUBJECTS = 400
const KILLS = 30

longOnServer(
  `postgres: ${SUBJECTS} due readings are each stored once while 6 workers are killed ${KILLS} times`,
  async () => {
    answersSearches(stores, () => Math.random() * 60)
    await track(sql, named(SUBJECTS))
    let kills = 0
    const killing = async (seed: number) => {
      while (kills < KILLS) {
        const child = await startWorker(SHORT, { gapMs: 30 })
        await Bun.sleep(150 + ((seed * 97 + kills * 53) % 900))
        if (kills >= KILLS) return
        kills++
        await kill(child)
      }
    }
    await Promise.all([1, 2, 3, 4, 5, 6].map(killing))
    const leftThen = await unread(sql)
    for (let i = 0; i < 6; i++) await startWorker(SHORT)
    await until(async () => (await unread(sql)) === 0, 60_000)
    const repeated = stores.requests.length - SUBJECTS
    process.stdout.write(`${kills} kills, ${leftThen} of ${SUBJECTS} left then, ${repeated} asked for again\n`)
    expect(kills).toBe(KILLS)
    expect(repeated).toBeGreaterThan(0)
    await expectOnce(sql, SUBJECTS)
  },
)

for (const [how, leaseMs] of [
  ["and gives up its lease", SHORT.leaseMs],
  ["even if it believes that its lease is valid", 60_000],
] as const) {
  longOnServer(
    `postgres: a worker paused with SIGSTOP until its lease expired changes nothing when it continues, ${how}`,
    async () => {
      const { open, opened } = gateway()
      let isHeld = true
      answersSearches(stores)
      stores.on("apps.apple.com", "/", async () => {
        if (isHeld) await opened
        return undefined
      })
      await track(sql, named(4))
      const zombie = await startWorker({ ...SHORT, leaseMs })
      await until(() => stores.requests.length === 4)
      zombie.kill("SIGSTOP")
      isHeld = false
      if (leaseMs > SHORT.leaseMs) await sql`update due set lease_until = now() where lease is not null`
      await Bun.sleep(SHORT.leaseMs)
      await workOff(sql)
      const before = await sql`select * from due order by subject`
      open()
      zombie.kill("SIGCONT")
      await Bun.sleep(500)
      zombie.kill("SIGTERM")
      expect(await zombie.exited).toBe(0)
      expect([...(await sql`select * from due order by subject`)]).toEqual([...before])
      expect(stores.requests).toHaveLength(8)
      await expectOnce(sql, 4)
    },
  )
}

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: three processes never read the same subject at the same time, even during long readings",
  async () => {
    const inProgress = new Set<string>()
    const overlapping: string[] = []
    let count = 0
    // long enough for heartbeats that a busy machine delays
    const leaseMs = 2_000
    answersSearches(stores)
    stores.on("apps.apple.com", "/", async ({ url }) => {
      const term = url.searchParams.get("term") as string
      if (inProgress.has(term)) overlapping.push(term)
      inProgress.add(term)
      // some readings take longer than a lease, which heartbeats extend
      await Bun.sleep(++count % 20 === 0 ? 1.5 * leaseMs : 10)
      inProgress.delete(term)
      return undefined
    })
    await track(sql, named(120))
    await Promise.all(Array.from({ length: 3 }, () => startWorker({ ...SHORT, leaseMs })))
    await until(async () => (await unread(sql)) === 0)
    expect(overlapping).toEqual([])
    // if a heartbeat is late on a busy machine, the reading is aborted and repeated, but never runs twice at once
    expect([...new Set(requestedTerms(stores))].sort()).toEqual(named(120).sort())
    await expectOnce(sql, 120)
  },
)

test.skipIf(!process.env.DATABASE_URL)("postgres: two processes share the rate limit of an upstream", async () => {
  const gapMs = 40
  answersSearches(stores)
  await track(sql, named(60))
  // checks the booked turns: on a busy machine the requests themselves may be late
  await sql`create table booked (at timestamptz not null)`
  await sql`
    create function note_turn() returns trigger language plpgsql as $$ begin
      insert into booked values (new.next_at);
      return null;
    end $$`
  await sql`
    create trigger note_turn after update on pace
    for each row when (new.next_at <> old.next_at) execute function note_turn()`
  // a longer lease: on a busy machine a short one is lost and its reading repeated
  const patient = { ...SHORT, leaseMs: 30_000 }
  await Promise.all([startWorker(patient, { gapMs }), startWorker(patient, { gapMs })])
  await until(async () => (await unread(sql)) === 0)
  const requestTimes = stores.requests.map(({ at }) => at).sort((a, b) => a - b)
  expect(requestTimes).toHaveLength(60)
  const turns = await sql<{ at: number }[]>`
    select extract(epoch from at - min(at) over ())::float8 * 1000 as at from booked order by at`
  expect(turns.length).toBeGreaterThanOrEqual(60)
  for (const [i, { at }] of turns.slice(1).entries()) expect(at - turns[i]!.at).toBeGreaterThanOrEqual(gapMs - 0.01)
  const tookMs = requestTimes.at(-1)! - requestTimes[0]!
  process.stdout.write(`two processes at one pace of ${gapMs} ms: 60 requests in ${Math.round(tookMs)} ms\n`)
  // with separate paces the two processes would take half as long
  expect(tookMs).toBeGreaterThan(0.75 * 59 * gapMs)
})

longOnServer(
  "postgres: a reading that kills every worker is retried ever later, and fifty other readings succeed",
  async () => {
    answersSearches(stores, () => 5)
    await track(sql, [...named(50), "killer"])
    await sql`update due set next_at = now() - interval '1 hour' where subject = 'killer'`
    const times: number[] = []
    const options = { leaseMs: 600, retry: { baseMs: 400, capMs: 60_000 }, atOnce: 2 }
    while (times.length < 4 || (await unread(sql)) > 1) {
      const child = await startWorker(options)
      await child.exited
      times.push(performance.now())
    }
    const otherCount = await stored(sql)
    const deathTimes = times.map((at) => Math.round(at - times[0]!))
    process.stdout.write(
      `a killer was read ${times.length} times, after ${deathTimes} ms; ${otherCount} others are measured\n`,
    )
    const [killer] = await sql`select failures, failure, measured_at from due where subject = 'killer'`
    expect(killer).toMatchObject({ failure: "failed", failures: times.length - 1, measured_at: null })
    expect(await stored(sql)).toBe(50)
    expect(await sql`select 1 from effect`).toHaveLength(50)
  },
)

longOnServer("postgres: a worker that gets SIGTERM ends or gives back its readings and exits with code 0", async () => {
  answersSearches(stores)
  stores.on("apps.apple.com", "/", ({ url }) => (url.search.endsWith("1") ? new Promise(() => {}) : undefined))
  await track(sql, named(20))
  const child = await startWorker({ atOnce: 20, stopMs: 200 })
  await until(async () => stores.requests.length === 20 && (await unread(sql)) === 2)
  child.kill("SIGTERM")
  expect(await child.exited).toBe(0)
  const rows =
    await sql`select subject, failures, failure, lease, next_at <= now() as due from due where measured_at is null`
  expect(rows.map(({ subject }) => subject).sort()).toEqual(["term 1", "term 11"])
  for (const row of rows) expect(row).toMatchObject({ failures: 0, failure: null, lease: null, due: true })
  stores.on("apps.apple.com", "/", () => Response.json(["10001"]))
  await workOff(sql)
  await expectOnce(sql, 20)
})

/** Creates a migrated embedded database, without the 4 s of initdb. */
async function makeEmbedded(dataDir: string, fill: (sql: Sql) => Promise<unknown>): Promise<void> {
  const memory = await openInMemory()
  const template = await memory.backend!.dump()
  await memory.close()
  const { sql: empty, close } = await openEmbedded({ dataDir, template, as: "server", log: silentLog })
  await migrate(empty, readTree("sql", ".sql"), silentLog)
  await fill(empty)
  await close()
}

long("readings that kill -9 interrupts with the embedded database are stored once after a restart", async () => {
  const { folder, remove } = scratchFolder()
  const dataDir = join(folder, "data")
  await makeEmbedded(dataDir, async (db) => {
    await db`create table effect (subject text not null)`
    await track(db, named(24))
  })
  let answered = 0
  answersSearches(stores)
  stores.on("apps.apple.com", "/", () => (++answered > 8 ? new Promise(() => {}) : undefined))
  const child = await startWorker({}, { database: { dataDir } })
  await until(() => stores.requests.length === 8 + 6)
  await kill(child)
  answered = Number.NEGATIVE_INFINITY
  const { sql: reopened, close } = await openDatabase({ dataDir, as: "server", log: silentLog })
  const [row] = await reopened`select count(lease) as leased, count(measured_at) as measured from due`
  expect(row).toEqual({ leased: 6, measured: 8 })
  await reopened`update due set lease_until = now() - interval '1 s' where lease is not null`
  await workOff(reopened)
  await expectOnce(reopened, 24)
  await close()
  remove()
})
