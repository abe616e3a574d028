import { afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { readTree } from "../../src/database/assets.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { createOutbox, type OutboxOptions } from "../../src/jobs/outbox.ts"
import { silentLog } from "../../src/lib/log.ts"
import { scratchFolder } from "../database/processes.ts"
import { freshDatabase, openInMemory, scratchUrl } from "../database.ts"
import { longOnServer, slow } from "../long.ts"
import { bidJob, enqueued, jobRow, owner, stuck } from "./enqueued.ts"
import { bidding, gateway, type Platform, standIn, until } from "./platform.ts"

setDefaultTimeout(60_000)

let sql: Sql
let by: { workspaceId: number; keyId: number }
let platform: Platform
let children: Bun.Subprocess[] = []

beforeEach(async () => {
  platform = standIn()
  if (!process.env.DATABASE_URL) return
  sql = await freshDatabase()
  by = await owner(sql)
})

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL")
  children = []
  await platform.stop()
})

/** Leases that are short enough for a test to wait for their end. */
const SHORT = { leaseMs: 700, sendMs: 500 }

/** Starts worker-process.ts and waits until it looks for jobs. Default: this test's database. */
async function startWorker(options: object = SHORT, more: { database?: object; enqueue?: number } = {}) {
  const { database = { databaseUrl: scratchUrl(sql) }, enqueue } = more
  const task = JSON.stringify({ database, platform: platform.url, options, enqueue })
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

const enqueueMany = (count: number) => Promise.all(Array.from({ length: count }, () => enqueued(sql, bidJob(by))))

/** Runs a worker in this process until nothing is left to start or recover. */
async function workOff(db: Sql, options: Partial<OutboxOptions> = {}): Promise<void> {
  const worker = createOutbox({ sql: db, kinds: bidding(platform.url), log: silentLog, random: () => 0, ...options })
  await until(async () => {
    await worker.runOnce()
    return (await db`select 1 from job where status in ('queued', 'running') limit 1`).length === 0
  })
}

async function kill(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGKILL")
  await child.exited
}

/** Creates a migrated embedded database, without the 4 s of initdb. */
async function makeEmbedded(dataDir: string): Promise<void> {
  const memory = await openInMemory()
  const template = await memory.backend!.dump()
  await memory.close()
  const { sql: empty, close } = await openEmbedded({ dataDir, template, as: "server", log: silentLog })
  await migrate(empty, readTree("sql", ".sql"), silentLog)
  await close()
}

interface Ended {
  id: string
  status: string
  attempts: number
  writes: number
}

async function ended(db: Sql): Promise<Ended[]> {
  const rows = await db<Omit<Ended, "writes">[]>`select id, status, attempts from job order by id`
  const keys = platform.writes().map(({ idempotencyKey }) => idempotencyKey)
  return rows.map((row) => ({ ...row, writes: keys.filter((key) => key === row.id).length }))
}

const tally = (jobs: Ended[]) =>
  Object.entries(Object.groupBy(jobs, ({ status, writes }) => `${status} with ${writes} writes`))
    .map(([what, of]) => `${of!.length} ${what}`)
    .sort()
    .join(", ")

const ROUNDS = 24

longOnServer(
  `postgres: each of ${ROUNDS} jobs killed between request and answer is unknown and never sent again`,
  async () => {
    platform.on("PUT", () => new Promise(() => {}))
    await enqueueMany(ROUNDS)
    for (let sent = 4; sent <= ROUNDS; sent += 4) {
      const child = await startWorker({ leaseMs: 5_000, sendMs: 4_000 })
      await until(() => platform.writes().length === sent)
      await kill(child)
    }
    platform.on("PUT")
    await sql`update job set lease_until = now() - interval '1 s' where status = 'running'`
    await workOff(sql)
    const jobs = await ended(sql)
    process.stdout.write(`${ROUNDS} kills after the request: ${tally(jobs)}\n`)
    expect(jobs).toHaveLength(ROUNDS)
    for (const job of jobs) expect(job).toMatchObject({ status: "unknown", attempts: 1, writes: 1 })
    expect(await stuck(sql)).toEqual([])
  },
)

const JOBS = 60

longOnServer(
  `postgres: ${JOBS} jobs whose workers are killed at any moment all end, and no job is sent twice`,
  async () => {
    platform.on("GET", async (_, answer) => {
      await Bun.sleep(Math.random() * 30)
      return answer()
    })
    platform.on("PUT", async (_, answer) => {
      await Bun.sleep(Math.random() * 30)
      return answer()
    })
    await enqueueMany(JOBS)
    let kills = 0
    const hasUnfinished = async () =>
      (await sql`select 1 from job where status in ('queued', 'running') limit 1`).length > 0
    const killing = async (seed: number) => {
      while (await hasUnfinished()) {
        const child = await startWorker(SHORT)
        // each later process lives longer: on a slow machine the first ones are killed before they send
        await Bun.sleep((30 + ((seed * 37 + kills * 53) % 130)) * Math.max(1, kills / 40))
        await kill(child)
        kills++
      }
    }
    await Promise.all([killing(1), killing(2)])
    const jobs = await ended(sql)
    const restarted = jobs.filter(({ attempts }) => attempts > 1).length
    process.stdout.write(`${kills} kills at any moment, ${restarted} jobs begun again: ${tally(jobs)}\n`)
    expect(kills).toBeGreaterThan(5)
    expect(jobs).toHaveLength(JOBS)
    for (const { status, writes } of jobs) {
      expect(["done", "unknown", "failed"]).toContain(status)
      expect(writes).toBeLessThanOrEqual(1)
      if (status === "done") expect(writes).toBe(1)
      if (status === "failed") expect(writes).toBe(0)
    }
    expect(await stuck(sql)).toEqual([])
  },
)

longOnServer("postgres: a worker that continues after SIGSTOP and the end of its lease changes no job", async () => {
  const [reading, sending] = [bidJob(by), bidJob(by)]
  const [read, sent] = [await enqueued(sql, reading), await enqueued(sql, sending)]
  const { open, opened } = gateway()
  const hold = async (isHeld: boolean, answer: () => Response) => {
    const ready = answer()
    if (isHeld) await opened
    return ready
  }
  platform.on("GET", (target, answer) => hold(target === reading.target, answer))
  platform.on("PUT", (_, answer) => hold(true, answer))
  const zombie = await startWorker()
  await until(() => platform.writes(sending.target).length === 1)
  zombie.kill("SIGSTOP")
  platform.on("GET")
  platform.on("PUT")
  await workOff(sql)
  const before = [await jobRow(sql, read), await jobRow(sql, sent)]
  expect(before).toMatchObject([
    { status: "done", attempts: 2 },
    { status: "unknown", attempts: 1 },
  ])
  open()
  zombie.kill("SIGCONT")
  await Bun.sleep(500)
  zombie.kill("SIGTERM")
  expect(await zombie.exited).toBe(0)
  expect([await jobRow(sql, read), await jobRow(sql, sent)]).toEqual(before)
  expect([platform.writes(reading.target).length, platform.writes(sending.target).length]).toEqual([1, 1])
})

longOnServer(
  "postgres: on SIGTERM, a worker finishes, requeues or marks as unknown each of its twenty jobs",
  async () => {
    const jobs = Array.from({ length: 20 }, () => bidJob(by))
    const ids = await Promise.all(jobs.map((job) => enqueued(sql, job)))
    const indexOfTarget = (target: string) => jobs.findIndex((job) => job.target === target)
    platform.on("GET", (target, answer) => (indexOfTarget(target) < 6 ? new Promise(() => {}) : answer()))
    platform.on("PUT", async (target, answer) => {
      await Bun.sleep(50)
      return indexOfTarget(target) === 19 ? new Promise(() => {}) : answer()
    })
    const child = await startWorker({ concurrency: 20, stopMs: 300 })
    await until(() => platform.requests.length === 20 + 14)
    child.kill("SIGTERM")
    expect(await child.exited).toBe(0)
    const states = await ended(sql)
    process.stdout.write(`SIGTERM with 20 jobs: ${tally(states)}\n`)
    expect(states.map(({ status, attempts, writes }) => `${status} ${attempts} ${writes}`).sort()).toEqual([
      ...Array(13).fill("done 1 1"),
      ...Array(6).fill("queued 0 0"),
      "unknown 1 1",
    ])
    platform.on("GET")
    platform.on("PUT")
    await workOff(sql)
    const after = await ended(sql)
    expect(after.map(({ id }) => id)).toEqual(ids.sort())
    expect(after.filter(({ writes }) => writes !== 1)).toEqual([])
    expect(after.filter(({ status }) => status !== "done")).toHaveLength(1)
  },
)

slow(
  "after kill -9 of a process with the embedded database, sent jobs are unknown and unsent jobs run once",
  async () => {
    const { folder, remove } = scratchFolder()
    const dataDir = join(folder, "data")
    await makeEmbedded(dataDir)
    platform.on("PUT", () => new Promise(() => {}))
    const child = await startWorker({ concurrency: 4 }, { database: { dataDir }, enqueue: 6 })
    await until(() => platform.writes().length === 4)
    await kill(child)
    platform.on("PUT")
    const { sql: reopened, close } = await openDatabase({ dataDir, as: "server", log: silentLog })
    // its lease still holds
    const [begun] = await reopened`select count(*) as n, count(sent_at) as sent from job where status = 'running'`
    expect(begun).toEqual({ n: 4, sent: 4 })
    await reopened`update job set lease_until = now() - interval '1 s' where status = 'running'`
    await workOff(reopened)
    const jobs = await ended(reopened)
    await close()
    remove()
    process.stdout.write(`kill -9 on the embedded database: ${tally(jobs)}\n`)
    expect(jobs.map(({ status, writes }) => `${status} ${writes}`).sort()).toEqual([
      ...Array(2).fill("done 1"),
      ...Array(4).fill("unknown 1"),
    ])
    expect(jobs.every(({ attempts }) => attempts === 1)).toBe(true)
  },
)
