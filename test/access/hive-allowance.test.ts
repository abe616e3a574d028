import { afterAll, beforeAll, expect, test } from "bun:test"
import { createServer } from "node:net"
import { AllowanceUnavailable, type HiveAllowance, hiveInPostgres } from "../../src/access/hive-allowance.ts"
import { type LimitsOptions, openLimits } from "../../src/access/limits/open.ts"
import { bunRedisWire } from "../../src/access/redis/bun-wire.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { upstashRest } from "../upstash-rest.ts"

const REDIS_URL = process.env.REDIS_URL ?? ""
const withRedis = test.skipIf(!REDIS_URL)
const prefix = `test-${process.pid}-${Date.now()}`
const NOON = Date.parse("2024-02-28T12:00:00Z")

let nowMs = NOON
const now = () => new Date(nowMs)
let sql: Sql
const wire = REDIS_URL ? bunRedisWire(REDIS_URL) : undefined
const rest = wire && Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: upstashRest(wire, "token") })

beforeAll(async () => {
  sql = await freshDatabase()
  while (wire && !(await open({ wire }).ping())) await Bun.sleep(20)
})
afterAll(async () => {
  await rest?.stop(true)
  wire?.close()
})

function open(options: Partial<LimitsOptions>) {
  return openLimits({ sql, log: silentLog, prefix, now, ...options })
}

/** A store, and how a test moves it to the next day: with a mocked clock, or by making today's rows older. */
type Store = [name: string, test: typeof withRedis, hive: () => HiveAllowance, nextDay: () => Promise<void>]
const passDay = async () => {
  nowMs += 86_400_000
}
const upstash = () => ({ url: `http://127.0.0.1:${rest!.port}`, token: "token" })
const stores: Store[] = [
  ["database", test, () => open({}).hive, todayPasses],
  ["redis: wire", withRedis, () => open({ wire: wire! }).hive, passDay],
  ["redis: upstash", withRedis, () => open({ upstash: upstash() }).hive, passDay],
]

for (const [name, check, opened, nextDay] of stores) {
  check(`${name}: calls beyond the daily allowance are refused until midnight`, async () => {
    const hive = opened()
    const workspace = await someWorkspace()
    for (let day = 0; day < 3; day++) {
      expect(await hive.used(workspace)).toBe(0)
      const answers = []
      for (let call = 0; call < 4; call++) answers.push(await hive.take(workspace, 2))
      expect(answers.map(({ allowed, used }) => [allowed, used])).toEqual([
        [true, 1],
        [true, 2],
        [false, 2],
        [false, 2],
      ])
      expect(await hive.used(workspace)).toBe(2)
      await nextDay()
    }
  })

  check(`${name}: exactly 5 of 25 concurrent calls are granted when 5 calls are left`, async () => {
    const hive = opened()
    const workspace = await someWorkspace()
    await Promise.all(Array.from({ length: 15 }, () => hive.take(workspace, 20)))
    const answers = await Promise.all(Array.from({ length: 25 }, () => hive.take(workspace, 20)))
    expect(answers.filter((answer) => answer.allowed).map((answer) => answer.used)).toBeArrayOfSize(5)
    expect(new Set(answers.filter((answer) => !answer.allowed).map((answer) => answer.used))).toEqual(new Set([20]))
    expect(await hive.used(workspace)).toBe(20)
  })

  check(`${name}: a lowered allowance refuses the next call, and a raised allowance grants it`, async () => {
    const hive = opened()
    const [workspace, other] = [await someWorkspace(), await someWorkspace()]
    for (let call = 0; call < 5; call++) await hive.take(workspace, 5)
    expect(await hive.take(workspace, 3)).toMatchObject({ allowed: false, used: 5 })
    expect(await hive.take(workspace, 6)).toMatchObject({ allowed: true, used: 6 })
    expect(await hive.take(other, 0)).toMatchObject({ allowed: false, used: 0 })
    expect(await hive.used(other)).toBe(0)
    for (const perDay of [Number.NaN, -1, 0.5]) {
      expect(await problem(hive.take(other, perDay))).toBeInstanceOf(RangeError)
    }
  })

  check(`${name}: the allowance resets at the next 00:00 UTC`, async () => {
    const workspace = await someWorkspace()
    const clock = () => (name === "database" ? Date.now() : nowMs)
    const midnight = () => new Date(Math.floor(clock() / 86_400_000 + 1) * 86_400_000).toISOString()
    const before = midnight()
    const { resetsAt } = await opened().take(workspace, 1)
    expect([before, midnight()]).toContain(resetsAt)
  })
}

withRedis(
  "redis: wire: the allowance resets between 23:59:59.999 and 00:00:00.000 UTC, also on a leap day",
  async () => {
    const { hive } = open({ wire: wire! })
    const workspace = await someWorkspace()
    const states = []
    for (const time of [
      "2024-02-28T23:59:59.999Z",
      "2024-02-29T00:00:00.000Z",
      "2024-02-29T23:59:59.999Z",
      "2024-03-01",
    ]) {
      nowMs = Date.parse(time)
      states.push(await hive.take(workspace, 1))
    }
    nowMs = NOON
    expect(states).toEqual([
      { allowed: true, used: 1, resetsAt: "2024-02-29T00:00:00.000Z" },
      { allowed: true, used: 1, resetsAt: "2024-03-01T00:00:00.000Z" },
      { allowed: false, used: 1, resetsAt: "2024-03-01T00:00:00.000Z" },
      { allowed: true, used: 1, resetsAt: "2024-03-02T00:00:00.000Z" },
    ])
  },
)

slow("a call fails within a second and is not granted while Redis is down or silent", async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
  const { port } = silent.address() as { port: number }
  const dead = bunRedisWire("redis://127.0.0.1:1")
  const mute = { send: () => new Promise(() => {}), close() {} }
  const failing = [
    open({ wire: dead }),
    open({ wire: mute }),
    open({ upstash: { url: "http://127.0.0.1:1", token: "t" } }),
    open({ upstash: { url: `http://127.0.0.1:${port}`, token: "t" } }),
  ]
  const startedAt = performance.now()
  const problems = await Promise.all(failing.flatMap(({ hive }) => [problem(hive.take(1, 500)), problem(hive.used(1))]))
  for (const error of problems) expect(error).toBeInstanceOf(AllowanceUnavailable)
  expect(performance.now() - startedAt).toBeLessThan(1_300)
  dead.close()
  silent.close()
})

test("a malformed response of Redis grants no call", async () => {
  for (const reply of [null, "OK", 1, [], [1], ["x", "y"], [1, null], { allowed: 1 }]) {
    const { hive } = open({ wire: { send: async () => reply, close() {} } })
    expect(await problem(hive.take(1, 500))).toBeInstanceOf(AllowanceUnavailable)
  }
})

test("concurrent calls share SQL statements, and each workspace's calls are counted separately", async () => {
  const [first, second] = [await someWorkspace(), await someWorkspace()]
  let statements = 0
  const counted = new Proxy(sql, {
    apply(target, self, args) {
      if (String(args[0]?.raw?.join("")).includes("take_allowance(")) statements++
      return Reflect.apply(target, self, args)
    },
  })
  const { hive } = open({ sql: counted })
  const calls = Array.from({ length: 120 }, (_, i) => hive.take(i % 3 ? first : second, 50))
  const answers = await Promise.all(calls)
  expect(statements).toBeLessThan(12)
  const counts = (isFirst: boolean) =>
    answers.filter(({ allowed }, i) => allowed && i % 3 > 0 === isFirst).map(({ used }) => used)
  const upTo = (max: number) => Array.from({ length: max }, (_, i) => i + 1)
  expect(counts(true).sort((a, b) => a - b)).toEqual(upTo(50))
  expect(counts(false).sort((a, b) => a - b)).toEqual(upTo(40))
  // The plan changed meanwhile: each call uses the limit that it came with.
  const mixed = await Promise.all([51, 50, 53, 50, 52, 53].map((perDay) => hive.take(first, perDay)))
  expect(mixed.map(({ allowed }) => allowed)).toEqual([true, false, true, false, expect.any(Boolean), true])
  expect(await hive.used(first)).toBe(53)
})

test("a call for a deleted workspace fails, and the other calls in the same SQL statement are counted", async () => {
  const { hive } = open({})
  const workspace = await someWorkspace()
  const outcomes = await Promise.all(
    [workspace, 2_000_000_000, workspace, workspace].map((id) =>
      hive.take(id, 9).then(
        ({ allowed }) => allowed,
        (error) => error.constructor,
      ),
    ),
  )
  expect(outcomes).toEqual([true, AllowanceUnavailable, true, true])
  expect(await hive.used(workspace)).toBe(3)
})

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: two concurrent queues count exactly, and a locked workspace does not delay other workspaces",
  async () => {
    const workspaces = await Promise.all(Array.from({ length: 8 }, someWorkspace))
    const [first, second] = [open({}).hive, open({}).hive]
    const calls = Array.from({ length: 640 }, (_, i) => (i % 3 ? first : second).take(workspaces[i % 8]!, 37))
    const answers = await Promise.all(calls)
    for (const [at, workspace] of workspaces.entries()) {
      const usedCounts = answers.filter(({ allowed }, i) => allowed && i % 8 === at).map(({ used }) => used)
      expect(usedCounts.sort((a, b) => a - b)).toEqual(Array.from({ length: 37 }, (_, i) => i + 1))
      expect(await first.used(workspace)).toBe(37)
    }
    const [contended, free] = workspaces as [number, number]
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>()
    const holder = sql.begin(async (tx) => {
      await hiveInPostgres(tx as unknown as Sql).take(contended, 40)
      lock()
      await released
    })
    await locked
    let waiting = true
    const stuck = first.take(contended, 40).finally(() => {
      waiting = false
    })
    expect(await Promise.all([first.take(free, 40), first.take(free, 40)])).toMatchObject([{ used: 38 }, { used: 39 }])
    expect(waiting).toBe(true)
    release()
    await holder
    // The transaction that held the lock also took a unit.
    expect(await stuck).toMatchObject({ allowed: true, used: 39 })
  },
)

test("a call is not granted if the database fails", async () => {
  const { hive } = open({})
  const error = await problem(hive.take(2_000_000_000, 500))
  expect(error).toBeInstanceOf(AllowanceUnavailable)
  expect((error as Error).message).not.toContain("allowance_used")
  const refusing = (() => Promise.reject(new Error("CONNECTION_CLOSED"))) as unknown as Sql
  expect(await problem(open({ sql: refusing }).hive.take(1, 500))).toBeInstanceOf(AllowanceUnavailable)
  expect(await problem(open({ sql: refusing }).hive.used(1))).toBeInstanceOf(AllowanceUnavailable)
})

async function someWorkspace(): Promise<number> {
  const name = `w-${crypto.randomUUID()}`
  const [row] = await sql<{ id: number }[]>`
    insert into workspace (name, plan)
    values (${name}, 'pro')
    returning id`
  return row!.id
}

let nights = 0
async function todayPasses(): Promise<void> {
  nights += 1
  await sql`
    update allowance_used
    set period = period - ${nights}::int
    where allowance = 'hive' and period = (now() at time zone 'utc')::date`
}

function problem(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => undefined,
    (error) => error,
  )
}
