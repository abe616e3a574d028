import { describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { analyzeGrown } from "../../src/database/upkeep.ts"
import { claim, readWait } from "../../src/measuring/claim.ts"
import { type Claim, endFailed, endMeasured, extend, giveBack, LeaseLost, recover } from "../../src/measuring/due.ts"
import { DUE_NAMES, isLockedBefore, type Kind } from "../../src/measuring/due-kind.ts"
import { openLane } from "../../src/measuring/pace.ts"
import { RETRY } from "../../src/measuring/rescheduling.ts"
import { someWorkspace } from "../access/registered.ts"
import { errorOf } from "../error-of.ts"
import { long } from "../long.ts"
import { countRowsRead } from "./rows-read.ts"
import { APPS, EGRESS, ITUNES, letLeaseRunOut, scene } from "./scene.ts"
import { lookUps, searches } from "./stand-in.ts"

const on = scene()
const LEASE_MS = 30_000
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const FAILED = { failure: "blocked" as const, retry: RETRY, random: 1 }

async function next(kinds: Kind[] = [searches], lane = APPS, gapMs = 0): Promise<Claim | null> {
  await openLane(on.sql, lane, gapMs)
  return (await claim(on.sql, lane, kinds, LEASE_MS)).claimed
}

const subjects = (claimed: Claim | null) => claimed?.subjects.map(({ subject }) => subject)
const set = (subject: string, what: ReturnType<Sql>) => on.sql`update due set ${what} where subject = ${subject}`
const midnight = (days: number) => Date.parse(new Date().toISOString().slice(0, 10)) + days * DAY_MS
const untilNow = async (at: Date) => {
  const [row] = await on.sql<
    { ms: number }[]
  >`select extract(epoch from ${at}::timestamptz - now())::float8 * 1000 as ms`
  return row!.ms
}

describe("a claim", () => {
  test("takes one after the other by priority, then by how long it is due", async () => {
    await on.track(["d", "c", "b", "a"])
    await set("a", on.sql`priority = 2, next_at = now() - interval '3 hours'`)
    await set("b", on.sql`priority = 1, next_at = now() - interval '1 hour'`)
    await set("c", on.sql`priority = 1, next_at = now() - interval '2 hours'`)
    await set("d", on.sql`priority = 0`)
    const order = []
    for (let i = 0; i < 5; i++) order.push(subjects(await next())?.join())
    expect(order).toEqual(["d", "c", "b", "a", undefined])
  })

  test("takes nothing before its time", async () => {
    await on.track(["tea"])
    await set("tea", on.sql`next_at = now() + interval '1 minute'`)
    expect(await next()).toBe(null)
    expect(await readWait(on.sql, APPS, [searches], 1_000)).toBe(1_000)
    await set("tea", on.sql`next_at = now() + interval '500 ms'`)
    expect(await readWait(on.sql, APPS, [searches], 1_000)).toBeWithin(1, 501)
  })

  test("uses the upstream's turn, which no process has twice, and none when nothing is due", async () => {
    expect(await next([searches], APPS, 60_000)).toBe(null)
    await on.track(["tea", "mate"])
    expect(subjects(await next([searches], APPS, 60_000))).toEqual(["mate"])
    expect(await next([searches], APPS, 60_000)).toBe(null)
    expect(await readWait(on.sql, APPS, [searches], 120_000)).toBeWithin(50_000, 60_001)
    // another address has turns of its own
    expect(subjects(await next([searches], { ...APPS, egress: "elsewhere" }, 60_000))).toEqual(["tea"])
  })

  test("takes with the first as many of its kind, platform and storefront as one request takes", async () => {
    for (let i = 0; i < 60; i++) await on.track([], { iosId: String(500_000 + i), only: null })
    await on.track([], { iosId: "600001", countries: ["de"], only: null })
    await on.track([], { iosId: "600002", countries: ["de"], only: null })
    await set("600002", on.sql`priority = 0`)
    const claims = []
    for (let i = 0; i < 4; i++) claims.push(await next([lookUps, searches], ITUNES))
    expect(claims.map((one) => one?.subjects.length)).toEqual([2, 50, 10, undefined])
    expect(subjects(claims[0]!)?.sort()).toEqual(["600001", "600002"])
    for (const { subjects } of claims.flatMap((one) => one ?? []))
      expect(new Set(subjects.map(({ kind, platform, storefront }) => kind + platform + storefront)).size).toBe(1)
  })

  test("leaves storefronts that cannot be read from here, however long they are due", async () => {
    const here = { ...searches, storefronts: ["fr", "us"] }
    await on.track(["mate", "milk"], { countries: ["de"] })
    await on.track(["tea"])
    await on.sql`update due set next_at = now() - interval '1 day' where storefront = 'de'`
    expect(subjects(await next([here]))).toEqual(["tea"])
    expect(await next([here])).toBe(null)
    expect(await next([{ ...searches, storefronts: [] }])).toBe(null)
    expect(await readWait(on.sql, APPS, [here], 1_000)).toBe(1_000)
  })

  test("of twelve at once each has subjects of its own", async () => {
    await on.track(Array.from({ length: 40 }, (_, i) => `term ${i}`))
    await openLane(on.sql, APPS, 0)
    const claimed: string[] = []
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        for (let misses = 0; misses < 20; ) {
          const one = await claim(on.sql, APPS, [searches], LEASE_MS)
          if (one.claimed) claimed.push(...(subjects(one.claimed) ?? []))
          else misses++
        }
      }),
    )
    expect(claimed).toHaveLength(40)
    expect(new Set(claimed).size).toBe(40)
  })
})

describe("a lease", () => {
  test("that another has taken over is of no use: nothing is extended, ended or given back with it", async () => {
    await on.track(["tea"])
    const zombie = (await next())!
    await letLeaseRunOut(on.sql, "tea")
    await recover(on.sql, RETRY, 0)
    const heir = (await next())!
    expect(subjects(heir)).toEqual(["tea"])
    const before = await on.due("tea")
    expect([...(await extend(on.sql, [zombie], LEASE_MS))]).toEqual([])
    expect(await errorOf(on.sql.begin((tx) => endMeasured(tx, zombie)))).toBeInstanceOf(LeaseLost)
    expect(await endFailed(on.sql, zombie, FAILED)).toBe(false)
    expect(await giveBack(on.sql, zombie, null)).toBe(false)
    expect(await on.due("tea")).toEqual(before)
    expect([...(await extend(on.sql, [heir], LEASE_MS))]).toEqual([heir.lease])
  })

  test("that ran out is not brought back, and stores nothing, even while nobody has taken over", async () => {
    await on.track(["tea"])
    const late = (await next())!
    await letLeaseRunOut(on.sql, "tea")
    expect([...(await extend(on.sql, [late], LEASE_MS))]).toEqual([])
    expect(await errorOf(on.sql.begin((tx) => endMeasured(tx, late)))).toBeInstanceOf(LeaseLost)
    expect((await on.due("tea")).measured_at).toBe(null)
  })

  test("of several subjects is lost when that of one is", async () => {
    for (const iosId of ["600001", "600002"]) await on.track([], { iosId, only: null })
    const both = (await next([lookUps], ITUNES))!
    expect(both.subjects).toHaveLength(2)
    await letLeaseRunOut(on.sql, "600002")
    expect([...(await extend(on.sql, [both], LEASE_MS))]).toEqual([])
    expect(await errorOf(on.sql.begin((tx) => endMeasured(tx, both)))).toBeInstanceOf(LeaseLost)
    expect((await on.due("600001")).measured_at).toBe(null)
  })

  test("given back is due as it was, without a failure", async () => {
    await on.track(["tea"])
    await set("tea", on.sql`next_at = now() - interval '1 hour'`)
    const before = await on.due("tea")
    expect(await giveBack(on.sql, (await next())!, null)).toBe(true)
    expect(await on.due("tea")).toEqual(before)
    expect(await giveBack(on.sql, (await next())!, 60_000)).toBe(true)
    expect(await untilNow((await on.due("tea")).next_at)).toBeWithin(50_000, 60_001)
  })
})

describe("the next time", () => {
  const measure = async (claimed: Claim | null) => on.sql.begin((tx) => endMeasured(tx, claimed!))

  test("of an app's terms is one moment within the first four hours of the next UTC day", async () => {
    await on.track(["tea", "mate", "milk"], { iosId: "600001" })
    await on.track(["other"], { iosId: "600002", countries: ["de"] })
    for (let i = 0; i < 4; i++) await measure(await next())
    const times = await Promise.all(["tea", "mate", "milk", "other"].map(async (term) => (await on.due(term)).next_at))
    expect(new Set(times.map(Number)).size).toBe(2)
    expect(new Set(times.slice(0, 3).map(Number)).size).toBe(1)
    for (const at of times) expect(at.getTime() - midnight(1)).toBeWithin(0, 4 * HOUR_MS)
  })

  test("of what is measured every so many days is that many days later", async () => {
    await on.track(["tea"])
    await measure(await next([{ ...searches, everyDays: 7 }]))
    expect((await on.due("tea")).next_at.getTime() - midnight(7)).toBeWithin(0, 4 * HOUR_MS)
  })

  test("of a reading that ended after midnight is that of the day it was claimed on", async () => {
    await on.track(["tea"])
    const claimed = (await next())!
    await set("tea", on.sql`next_at = '2025-11-19T23:59:50Z'`)
    await measure({ ...claimed, claimedAt: new Date("2025-11-19T23:59:59.900Z") })
    const at = (await on.due("tea")).next_at
    expect(at.toISOString()).toStartWith("2025-11-20T0")
  })

  test("follows the app that tracks the term longest, whoever else comes and goes", async () => {
    const first = await on.track(["tea"])
    await on.sql`update tracked_app set created_at = now() - interval '1 day' where id = ${first}`
    await measure(await next())
    const alone = (await on.due("tea")).next_at
    await on.track(["tea"])
    await on.sql`update due set next_at = now()`
    await measure(await next())
    expect((await on.due("tea")).next_at).toEqual(alone)
  })

  test("brings the priority of who tracks it now", async () => {
    const free = await someWorkspace(on.sql, { name: `free ${process.pid}`, plan: "free" })
    const app = await on.track(["tea"], { iosId: "600001" })
    await on.track(["tea"], { iosId: "600001", workspaceId: free.id })
    const classes = [(await on.due("tea")).priority]
    await on.sql`delete from tracked_app where id = ${app}`
    await measure(await next())
    classes.push((await on.due("tea")).priority)
    await on.sql`update due set next_at = now(), priority = 0, asked_until = now() + interval '1 minute'`
    await on.sql`delete from tracked_app`
    await measure(await next())
    classes.push((await on.due("tea")).priority)
    expect(classes).toEqual([1, 2, 2])
  })
})

describe("a failure", () => {
  test("waits a random part of a minute, doubled each time up to six hours, and from the eighth on for the next day", async () => {
    await on.track(["tea"])
    const waits = []
    for (let failures = 1; failures <= 9; failures++) {
      await endFailed(on.sql, (await next())!, FAILED)
      const row = await on.due("tea")
      expect(row).toMatchObject({ failures, failure: "blocked", lease: null, measured_at: null })
      if (failures < 8) waits.push(Math.round((await untilNow(row.next_at)) / 60_000))
      else expect(row.next_at.getTime() - midnight(1)).toBeWithin(0, 4 * HOUR_MS)
      await on.sql`update due set next_at = now()`
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64])
    await on.sql`update due set failures = 6`
    const retry = { baseMs: 60_000, capMs: 600_000 }
    await endFailed(on.sql, (await next())!, { ...FAILED, retry, random: 0.5 })
    expect(await untilNow((await on.due("tea")).next_at)).toBeWithin(290_000, 300_001)
  })

  test("is over with the next measurement", async () => {
    await on.track(["tea"])
    await endFailed(on.sql, (await next())!, { ...FAILED, random: 0 })
    const claimed = (await next())!
    await on.sql.begin((tx) => endMeasured(tx, claimed))
    expect(await on.due("tea")).toMatchObject({ failures: 0, failure: null, failed_at: null })
  })

  test("is also a reader that fell silent; one whose lease stands is left alone", async () => {
    await on.track(["tea", "mate"])
    await next()
    await next()
    await letLeaseRunOut(on.sql, "tea")
    expect(await recover(on.sql, RETRY, 1)).toBe(1)
    expect(await on.due("tea")).toMatchObject({ failures: 1, failure: "failed", lease: null })
    expect(await untilNow((await on.due("tea")).next_at)).toBeWithin(50_000, 60_001)
    expect(await on.due("mate")).toMatchObject({ failures: 0, lease: expect.any(String) })
  })
})

long("a claim that was planned while its tables were empty reads none of them whole when they are full", async () => {
  await on.sql`analyze`
  expect(await next()).toBe(null)
  await on.track(Array.from({ length: 1_500 }, (_, i) => `term ${i}`))
  await openLane(on.sql, APPS, 0)
  // as it is done within seconds of such a growth; a kept plan is made anew then
  await analyzeGrown(on.sql)
  const read = await countRowsRead(on.sql, null, async (tx) => {
    const { claimed } = await claim(tx as never, APPS, [searches], LEASE_MS)
    expect(subjects(claimed)).toHaveLength(1)
  })
  expect(read).toBeWithin(20, 200)
})

test("lanes are told apart by address: nothing is claimed in one that was not opened", async () => {
  await on.track(["tea"])
  await openLane(on.sql, APPS, 0)
  expect((await claim(on.sql, { ...APPS, egress: `not ${EGRESS}` }, [searches], LEASE_MS)).claimed).toBe(null)
  expect(await readWait(on.sql, { ...APPS, egress: `not ${EGRESS}` }, [searches], 1_000)).toBe(null)
})

test("rows of several kinds are locked in one named order, which is that of the table's key", async () => {
  const sorted = await on.sql<{ name: string }[]>`
    select name
    from unnest(${[...DUE_NAMES]}::text[]) name
    order by name`
  expect(sorted.map(({ name }) => name)).toEqual([...DUE_NAMES])
  expect([isLockedBefore("app", "findings"), isLockedBefore("search", "findings")]).toEqual([true, false])
})
