import { afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { createOutbox, type OutboxOptions } from "../../src/jobs/outbox.ts"
import { claim, extend, finish, giveBack, markSent } from "../../src/jobs/outbox-jobs.ts"
import { createLog, silentLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { bidJob, enqueued, jobRow, letLeaseRunOut, owner, stuck } from "./enqueued.ts"
import { bidding, gateway, type Platform, standIn, until } from "./platform.ts"

setDefaultTimeout(30_000)

let sql: Sql
let by: { workspaceId: number; keyId: number }
let platform: Platform

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  await sql`delete from job`
  by = await owner(sql)
  platform = standIn()
})

afterEach(async () => {
  await platform.stop()
  expect(await stuck(sql)).toEqual([])
})

const worker = (options: Partial<OutboxOptions> = {}) =>
  createOutbox({ sql, kinds: bidding(platform.url), log: silentLog, random: () => 0, ...options })

const LEASE = { actions: ["set_bid"], limit: 4, leaseMs: 30_000 }

/** Returns the database, except that statements with this text fail while `now` returns true. */
function failing(text: string, now: () => boolean): Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      const statement = String(args[0]?.raw?.join(""))
      if (statement.includes(text) && now()) throw Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" })
      return Reflect.apply(target, self, args)
    },
  })
}

/** Blocks the first request of a method at the platform; its answer is computed at once. */
function holdFirst(method: "GET" | "PUT") {
  const [arrival, release] = [gateway(), gateway()]
  let first = true
  platform.on(method, async (_, answer) => {
    const ready = answer()
    if (!first) return ready
    first = false
    arrival.open()
    await release.opened
    return ready
  })
  return { arrived: arrival.opened, letGo: release.open }
}

test("a worker that lost its lease to another worker can no longer change the job", async () => {
  const id = await enqueued(sql, bidJob(by))
  const [zombie] = await claim(sql, LEASE)
  await letLeaseRunOut(sql, id)
  await worker({ kinds: new Map([["other", bidding("").get("set_bid")!]]) }).runOnce() // recovers the job only
  const [heir] = await claim(sql, LEASE)
  expect(heir).toMatchObject({ id, attempts: 2 })
  const before = await jobRow(sql, id)
  expect(await markSent(sql, zombie!, 30_000)).toBe(false)
  expect([...(await extend(sql, [zombie!], 30_000))]).toEqual([])
  expect(await finish(sql, zombie!, { status: "done", result: null })).toBe(false)
  expect(await giveBack(sql, zombie!, null)).toBe(false)
  expect(await jobRow(sql, id)).toEqual(before)
  expect(await markSent(sql, heir!, 30_000)).toBe(true)
  expect(await finish(sql, heir!, { status: "done", result: null })).toBe(true)
})

test("an expired lease is not renewed, even if no other worker has taken over", async () => {
  const id = await enqueued(sql, bidJob(by))
  const [job] = await claim(sql, LEASE)
  await letLeaseRunOut(sql, id)
  expect([...(await extend(sql, [job!], 30_000))]).toEqual([])
  expect(await markSent(sql, job!, 30_000)).toBe(false)
  expect((await jobRow(sql, id)).sent_at).toBe(null)
})

test("twelve concurrent claims never claim the same job twice", async () => {
  const ids = await Promise.all(Array.from({ length: 30 }, () => enqueued(sql, bidJob(by))))
  const claims = await Promise.all(Array.from({ length: 12 }, () => claim(sql, LEASE)))
  expect(claims.every((jobs) => jobs.length <= 4)).toBe(true)
  const claimed = claims.flat().map(({ id }) => id)
  expect(new Set(claimed).size).toBe(claimed.length)
  const rest = await claim(sql, { ...LEASE, limit: 30 })
  expect([...claimed, ...rest.map(({ id }) => id)].sort()).toEqual(ids.sort())
})

test("a worker suspended during its read sends nothing and changes nothing when it resumes", async () => {
  const job = bidJob(by)
  const id = await enqueued(sql, job)
  const { arrived, letGo } = holdFirst("GET")
  const zombie = worker().runOnce()
  await arrived
  await letLeaseRunOut(sql, id)
  await worker().runOnce()
  const done = await jobRow(sql, id)
  expect(done).toMatchObject({ status: "done", attempts: 2 })
  letGo()
  await zombie
  expect(await jobRow(sql, id)).toEqual(done)
  expect(platform.writes()).toHaveLength(1)
})

test("a job is unknown if its worker is suspended while sending, and the late answer changes nothing", async () => {
  const id = await enqueued(sql, bidJob(by))
  const { arrived, letGo } = holdFirst("PUT")
  const zombie = worker().runOnce()
  await arrived
  await letLeaseRunOut(sql, id)
  expect(await worker().runOnce()).toBe(0)
  const unknown = await jobRow(sql, id)
  expect(unknown).toMatchObject({ status: "unknown", result: null, error: null })
  letGo()
  await zombie
  expect(await jobRow(sql, id)).toEqual(unknown)
  expect(platform.writes()).toHaveLength(1)
})

test("a worker suspended between marking a job as sent and sending it requeues the job", async () => {
  const id = await enqueued(sql, bidJob(by))
  let hours = 0
  // every clock reading shows that the machine has slept for an hour
  await worker({ now: () => new Date(++hours * 3_600_000) }).runOnce()
  expect(await jobRow(sql, id)).toMatchObject({ status: "queued", attempts: 1, sent_at: null, lease: null })
  expect(platform.writes()).toEqual([])
  await worker().runOnce()
  expect((await jobRow(sql, id)).status).toBe("done")
})

test("a job that can never be marked as sent is never sent and fails after five attempts", async () => {
  const id = await enqueued(sql, bidJob(by))
  const flaky = failing("sent_at = now()", () => true)
  for (let attempt = 1; attempt <= 5; attempt++) await worker({ sql: flaky }).runOnce()
  expect(await jobRow(sql, id)).toMatchObject({ status: "failed", attempts: 5, error: { error: "internal_error" } })
  expect(platform.writes()).toEqual([])
})

test("a lease must be longer than the timeout of the request it covers", () => {
  expect(() => worker({ leaseMs: 12_000, sendMs: 12_000 })).toThrow("outlast")
})

slow("a heartbeat keeps the lease of long work, and no other worker starts it", async () => {
  const id = await enqueued(sql, bidJob(by))
  const { arrived, letGo } = holdFirst("GET")
  const [busy, other] = [1, 2].map(() => worker({ leaseMs: 1_800, sendMs: 1_000, pollMs: 50 }))
  busy!.start()
  await arrived
  other!.start()
  const first = (await jobRow(sql, id)).lease
  await Bun.sleep(3_000)
  expect((await jobRow(sql, id)).lease).toBe(first)
  letGo()
  await until(async () => (await jobRow(sql, id)).status === "done")
  expect((await jobRow(sql, id)).attempts).toBe(1)
  expect(platform.writes()).toHaveLength(1)
  await Promise.all([busy!.stop(), other!.stop()])
})

slow("a worker whose heartbeats fail stops before its lease ends and sends nothing", async () => {
  const id = await enqueued(sql, bidJob(by))
  let isAway = false
  const flaky = failing("", () => isAway)
  let letGo: unknown
  const read = (_: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((resolve) => {
      isAway = true
      signal.addEventListener("abort", async () => {
        const [row] = await sql`select lease_until > now() as stands from job where id = ${id}`
        letGo = row!.stands
        resolve({ bid: 1 })
      })
    })
  const { send } = bidding(platform.url).get("set_bid")!
  const lonely = worker({ sql: flaky, kinds: new Map([["set_bid", { read, send }]]), leaseMs: 1_500, sendMs: 1_000 })
  lonely.start()
  await until(() => letGo !== undefined)
  expect(letGo).toBe(true)
  await lonely.stop()
  expect(platform.writes()).toEqual([])
  await until(async () => (await worker().runOnce()) === 1)
  expect((await jobRow(sql, id)).status).toBe("done")
  expect(platform.writes()).toHaveLength(1)
})

test("a job fails and is logged after its worker has died in five attempts", async () => {
  const id = await enqueued(sql, bidJob(by))
  const logged: string[] = []
  const idle = worker({ concurrency: 0, log: createLog((line) => void logged.push(line)) })
  for (let death = 1; death <= 5; death++) {
    expect(await claim(sql, LEASE)).toHaveLength(1)
    await letLeaseRunOut(sql, id)
    await idle.runOnce()
    expect(await jobRow(sql, id)).toMatchObject({ status: death < 5 ? "queued" : "failed", attempts: death })
  }
  expect(await jobRow(sql, id)).toMatchObject({ error: { error: "internal_error" }, sent_at: null })
  const events = logged.map((line) => JSON.parse(line)).map(({ event, code }) => `${event} ${code}`)
  expect(events).toEqual([...Array(4).fill("jobs_recovered queued"), "jobs_recovered failed"])
})

slow("the outcome of a write is stored as soon as the database answers again", async () => {
  const id = await enqueued(sql, bidJob(by))
  let failures = 0
  await worker({ sql: failing("result =", () => ++failures <= 2) }).runOnce()
  expect(failures).toBe(3)
  expect(await jobRow(sql, id)).toMatchObject({ status: "done", result: { bid: 2 } })
  expect(platform.writes()).toHaveLength(1)
})
