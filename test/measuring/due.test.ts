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
import { long, slow } from "../long.ts"
import { countRowsRead } from "./rows-read.ts"
import { APPS, EGRESS, ITUNES, letLeaseRunOut, prepareScene } from "./scene.ts"
import { lookUps, searches } from "./stand-in.ts"

const scene = prepareScene()
const LEASE_MS = 30_000
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const FAILED = { failure: "blocked" as const, retry: RETRY, random: 1 }

async function next(kinds: Kind[] = [searches], lane = APPS, gapMs = 0): Promise<Claim | null> {
  await openLane(scene.sql, lane, gapMs)
  return (await claim(scene.sql, lane, kinds, LEASE_MS)).claimed
}

const subjects = (claimed: Claim | null) => claimed?.subjects.map(({ subject }) => subject)
const set = (subject: string, what: ReturnType<Sql>) => scene.sql`update due set ${what} where subject = ${subject}`
const midnight = (days: number) => Date.parse(new Date().toISOString().slice(0, 10)) + days * DAY_MS
const untilNow = async (at: Date) => {
  const [row] = await scene.sql<
    { ms: number }[]
  >`select extract(epoch from ${at}::timestamptz - now())::float8 * 1000 as ms`
  return row!.ms
}

describe("a claim", () => {
  test("rows are claimed in the order of their priority, then of their due time", async () => {
    await scene.track(["d", "c", "b", "a"])
    await set("a", scene.sql`priority = 2, next_at = now() - interval '3 hours'`)
    await set("b", scene.sql`priority = 1, next_at = now() - interval '1 hour'`)
    await set("c", scene.sql`priority = 1, next_at = now() - interval '2 hours'`)
    await set("d", scene.sql`priority = 0`)
    const order = []
    for (let i = 0; i < 5; i++) order.push(subjects(await next())?.join())
    expect(order).toEqual(["d", "c", "b", "a", undefined])
  })

  test("a claim takes no row before it is due", async () => {
    await scene.track(["tea"])
    await set("tea", scene.sql`next_at = now() + interval '1 minute'`)
    expect(await next()).toBe(null)
    expect(await readWait(scene.sql, APPS, [searches], 1_000)).toBe(1_000)
    await set("tea", scene.sql`next_at = now() + interval '500 ms'`)
    expect(await readWait(scene.sql, APPS, [searches], 1_000)).toBeWithin(1, 501)
  })

  test("a claim uses the upstream's next request slot, and a claim that finds nothing due uses no slot", async () => {
    expect(await next([searches], APPS, 60_000)).toBe(null)
    await scene.track(["tea", "mate"])
    expect(subjects(await next([searches], APPS, 60_000))).toEqual(["mate"])
    expect(await next([searches], APPS, 60_000)).toBe(null)
    expect(await readWait(scene.sql, APPS, [searches], 120_000)).toBeWithin(50_000, 60_001)
    // another address has its own turns
    expect(subjects(await next([searches], { ...APPS, egress: "elsewhere" }, 60_000))).toEqual(["tea"])
  })

  slow("a claim takes as many rows of one kind, platform and storefront as fit into one request", async () => {
    for (let i = 0; i < 60; i++) await scene.track([], { iosId: String(500_000 + i), only: null })
    await scene.track([], { iosId: "600001", countries: ["de"], only: null })
    await scene.track([], { iosId: "600002", countries: ["de"], only: null })
    await set("600002", scene.sql`priority = 0`)
    const claims = []
    for (let i = 0; i < 4; i++) claims.push(await next([lookUps, searches], ITUNES))
    expect(claims.map((claimed) => claimed?.subjects.length)).toEqual([2, 50, 10, undefined])
    expect(subjects(claims[0]!)?.sort()).toEqual(["600001", "600002"])
    for (const { subjects } of claims.flatMap((claimed) => claimed ?? []))
      expect(new Set(subjects.map(({ kind, platform, storefront }) => kind + platform + storefront)).size).toBe(1)
  })

  test("a claim skips rows of storefronts that this process cannot read, however long they have been due", async () => {
    const french = { ...searches, storefronts: ["fr", "us"] }
    await scene.track(["mate", "milk"], { countries: ["de"] })
    await scene.track(["tea"])
    await scene.sql`update due set next_at = now() - interval '1 day' where storefront = 'de'`
    expect(subjects(await next([french]))).toEqual(["tea"])
    expect(await next([french])).toBe(null)
    expect(await next([{ ...searches, storefronts: [] }])).toBe(null)
    expect(await readWait(scene.sql, APPS, [french], 1_000)).toBe(1_000)
  })

  slow("no two of twelve concurrent claims take the same row", async () => {
    await scene.track(Array.from({ length: 40 }, (_, i) => `term ${i}`))
    await openLane(scene.sql, APPS, 0)
    const claimed: string[] = []
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        for (let misses = 0; misses < 20; ) {
          const claimResult = await claim(scene.sql, APPS, [searches], LEASE_MS)
          if (claimResult.claimed) claimed.push(...(subjects(claimResult.claimed) ?? []))
          else misses++
        }
      }),
    )
    expect(claimed).toHaveLength(40)
    expect(new Set(claimed).size).toBe(40)
  })
})

describe("a lease", () => {
  test("a worker whose expired lease was taken over by another process cannot change the row", async () => {
    await scene.track(["tea"])
    const zombie = (await next())!
    await letLeaseRunOut(scene.sql, "tea")
    await recover(scene.sql, RETRY, 0)
    const heir = (await next())!
    expect(subjects(heir)).toEqual(["tea"])
    const before = await scene.due("tea")
    expect([...(await extend(scene.sql, [zombie], LEASE_MS))]).toEqual([])
    expect(await errorOf(scene.sql.begin((tx) => endMeasured(tx, zombie)))).toBeInstanceOf(LeaseLost)
    expect(await endFailed(scene.sql, zombie, FAILED)).toBe(false)
    expect(await giveBack(scene.sql, zombie, null)).toBe(false)
    expect(await scene.due("tea")).toEqual(before)
    expect([...(await extend(scene.sql, [heir], LEASE_MS))]).toEqual([heir.lease])
  })

  test("an expired lease cannot be extended or used to store a reading, even if nobody took it over", async () => {
    await scene.track(["tea"])
    const late = (await next())!
    await letLeaseRunOut(scene.sql, "tea")
    expect([...(await extend(scene.sql, [late], LEASE_MS))]).toEqual([])
    expect(await errorOf(scene.sql.begin((tx) => endMeasured(tx, late)))).toBeInstanceOf(LeaseLost)
    expect((await scene.due("tea")).measured_at).toBe(null)
  })

  test("a lease of several rows is lost if one of the rows is lost", async () => {
    for (const iosId of ["600001", "600002"]) await scene.track([], { iosId, only: null })
    const claimed = (await next([lookUps], ITUNES))!
    expect(claimed.subjects).toHaveLength(2)
    await letLeaseRunOut(scene.sql, "600002")
    expect([...(await extend(scene.sql, [claimed], LEASE_MS))]).toEqual([])
    expect(await errorOf(scene.sql.begin((tx) => endMeasured(tx, claimed)))).toBeInstanceOf(LeaseLost)
    expect((await scene.due("600001")).measured_at).toBe(null)
  })

  test("rows of a returned lease are due as before, without a failure", async () => {
    await scene.track(["tea"])
    await set("tea", scene.sql`next_at = now() - interval '1 hour'`)
    const before = await scene.due("tea")
    expect(await giveBack(scene.sql, (await next())!, null)).toBe(true)
    expect(await scene.due("tea")).toEqual(before)
    expect(await giveBack(scene.sql, (await next())!, 60_000)).toBe(true)
    expect(await untilNow((await scene.due("tea")).next_at)).toBeWithin(50_000, 60_001)
  })
})

describe("the next due time", () => {
  const measure = async (claimed: Claim | null) => scene.sql.begin((tx) => endMeasured(tx, claimed!))

  test("all terms of an app are next due at one time in the first four hours of the next UTC day", async () => {
    await scene.track(["tea", "mate", "milk"], { iosId: "600001" })
    await scene.track(["other"], { iosId: "600002", countries: ["de"] })
    for (let i = 0; i < 4; i++) await measure(await next())
    const times = await Promise.all(
      ["tea", "mate", "milk", "other"].map(async (term) => (await scene.due(term)).next_at),
    )
    expect(new Set(times.map(Number)).size).toBe(2)
    expect(new Set(times.slice(0, 3).map(Number)).size).toBe(1)
    for (const at of times) expect(at.getTime() - midnight(1)).toBeWithin(0, 4 * HOUR_MS)
  })

  test("a kind measured every few days is next due that many days later", async () => {
    await scene.track(["tea"])
    await measure(await next([{ ...searches, everyDays: 7 }]))
    expect((await scene.due("tea")).next_at.getTime() - midnight(7)).toBeWithin(0, 4 * HOUR_MS)
  })

  test("the next due time of a reading that ended after midnight is counted from the day of its claim", async () => {
    await scene.track(["tea"])
    const claimed = (await next())!
    await set("tea", scene.sql`next_at = '2025-11-19T23:59:50Z'`)
    await measure({ ...claimed, claimedAt: new Date("2025-11-19T23:59:59.900Z") })
    const at = (await scene.due("tea")).next_at
    expect(at.toISOString()).toStartWith("2025-11-20T0")
  })

  test("the time of day of a term's readings depends only on the app that has tracked the term longest", async () => {
    const first = await scene.track(["tea"])
    await scene.sql`update tracked_app set created_at = now() - interval '1 day' where id = ${first}`
    await measure(await next())
    const nextAt = (await scene.due("tea")).next_at
    await scene.track(["tea"])
    await scene.sql`update due set next_at = now()`
    await measure(await next())
    expect((await scene.due("tea")).next_at).toEqual(nextAt)
  })

  test("a measured row gets the priority of the workspaces that track its subject now", async () => {
    const free = await someWorkspace(scene.sql, { name: `free ${process.pid}`, plan: "free" })
    const app = await scene.track(["tea"], { iosId: "600001" })
    await scene.track(["tea"], { iosId: "600001", workspaceId: free.id })
    const classes = [(await scene.due("tea")).priority]
    await scene.sql`delete from tracked_app where id = ${app}`
    await measure(await next())
    classes.push((await scene.due("tea")).priority)
    await scene.sql`update due set next_at = now(), priority = 0, asked_until = now() + interval '1 minute'`
    await scene.sql`delete from tracked_app`
    await measure(await next())
    classes.push((await scene.due("tea")).priority)
    expect(classes).toEqual([1, 2, 2])
  })
})

describe("a failure", () => {
  test("the delay after a failure doubles from a minute up to a cap; after eight failures it is a day", async () => {
    await scene.track(["tea"])
    const waits = []
    for (let failures = 1; failures <= 9; failures++) {
      await endFailed(scene.sql, (await next())!, FAILED)
      const row = await scene.due("tea")
      expect(row).toMatchObject({ failures, failure: "blocked", lease: null, measured_at: null })
      if (failures < 8) waits.push(Math.round((await untilNow(row.next_at)) / 60_000))
      else expect(row.next_at.getTime() - midnight(1)).toBeWithin(0, 4 * HOUR_MS)
      await scene.sql`update due set next_at = now()`
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64])
    await scene.sql`update due set failures = 6`
    const retry = { baseMs: 60_000, capMs: 600_000 }
    await endFailed(scene.sql, (await next())!, { ...FAILED, retry, random: 0.5 })
    expect(await untilNow((await scene.due("tea")).next_at)).toBeWithin(290_000, 300_001)
  })

  test("a failure count is reset by the next measurement", async () => {
    await scene.track(["tea"])
    await endFailed(scene.sql, (await next())!, { ...FAILED, random: 0 })
    const claimed = (await next())!
    await scene.sql.begin((tx) => endMeasured(tx, claimed))
    expect(await scene.due("tea")).toMatchObject({ failures: 0, failure: null, failed_at: null })
  })

  test("an expired lease counts as a failure of its row, and a valid lease stays", async () => {
    await scene.track(["tea", "mate"])
    await next()
    await next()
    await letLeaseRunOut(scene.sql, "tea")
    expect(await recover(scene.sql, RETRY, 1)).toBe(1)
    expect(await scene.due("tea")).toMatchObject({ failures: 1, failure: "failed", lease: null })
    expect(await untilNow((await scene.due("tea")).next_at)).toBeWithin(50_000, 60_001)
    expect(await scene.due("mate")).toMatchObject({ failures: 0, lease: expect.any(String) })
  })
})

long("a claim that was first run on empty tables reads at most 200 rows once the tables are full", async () => {
  await scene.sql`analyze`
  expect(await next()).toBe(null)
  await scene.track(Array.from({ length: 1_500 }, (_, i) => `term ${i}`))
  await openLane(scene.sql, APPS, 0)
  // upkeep runs ANALYZE within seconds after a table has grown this much, and cached plans are then discarded
  await analyzeGrown(scene.sql)
  const read = await countRowsRead(scene.sql, null, async (tx) => {
    const { claimed } = await claim(tx as never, APPS, [searches], LEASE_MS)
    expect(subjects(claimed)).toHaveLength(1)
  })
  expect(read).toBeWithin(20, 200)
})

test("an egress address claims no rows of an upstream that only another egress address has opened", async () => {
  await scene.track(["tea"])
  await openLane(scene.sql, APPS, 0)
  expect((await claim(scene.sql, { ...APPS, egress: `not ${EGRESS}` }, [searches], LEASE_MS)).claimed).toBe(null)
  expect(await readWait(scene.sql, { ...APPS, egress: `not ${EGRESS}` }, [searches], 1_000)).toBe(null)
})

test("rows of several kinds are locked in the order of the table's key", async () => {
  const sorted = await scene.sql<{ name: string }[]>`
    select name
    from unnest(${[...DUE_NAMES]}::text[]) name
    order by name`
  expect(sorted.map(({ name }) => name)).toEqual([...DUE_NAMES])
  expect([isLockedBefore("app", "findings"), isLockedBefore("search", "findings")]).toEqual([true, false])
})
