import { beforeAll, describe, expect, test } from "bun:test"
import { type AllowanceState, countUsedAllowances, openTakings, type Takings } from "../../src/access/allowances.ts"
import type { Caller } from "../../src/access/caller.ts"
import { ENTITLEMENTS } from "../../src/access/plans.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { long } from "../long.ts"
import { someWorkspace } from "./registered.ts"

const RIVAL = { about: "ios us 30001", days: 30 }
let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

/** A call of a workspace that may take so many spies a month. */
function call(workspaceId: number, spy = 3, over = sql): Takings {
  const caller = { workspaceId, entitlements: { ...ENTITLEMENTS.pro, spy } } as Caller
  return openTakings({ sql: over, log: silentLog, requestId: crypto.randomUUID() }, caller)
}

async function newWorkspace(): Promise<number> {
  return (await someWorkspace(sql, { name: `allowances ${crypto.randomUUID()}` })).id
}

const used = async (workspaceId: number) => (await countUsedAllowances(sql, workspaceId)).get("spy")
const about = (n: number) => ({ ...RIVAL, about: `ios us ${30_000 + n}` })
const short = ({ granted, used }: AllowanceState) => [granted, used]

test("the allowance is granted, the rest refused at no cost, and what was opened stays open", async () => {
  const workspace = await newWorkspace()
  const answers: AllowanceState[] = []
  for (let n = 0; n < 5; n++) answers.push(await call(workspace).take("spy", about(n)))
  expect(answers.map(short)).toEqual([[true, 1], [true, 2], [true, 3], [false, 3], [false, 3]]) // biome-ignore format: a list
  expect(answers[3]).toEqual({ granted: false, used: 3, limit: 3, resetsAt: expect.any(String), openUntil: null })
  expect(short(await call(workspace).take("spy", about(1)))).toEqual([true, 3])
  expect(await used(workspace)).toBe(3)
})

test("of 100 calls at once for one thing one takes a unit, and all have it open until the same moment", async () => {
  const workspace = await newWorkspace()
  const answers = await Promise.all(Array.from({ length: 100 }, () => call(workspace).take("spy", RIVAL)))
  expect(answers.map(short)).toEqual(Array.from({ length: 100 }, () => [true, 1]))
  expect(new Set(answers.map(({ openUntil }) => openUntil)).size).toBe(1)
  expect(await used(workspace)).toBe(1)
})

test("of 60 calls at once for as many things exactly as many pass as there are units", async () => {
  const workspace = await newWorkspace()
  const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => call(workspace, 7).take("spy", about(n))))
  expect(answers.filter(({ granted }) => granted).map((one) => one.used).sort()).toEqual([1, 2, 3, 4, 5, 6, 7]) // biome-ignore format: one line
  expect(await used(workspace)).toBe(7)
})

test("workspaces are apart, a lowered allowance refuses, none grants none", async () => {
  const [workspace, other] = [await newWorkspace(), await newWorkspace()]
  await call(workspace).take("spy", about(1))
  expect(short(await call(other, 0).take("spy", about(1)))).toEqual([false, 0])
  expect(short(await call(workspace, 1).take("spy", about(2)))).toEqual([false, 1])
  expect(short(await call(workspace, 1).take("spy", about(1)))).toEqual([true, 1])
  expect(await used(other)).toBe(0)
})

describe("by the database's clock", () => {
  const moved = (workspace: number, by: string) => sql`
    update allowance_unit
    set opened_at = opened_at - ${by}::interval, open_until = open_until - ${by}::interval
    where workspace_id = ${workspace}`

  test("what was opened is open for exactly 30 days: a moment before their end nothing is taken, at their end a unit", async () => {
    const workspace = await newWorkspace()
    const first = call(workspace)
    const { openUntil } = await first.take("spy", RIVAL)
    await first.keep()
    const [clock] = await sql<{ days: number }[]>`
      select extract(epoch from ${openUntil}::timestamptz - now()) / 86400 as days`
    expect(Number(clock!.days)).toBeWithin(29.99, 30.001)
    await moved(workspace, "29 days 23:59:50")
    expect(short(await call(workspace).take("spy", RIVAL))).toEqual([true, 1])
    await moved(workspace, "10 seconds")
    const again = await call(workspace).take("spy", RIVAL)
    expect(short(again)).toEqual([true, 2])
    expect(Date.parse(again.openUntil as string)).toBeGreaterThanOrEqual(Date.parse(openUntil as string))
  })

  test("units of last month do not count in this one, and what they opened is still open", async () => {
    const workspace = await newWorkspace()
    for (let n = 0; n < 3; n++) await call(workspace).take("spy", about(n))
    await sql`
      update allowance_used
      set period = (period - interval '1 month')::date
      where workspace_id = ${workspace}`
    expect(await used(workspace)).toBe(0)
    expect(short(await call(workspace).take("spy", about(0)))).toEqual([true, 0])
    expect(short(await call(workspace).take("spy", about(9)))).toEqual([true, 1])
  })

  test("the month ends at its first day's midnight UTC", async () => {
    const [clock] = await sql<{ next: Date }[]>`
      select (date_trunc('month', now() at time zone 'utc') + interval '1 month') at time zone 'utc' as next`
    expect((await call(await newWorkspace()).take("spy", RIVAL)).resetsAt).toBe(clock!.next.toISOString())
  })
})

describe("a call that failed", () => {
  test("gives back what it took, once, and the next one takes it anew", async () => {
    const workspace = await newWorkspace()
    const failed = call(workspace, 1)
    await failed.take("spy", RIVAL)
    await failed.giveBack()
    await failed.giveBack()
    expect(await used(workspace)).toBe(0)
    expect(short(await call(workspace, 1).take("spy", RIVAL))).toEqual([true, 1])
  })

  test("gives back what it was taking when it ended, and takes nothing any more", async () => {
    const workspace = await newWorkspace()
    const failed = call(workspace)
    const taking = failed.take("spy", RIVAL)
    await failed.giveBack()
    expect((await taking).granted).toBe(true)
    expect(await used(workspace)).toBe(0)
    expect(String(await errorOf(failed.take("spy", RIVAL)))).toContain("has ended")
    expect(await used(workspace)).toBe(0)
  })

  test("answered without what a unit was for, gives that one back and keeps the others; not where another call has it", async () => {
    const workspace = await newWorkspace()
    const one = call(workspace)
    await one.take("spy", about(1))
    await one.take("spy", about(2))
    await one.release("spy", about(1).about)
    await one.keep()
    expect(await used(workspace)).toBe(1)
    const [first, second] = [call(workspace), call(workspace)]
    await first.take("spy", about(3))
    await second.take("spy", about(3))
    await first.release("spy", about(3).about)
    await first.giveBack()
    expect(await used(workspace)).toBe(2)
    await second.keep()
    // what was answered for before stays, whoever finds it open later
    const later = call(workspace)
    await later.take("spy", about(3))
    await later.release("spy", about(3).about)
    expect(await used(workspace)).toBe(2)
  })

  test("gives nothing back that it found open or did not get", async () => {
    const workspace = await newWorkspace()
    await call(workspace, 1).take("spy", RIVAL)
    const failed = call(workspace, 1)
    await failed.take("spy", RIVAL)
    expect((await failed.take("spy", about(5))).granted).toBe(false)
    await failed.giveBack()
    expect(await used(workspace)).toBe(1)
    expect(short(await call(workspace, 1).take("spy", RIVAL))).toEqual([true, 1])
  })

  test("leaves open, and taken, what another call has read meanwhile", async () => {
    const workspace = await newWorkspace()
    const failed = call(workspace)
    await failed.take("spy", RIVAL)
    await call(workspace).take("spy", RIVAL)
    await failed.giveBack()
    expect(await used(workspace)).toBe(1)
    expect(short(await call(workspace).take("spy", RIVAL))).toEqual([true, 1])
    expect(await used(workspace)).toBe(1)
  })

  test("gives back a unit of which it never heard", async () => {
    const workspace = await newWorkspace()
    // the database does what it is told, and its answer is lost
    const lossy = new Proxy(sql, {
      apply(target, self, args) {
        const sent = Reflect.apply(target, self, args)
        if (!String(args[0]?.raw?.join("")).includes("from take_allowance")) return sent
        return sent.then(() => Promise.reject(new Error("the answer was lost")))
      },
    })
    const failed = call(workspace, 3, lossy)
    expect(String(await errorOf(failed.take("spy", RIVAL)))).toContain("lost")
    expect(await used(workspace)).toBe(1)
    await failed.giveBack()
    expect(await used(workspace)).toBe(0)
  })
})

test("in any order of takes and failures the count is that of what is open", async () => {
  const workspace = await newWorkspace()
  // a fixed seed
  let seed = 20_251_120
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  for (let round = 0; round < 30; round++) {
    const calls = Array.from({ length: 1 + random(6) }, () => ({
      made: call(workspace, 12),
      of: about(random(15)),
      fails: random(2) === 0,
    }))
    const answers = await Promise.all(
      calls.map(async ({ made, of, fails }) => {
        const answer = await made.take("spy", of)
        if (fails) await made.giveBack()
        return { ...answer, fails, of }
      }),
    )
    const [row] = await sql<{ units: number }[]>`
      select count(*) as units
      from allowance_unit
      where workspace_id = ${workspace} and open_until > now()`
    expect(await used(workspace)).toBe(row!.units)
    expect(row!.units).toBeLessThanOrEqual(12)
    for (const { granted, fails, of } of answers) {
      if (!granted || fails) continue
      const rows = await sql`select from allowance_unit where workspace_id = ${workspace} and subject = ${of.about}`
      expect(rows).toHaveLength(1)
    }
  }
})

describe("calls that rely on one unit", () => {
  const joined = async (failing: number, of: number) => {
    const workspace = await newWorkspace()
    const calls = Array.from({ length: of }, () => call(workspace))
    await Promise.all(calls.map((one) => one.take("spy", RIVAL)))
    await Promise.all(calls.slice(0, failing).map((one) => one.giveBack()))
    await Promise.all(calls.slice(failing).map((one) => one.keep()))
    return { workspace, used: await used(workspace) }
  }

  test("whose process died are given back after ten minutes, unless one of them was answered", async () => {
    const passes = (workspace: number) => sql`
      update allowance_unit
      set opened_at = opened_at - interval '11 minutes'
      where workspace_id = ${workspace}`
    const [dead, answered] = [await newWorkspace(), await newWorkspace()]
    for (const workspace of [dead, answered]) await call(workspace, 1).take("spy", RIVAL)
    const other = call(answered)
    await other.take("spy", RIVAL)
    await other.keep()
    expect([await used(dead), await used(answered)]).toEqual([1, 1])
    await Promise.all([passes(dead), passes(answered)])
    expect([await used(dead), await used(answered)]).toEqual([0, 1])
    expect(short(await call(dead, 1).take("spy", about(2)))).toEqual([true, 1])
    expect(short(await call(answered, 1).take("spy", about(2)))).toEqual([false, 1])
    expect([await used(dead), await used(answered)]).toEqual([1, 1])
  })

  test("leave nothing taken where all of them fail, and a unit where one does not, whichever took it", async () => {
    expect((await joined(40, 40)).used).toBe(0)
    expect((await joined(39, 40)).used).toBe(1)
    expect((await joined(0, 3)).used).toBe(1)
  })

  test("who fails ten minutes later gives nothing back of what others had", async () => {
    const { workspace } = await joined(0, 1)
    await sql`update allowance_unit set opened_at = opened_at - interval '11 minutes' where workspace_id = ${workspace}`
    const late = call(workspace)
    await late.take("spy", RIVAL)
    await late.giveBack()
    expect(await used(workspace)).toBe(1)
  })

  long("of more than 500 none gives back: what is kept of a unit does not grow for ever", async () => {
    expect((await joined(501, 501)).used).toBe(1)
  })
})
