import { beforeAll, describe, expect, test } from "bun:test"
import { type AllowanceState, countUsedAllowances, openTakings, type Takings } from "../../src/access/allowances.ts"
import type { Caller } from "../../src/access/caller.ts"
import { ENTITLEMENTS } from "../../src/access/plans.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { long, slow } from "../long.ts"
import { someWorkspace } from "./registered.ts"

const RIVAL = { about: "ios us 30001", days: 30 }
let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

/** Opens the allowances of a call. The workspace has `spy` keyword spies a month. */
function call(workspaceId: number, spy = 3, database = sql): Takings {
  const caller = { workspaceId, entitlements: { ...ENTITLEMENTS.pro, spy } } as Caller
  return openTakings({ sql: database, log: silentLog, requestId: crypto.randomUUID() }, caller)
}

async function newWorkspace(): Promise<number> {
  return (await someWorkspace(sql, { name: `allowances ${crypto.randomUUID()}` })).id
}

const countUsed = async (workspaceId: number) => (await countUsedAllowances(sql, workspaceId)).get("spy")
const rivalOf = (n: number) => ({ ...RIVAL, about: `ios us ${30_000 + n}` })
const short = ({ granted, used }: AllowanceState) => [granted, used]

test("a new app beyond the monthly allowance is refused, and apps opened earlier stay open", async () => {
  const workspace = await newWorkspace()
  const answers: AllowanceState[] = []
  for (let n = 0; n < 5; n++) answers.push(await call(workspace).take("spy", rivalOf(n)))
  expect(answers.map(short)).toEqual([
    [true, 1],
    [true, 2],
    [true, 3],
    [false, 3],
    [false, 3],
  ])
  expect(answers[3]).toEqual({ granted: false, used: 3, limit: 3, resetsAt: expect.any(String), openUntil: null })
  expect(short(await call(workspace).take("spy", rivalOf(1)))).toEqual([true, 3])
  expect(await countUsed(workspace)).toBe(3)
})

test("100 concurrent calls for the same app use one unit and get the same end time", async () => {
  const workspace = await newWorkspace()
  const answers = await Promise.all(Array.from({ length: 100 }, () => call(workspace).take("spy", RIVAL)))
  expect(answers.map(short)).toEqual(Array.from({ length: 100 }, () => [true, 1]))
  expect(new Set(answers.map(({ openUntil }) => openUntil)).size).toBe(1)
  expect(await countUsed(workspace)).toBe(1)
})

test("an allowance of 7 grants exactly 7 of 60 concurrent calls for different apps", async () => {
  const workspace = await newWorkspace()
  const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => call(workspace, 7).take("spy", rivalOf(n))))
  expect(
    answers
      .filter(({ granted }) => granted)
      .map((answer) => answer.used)
      .sort(),
  ).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(await countUsed(workspace)).toBe(7)
})

test("a lowered allowance refuses a new app, and each workspace has its own count", async () => {
  const [workspace, other] = [await newWorkspace(), await newWorkspace()]
  await call(workspace).take("spy", rivalOf(1))
  expect(short(await call(other, 0).take("spy", rivalOf(1)))).toEqual([false, 0])
  expect(short(await call(workspace, 1).take("spy", rivalOf(2)))).toEqual([false, 1])
  expect(short(await call(workspace, 1).take("spy", rivalOf(1)))).toEqual([true, 1])
  expect(await countUsed(other)).toBe(0)
})

describe("periods by the database's clock", () => {
  const moveBack = (workspace: number, interval: string) => sql`
    update allowance_unit
    set opened_at = opened_at - ${interval}::interval, open_until = open_until - ${interval}::interval
    where workspace_id = ${workspace}`

  test("an opened app stays open for exactly 30 days, and calls in that time use no further unit", async () => {
    const workspace = await newWorkspace()
    const first = call(workspace)
    const { openUntil } = await first.take("spy", RIVAL)
    await first.keep()
    const [clock] = await sql<{ days: number }[]>`
      select extract(epoch from ${openUntil}::timestamptz - now()) / 86400 as days`
    expect(Number(clock!.days)).toBeWithin(29.99, 30.001)
    await moveBack(workspace, "29 days 23:59:50")
    expect(short(await call(workspace).take("spy", RIVAL))).toEqual([true, 1])
    await moveBack(workspace, "10 seconds")
    const renewed = await call(workspace).take("spy", RIVAL)
    expect(short(renewed)).toEqual([true, 2])
    expect(Date.parse(renewed.openUntil as string)).toBeGreaterThanOrEqual(Date.parse(openUntil as string))
  })

  test("apps opened last month stay open and do not count towards this month's allowance", async () => {
    const workspace = await newWorkspace()
    for (let n = 0; n < 3; n++) await call(workspace).take("spy", rivalOf(n))
    await sql`
      update allowance_used
      set period = (period - interval '1 month')::date
      where workspace_id = ${workspace}`
    expect(await countUsed(workspace)).toBe(0)
    expect(short(await call(workspace).take("spy", rivalOf(0)))).toEqual([true, 0])
    expect(short(await call(workspace).take("spy", rivalOf(9)))).toEqual([true, 1])
  })

  test("the allowance resets at 00:00 UTC on the first day of the next month", async () => {
    const [clock] = await sql<{ next: Date }[]>`
      select (date_trunc('month', now() at time zone 'utc') + interval '1 month') at time zone 'utc' as next`
    expect((await call(await newWorkspace()).take("spy", RIVAL)).resetsAt).toBe(clock!.next.toISOString())
  })
})

describe("failed calls", () => {
  test("a failed call returns its unit only once, and the next call can use the unit", async () => {
    const workspace = await newWorkspace()
    const failed = call(workspace, 1)
    await failed.take("spy", RIVAL)
    await failed.giveBack()
    await failed.giveBack()
    expect(await countUsed(workspace)).toBe(0)
    expect(short(await call(workspace, 1).take("spy", RIVAL))).toEqual([true, 1])
  })

  test("a call that fails while taking a unit returns the unit and cannot take a new unit", async () => {
    const workspace = await newWorkspace()
    const failed = call(workspace)
    const pending = failed.take("spy", RIVAL)
    await failed.giveBack()
    expect((await pending).granted).toBe(true)
    expect(await countUsed(workspace)).toBe(0)
    expect(String(await errorOf(failed.take("spy", RIVAL)))).toContain("has ended")
    expect(await countUsed(workspace)).toBe(0)
  })

  test("a call that releases an unused unit returns it unless another call uses the same unit", async () => {
    const workspace = await newWorkspace()
    const attempt = call(workspace)
    await attempt.take("spy", rivalOf(1))
    await attempt.take("spy", rivalOf(2))
    await attempt.release("spy", rivalOf(1).about)
    await attempt.keep()
    expect(await countUsed(workspace)).toBe(1)
    const [first, second] = [call(workspace), call(workspace)]
    await first.take("spy", rivalOf(3))
    await second.take("spy", rivalOf(3))
    await first.release("spy", rivalOf(3).about)
    await first.giveBack()
    expect(await countUsed(workspace)).toBe(2)
    await second.keep()
    // The unit of an answered call stays taken, even if a later call releases the subject.
    const later = call(workspace)
    await later.take("spy", rivalOf(3))
    await later.release("spy", rivalOf(3).about)
    expect(await countUsed(workspace)).toBe(2)
  })

  test("a failed call returns no unit for an app that was already open or was refused", async () => {
    const workspace = await newWorkspace()
    await call(workspace, 1).take("spy", RIVAL)
    const failed = call(workspace, 1)
    await failed.take("spy", RIVAL)
    expect((await failed.take("spy", rivalOf(5))).granted).toBe(false)
    await failed.giveBack()
    expect(await countUsed(workspace)).toBe(1)
    expect(short(await call(workspace, 1).take("spy", RIVAL))).toEqual([true, 1])
  })

  test("a failed call does not return its unit if another call has read the same app meanwhile", async () => {
    const workspace = await newWorkspace()
    const failed = call(workspace)
    await failed.take("spy", RIVAL)
    await call(workspace).take("spy", RIVAL)
    await failed.giveBack()
    expect(await countUsed(workspace)).toBe(1)
    expect(short(await call(workspace).take("spy", RIVAL))).toEqual([true, 1])
    expect(await countUsed(workspace)).toBe(1)
  })

  test("a failed call returns its unit even if the database took the unit but its response was lost", async () => {
    const workspace = await newWorkspace()
    // The database runs the statement, but its response is lost.
    const lossy = new Proxy(sql, {
      apply(target, self, args) {
        const sent = Reflect.apply(target, self, args)
        if (!String(args[0]?.raw?.join("")).includes("from take_allowance")) return sent
        return sent.then(() => Promise.reject(new Error("the answer was lost")))
      },
    })
    const failed = call(workspace, 3, lossy)
    expect(String(await errorOf(failed.take("spy", RIVAL)))).toContain("lost")
    expect(await countUsed(workspace)).toBe(1)
    await failed.giveBack()
    expect(await countUsed(workspace)).toBe(0)
  })
})

slow("after random calls and failures the count of used units equals the number of open apps", async () => {
  const workspace = await newWorkspace()
  // Random numbers with a fixed seed.
  let seed = 20_251_120
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  for (let round = 0; round < 30; round++) {
    const calls = Array.from({ length: 1 + random(6) }, () => ({
      attempt: call(workspace, 12),
      rival: rivalOf(random(15)),
      fails: random(2) === 0,
    }))
    const answers = await Promise.all(
      calls.map(async ({ attempt, rival, fails }) => {
        const answer = await attempt.take("spy", rival)
        if (fails) await attempt.giveBack()
        return { ...answer, fails, rival }
      }),
    )
    const [row] = await sql<{ units: number }[]>`
      select count(*) as units
      from allowance_unit
      where workspace_id = ${workspace} and open_until > now()`
    expect(await countUsed(workspace)).toBe(row!.units)
    expect(row!.units).toBeLessThanOrEqual(12)
    for (const { granted, fails, rival } of answers) {
      if (!granted || fails) continue
      const rows = await sql`select from allowance_unit where workspace_id = ${workspace} and subject = ${rival.about}`
      expect(rows).toHaveLength(1)
    }
  }
})

describe("calls that share a unit", () => {
  const failSome = async (failing: number, count: number) => {
    const workspace = await newWorkspace()
    const calls = Array.from({ length: count }, () => call(workspace))
    await Promise.all(calls.map((attempt) => attempt.take("spy", RIVAL)))
    await Promise.all(calls.slice(0, failing).map((attempt) => attempt.giveBack()))
    await Promise.all(calls.slice(failing).map((attempt) => attempt.keep()))
    return { workspace, used: await countUsed(workspace) }
  }

  test("a crashed process's unit is returned after ten minutes unless another call for the app succeeded", async () => {
    const passes = (workspace: number) => sql`
      update allowance_unit
      set opened_at = opened_at - interval '11 minutes'
      where workspace_id = ${workspace}`
    const [dead, answered] = [await newWorkspace(), await newWorkspace()]
    for (const workspace of [dead, answered]) await call(workspace, 1).take("spy", RIVAL)
    const other = call(answered)
    await other.take("spy", RIVAL)
    await other.keep()
    expect([await countUsed(dead), await countUsed(answered)]).toEqual([1, 1])
    await Promise.all([passes(dead), passes(answered)])
    expect([await countUsed(dead), await countUsed(answered)]).toEqual([0, 1])
    expect(short(await call(dead, 1).take("spy", rivalOf(2)))).toEqual([true, 1])
    expect(short(await call(answered, 1).take("spy", rivalOf(2)))).toEqual([false, 1])
    expect([await countUsed(dead), await countUsed(answered)]).toEqual([1, 1])
  })

  slow("a unit that several calls share is returned only if all of the calls fail", async () => {
    expect((await failSome(40, 40)).used).toBe(0)
    expect((await failSome(39, 40)).used).toBe(1)
    expect((await failSome(0, 3)).used).toBe(1)
  })

  test("a failed call does not return a unit that an earlier call used more than ten minutes ago", async () => {
    const { workspace } = await failSome(0, 1)
    await sql`update allowance_unit set opened_at = opened_at - interval '11 minutes' where workspace_id = ${workspace}`
    const lateCall = call(workspace)
    await lateCall.take("spy", RIVAL)
    await lateCall.giveBack()
    expect(await countUsed(workspace)).toBe(1)
  })

  long("a unit that more than 500 calls share is not returned even if all of the calls fail", async () => {
    expect((await failSome(501, 501)).used).toBe(1)
  })
})
