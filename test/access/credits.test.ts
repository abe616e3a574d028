import { beforeAll, describe, expect, test } from "bun:test"
import type { Caller } from "../../src/access/caller.ts"
import {
  type ChargeCall,
  cannotPay,
  charge,
  createChargeCall,
  creditHeaders,
  type Due,
  readCredits,
  refund,
  refusal,
} from "../../src/access/credits.ts"
import { setWorkspace } from "../../src/access/workspaces.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase, scratchUrl } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"
import { chargeAlone, someKey, someWorkspace } from "./registered.ts"

let sql: Sql
let groups: ChargeCall
let companion: Due

beforeAll(async () => {
  sql = await freshDatabase()
  groups = createChargeCall(sql)
  companion = (await someAccount(1e6)).due
})

/** "alone": charged inside a transaction, as a write is. "in groups": charged together with others, as a call is. */
const single: ChargeCall = (due) => chargeAlone(sql, due)
const WAYS: [string, ChargeCall][] = [
  ["alone", single],
  ["in groups", (due) => groups(due)],
  ["beside another", chargeInGroup],
]

const now = new Date()
const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString()
let requests = 0

/** Creates an account with these monthly and pack credits, and a key. */
async function someAccount(credits: number, pack = 0, monthlyBudget?: number, way = single) {
  const workspace = await someWorkspace(sql, { overrides: { credits }, pack })
  const { key } = await someKey(sql, workspace, monthlyBudget === undefined ? {} : { monthlyBudget })
  const due: Due = { workspaceId: workspace.id, keyId: key.id, cost: 1, operation: "test", requestId: "" }
  return {
    workspace,
    due,
    pay: (cost: number) => way({ ...due, cost, requestId: `${++requests}` }),
    credits: () => readCredits(sql, due),
  }
}

/** Charges in one statement, together with another workspace. */
async function chargeInGroup(due: Due) {
  const [, charged] = await charge(sql, [{ ...companion, requestId: `beside ${++requests}` }, due], true)
  return charged!
}

/** Returns every row of a workspace that a charge may write. */
async function readRows({ workspaceId, keyId }: Due) {
  const [account] = await sql`select * from account where workspace_id = ${workspaceId}`
  const [key] = await sql`select * from key_month where key_id = ${keyId}`
  const ledger = await sql`select * from ledger where workspace_id = ${workspaceId} order by id limit 1000`
  return { account, key, ledger: [...ledger] }
}

/** Moves the workspace's rows of this month to last month. */
async function monthPasses({ workspaceId, keyId }: Due) {
  await sql`update account set month = (month - interval '1 month')::date where workspace_id = ${workspaceId}`
  await sql`update key_month set month = (month - interval '1 month')::date where key_id = ${keyId}`
  await sql`update ledger set month = (month - interval '1 month')::date where workspace_id = ${workspaceId}`
}

describe.each(WAYS)("charging %s", (_, way) => {
  test("a charge uses the workspace's credits and the key's budget and is written to the ledger", async () => {
    const { due, pay, credits } = await someAccount(100, 0, 50, way)
    const paid = await pay(30)
    expect(paid).toEqual({
      refused: null,
      credits: { used: 30, limit: 100, remaining: 70, resetsAt, packCredits: 0 },
      budget: { used: 30, limit: 50 },
    })
    expect(await credits()).toEqual(paid.credits)
    const { ledger } = await readRows(due)
    expect(ledger).toEqual([expect.objectContaining({ cost: 30, from_pack: 0, operation: "test", key_id: due.keyId })])
  })

  test("a charge without enough credits is refused with the limit, the usage and the reset time", async () => {
    const { due, pay } = await someAccount(100, 0, undefined, way)
    await pay(95)
    const before = await readRows(due)
    const refused = await pay(6)
    expect(refused.refused).toBe("credits_exhausted")
    expect(await readRows(due)).toEqual(before)
    const fault = refusal(refused)
    expect([fault.code, fault.status, fault.extra]).toEqual([
      "credits_exhausted",
      402,
      { limit: 100, used: 95, resetsAt },
    ])
    expect((await pay(5)).credits.remaining).toBe(0)
  })

  test("a charge above the key's budget is refused and changes nothing; other keys can still pay", async () => {
    const { workspace, due, pay } = await someAccount(100, 0, 10, way)
    const other = await someKey(sql, workspace)
    await pay(8)
    const before = await readRows(due)
    const refused = await pay(3)
    expect(refused.refused).toBe("key_budget_reached")
    expect(await readRows(due)).toEqual(before)
    const fault = refusal(refused)
    expect([fault.code, fault.status, fault.extra]).toEqual([
      "key_budget_reached",
      402,
      { limit: 10, used: 8, resetsAt },
    ])
    expect((await way({ ...due, keyId: other.key.id, cost: 90 })).refused).toBeNull()
    // Both limits are exhausted. The refusal reports the key's budget first, as the check before the call does.
    expect((await pay(3)).refused).toBe("key_budget_reached")
  })

  test("a charge is rolled back with its transaction", async () => {
    const { due } = await someAccount(100)
    const before = await readRows(due)
    const attempt = sql.begin(async (tx) => {
      expect((await chargeAlone(tx, { ...due, cost: 7 })).refused).toBeNull()
      throw new Error("the write failed")
    })
    expect(await errorOf(attempt)).toHaveProperty("message", "the write failed")
    expect(await readRows(due)).toEqual(before)
  })

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    "a cost of %p is a programming error",
    async (cost) => {
      const { pay } = await someAccount(100, 0, undefined, way)
      expect(await errorOf(pay(cost))).toBeInstanceOf(RangeError)
    },
  )

  test("a charge with a key of another workspace is an error", async () => {
    const payer = await someAccount(100)
    const otherPayer = await someAccount(100)
    const before = await readRows(otherPayer.due)
    // A programming error raises an error (no_data_found) instead of a refusal.
    const error = await errorOf(way({ ...payer.due, keyId: otherPayer.due.keyId }))
    expect(error).toHaveProperty("code", "P0002")
    expect(await readRows(otherPayer.due)).toEqual(before)
  })
})

describe.each(WAYS)("packs, charged %s,", (_, way) => {
  test("pack credits are spent only after the monthly credits, down to the last pack credit", async () => {
    const { due, pay } = await someAccount(10, 5, undefined, way)
    const figures = []
    for (const cost of [8, 4, 3]) {
      const { refused, credits } = await pay(cost)
      figures.push([refused, credits.used, credits.limit, credits.remaining, credits.packCredits])
    }
    expect(figures).toEqual([
      [null, 8, 15, 7, 5],
      [null, 12, 15, 3, 3],
      [null, 15, 15, 0, 0],
    ])
    expect((await pay(1)).refused).toBe("credits_exhausted")
    const { ledger } = await readRows(due)
    expect(ledger.map(({ cost, from_pack }) => [cost, from_pack])).toEqual([
      [8, 0],
      [4, 2],
      [3, 3],
    ])
  })

  test("unused pack credits carry over to the next month, and the monthly credits are reset", async () => {
    const { due, pay, credits } = await someAccount(10, 20, 40, way)
    await pay(17)
    await monthPasses(due)
    expect(await credits()).toMatchObject({ used: 0, limit: 23, remaining: 23, packCredits: 13 })
    const paid = await pay(12)
    expect(paid.credits).toMatchObject({ used: 12, limit: 23, remaining: 11, packCredits: 11, resetsAt })
    expect(paid.budget).toEqual({ used: 12, limit: 40 })
    // Three more months without a call use no credits.
    for (let month = 0; month < 3; month++) await monthPasses(due)
    expect(await credits()).toMatchObject({ used: 0, limit: 21, remaining: 21, packCredits: 11 })
  })

  test("a used-up budget is available again in the next month", async () => {
    const { due, pay } = await someAccount(100, 0, 10, way)
    await pay(10)
    expect((await pay(1)).refused).toBe("key_budget_reached")
    await monthPasses(due)
    expect((await pay(1)).budget).toEqual({ used: 1, limit: 10 })
  })

  test("lowering the monthly credits below the current usage takes no pack credits", async () => {
    const { workspace, due, pay, credits } = await someAccount(100, 20, undefined, way)
    await pay(80)
    await setWorkspace(sql, workspace.name, { overrides: { credits: 10 } })
    expect(await credits()).toMatchObject({ used: 80, limit: 100, remaining: 20, packCredits: 20 })
    expect((await pay(21)).refused).toBe("credits_exhausted")
    await pay(5)
    await monthPasses(due)
    expect(await credits()).toMatchObject({ used: 0, limit: 25, packCredits: 15 })
  })
})

test.each(WAYS)(
  "charging %s in a transaction of last month does not set the account back to that month",
  async (_, way) => {
    const { due, pay, credits } = await someAccount(100, 0, 100, way)
    await pay(40)
    // The transaction began this month, but the account is already in the next one.
    await sql`update account set month = (month + interval '1 month')::date where workspace_id = ${due.workspaceId}`
    await sql`update key_month set month = (month + interval '1 month')::date where key_id = ${due.keyId}`
    const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2)).toISOString()
    expect(await pay(3)).toMatchObject({ credits: { used: 43, resetsAt: next }, budget: { used: 43 } })
    expect(await credits()).toMatchObject({ used: 43, resetsAt: next })
  },
)

describe("refunds", () => {
  test("a charge is refunded only once, and the ledger adds up after the refund", async () => {
    const { due, pay, credits } = await someAccount(10, 5, 50)
    const before = await credits()
    await pay(4)
    expect(await refund(sql, { ...due, requestId: "never" })).toBe(false)
    await single({ ...due, cost: 9, requestId: "mine" })
    expect(await refund(sql, { ...due, requestId: "mine" })).toBe(true)
    expect(await refund(sql, { ...due, requestId: "mine" })).toBe(false)
    expect(await credits()).toEqual({ ...before, used: 4, remaining: 11 })
    const { ledger, key } = await readRows(due)
    expect(ledger.map(({ cost, from_pack }) => [cost, from_pack])).toEqual([
      [4, 0],
      [9, 3],
      [-9, -3],
    ])
    expect(key?.used).toBe(4)
  })

  test("a refund restores the full amount even if a later charge used pack credits", async () => {
    const { due, pay, credits } = await someAccount(10, 5)
    await single({ ...due, cost: 10, requestId: "mine" })
    await pay(3)
    await refund(sql, { ...due, requestId: "mine" })
    expect(await credits()).toMatchObject({ used: 3, remaining: 12, packCredits: 2 })
  })

  test("a refund after the end of the month restores only the pack credits of the charge", async () => {
    const { due, credits } = await someAccount(10, 5, 50)
    await single({ ...due, cost: 12, requestId: "mine" })
    await monthPasses(due)
    await single({ ...due, cost: 1, requestId: "new" })
    expect(await refund(sql, { ...due, requestId: "mine" })).toBe(true)
    expect(await credits()).toMatchObject({ used: 1, limit: 15, packCredits: 5 })
    expect((await readRows(due)).key?.used).toBe(1)
  })
})

describe.each(WAYS)("many at once, charged %s:", (_, way) => {
  slow("980 credits pay exactly 140 of 300 concurrent charges of 7 credits, and the ledger matches", async () => {
    const { due, pay, credits } = await someAccount(980, 0, undefined, way)
    const paid = (await Promise.all(Array.from({ length: 300 }, () => pay(7)))).filter(({ refused }) => !refused)
    expect(paid).toHaveLength(140)
    expect(new Set(paid.map(({ credits }) => credits.used)).size).toBe(140)
    await expectLedgerEqualsUsed(due)
    expect(await credits()).toMatchObject({ used: 980, remaining: 0 })
  })

  slow(
    "concurrent charges and refunds of two keys cause no deadlock and exceed neither credits nor budget",
    async () => {
      const { workspace, due } = await someAccount(500, 100, 200)
      const { key } = await someKey(sql, workspace)
      // The key with the budget must reach it before the other key has used all shared credits, in any order of calls.
      const metBudget = Promise.withResolvers<void>()
      const work = Array.from({ length: 300 }, async (_, call) => {
        const isBudgeted = call % 2 === 1
        if (!isBudgeted && call >= 100) await metBudget.promise
        const keyId = isBudgeted ? due.keyId : key.id
        const keyedCharge = { ...due, keyId, cost: 1 + (call % 7), requestId: `many ${call}` }
        const { refused } = await way(keyedCharge)
        if (refused === "key_budget_reached") metBudget.resolve()
        if (!refused && call % 5 === 0) expect(await refund(sql, keyedCharge)).toBe(true)
        return refused
      })
      const refusals = new Set(await Promise.all(work))
      expect(refusals).toEqual(new Set([null, "credits_exhausted", "key_budget_reached"]))
      await expectLedgerEqualsUsed(due)
      const { used, remaining } = await readCredits(sql, due)
      expect(used + remaining).toBe(600)
    },
  )
})

describe.each(["alone", "in groups"])("many processes at once, charging %s:", (way) => {
  test.skipIf(!process.env.DATABASE_URL)(
    "postgres: 980 credits pay exactly 140 of 300 charges of 7 credits by 4 processes, and the ledger matches",
    async () => {
      const { due } = await someAccount(980)
      const task = JSON.stringify({
        databaseUrl: scratchUrl(sql),
        due: { ...due, cost: 7 },
        calls: 75,
        inGroups: way === "in groups",
      })
      const script = `${import.meta.dir}/charging-process.ts`
      const children = Array.from({ length: 4 }, () =>
        Bun.spawn([process.execPath, script, task], { stdin: "pipe", stdout: "pipe", stderr: "inherit" }),
      )
      const outputs = children.map(({ stdout }) => linesOf(stdout))
      for (const lines of outputs) expect((await lines.next()).value).toBe("ready")
      const begin = performance.now()
      for (const { stdin } of children) {
        stdin.write("go\n")
        await stdin.end()
      }
      const paid = await Promise.all(outputs.map(async (lines) => Number((await lines.next()).value)))
      const tookMs = performance.now() - begin
      await Promise.all(children.map(({ exited }) => exited))
      const total = paid.reduce((sum, count) => sum + count, 0)
      const usedCredits = await expectLedgerEqualsUsed(due)
      console.info(
        `4 processes paid ${paid.join(" + ")} = ${total}; used ${usedCredits} = ledger; ${tookMs.toFixed(0)} ms`,
      )
      expect([total, usedCredits]).toEqual([140, 980])
    },
  )
})

async function expectLedgerEqualsUsed({ workspaceId }: Due): Promise<number> {
  const [row] = await sql<{ used: number; account: number; keys: number; fromPack: number }[]>`
    select sum(cost) as used, sum(from_pack) as "fromPack",
      (select used from account where workspace_id = ${workspaceId}) as account,
      (select sum(used) from key_month where workspace_id = ${workspaceId}) as keys
    from ledger
    where workspace_id = ${workspaceId}`
  expect([Number(row!.keys), row!.account]).toEqual([Number(row!.used), Number(row!.used)])
  return row!.account
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = ""
  for await (const chunk of stream.pipeThrough(new TextDecoderStream() as never)) {
    text += chunk
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end)
      text = text.slice(end + 1)
    }
  }
}

describe("the figures a caller sees", () => {
  const caller = (credits: [used: number, limit: number], budget: [used: number, limit: number] | null) =>
    ({
      credits: { used: credits[0], limit: credits[1], remaining: credits[1] - credits[0], resetsAt },
      budget: budget && { used: budget[0], limit: budget[1] },
    }) as Caller

  test("a caller that cannot pay the lowest price is refused before the call, with the limit and its usage", () => {
    expect(cannotPay(caller([9, 10], null), 1)).toBeNull()
    expect(cannotPay(caller([9, 10], null), 2)).toMatchObject({
      code: "credits_exhausted",
      extra: { limit: 10, used: 9, resetsAt },
    })
    expect(cannotPay(caller([0, 10], [4, 5]), 1)).toBeNull()
    expect(cannotPay(caller([0, 10], [4, 5]), 2)).toMatchObject({
      code: "key_budget_reached",
      extra: { limit: 5, used: 4, resetsAt },
    })
    expect(cannotPay(caller([10, 10], [5, 5]), 1)).toMatchObject({ code: "key_budget_reached" })
  })

  test("a free call is allowed with no credits left", () => {
    expect(cannotPay(caller([10, 10], [5, 5]), 0)).toBeNull()
    expect(cannotPay(caller([0, 0], [9, 5]), 0)).toBeNull()
  })

  test("credit headers show the month's usage, limit and remainder, and zeros without a key", () => {
    expect(creditHeaders(caller([9, 10], null).credits, now)).toEqual({
      "x-credits-used": "9",
      "x-credits-limit": "10",
      "x-credits-remaining": "1",
      "x-credits-reset": resetsAt,
    })
    expect(creditHeaders(null, new Date("2023-12-31T23:59:59.999Z"))).toEqual({
      "x-credits-used": "0",
      "x-credits-limit": "0",
      "x-credits-remaining": "0",
      "x-credits-reset": "2024-01-01T00:00:00.000Z",
    })
    const reset = (at: string) => creditHeaders(null, new Date(at))["x-credits-reset"]
    expect(reset("2024-01-01T00:00:00.000Z")).toBe("2024-02-01T00:00:00.000Z")
    expect(reset("2024-01-31T12:00:00.000Z")).toBe("2024-02-01T00:00:00.000Z")
    expect(reset("2024-02-29T23:00:00.000-05:00")).toBe("2024-04-01T00:00:00.000Z")
  })
})
