import { beforeAll, describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type ChargeCall,
  type ChargeResult,
  charge,
  createChargeCall,
  type Due,
  readCredits,
} from "../../src/access/credits.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { cases, slow } from "../long.ts"
import { chargeAlone, type Means, somePayer as payerOf } from "./registered.ts"

let sql: Sql
let groups: ChargeCall

beforeAll(async () => {
  sql = await freshDatabase()
  groups = createChargeCall(sql)
})

const somePayer = (means?: Partial<Means>) => payerOf(sql, means)

/** Wraps the client and records the number of charges in each statement that charges. */
function countStatements(client: Sql) {
  const sizes: number[] = []
  const counted = new Proxy(client, {
    apply(target, self, args) {
      if (String(args[0]?.raw?.join("")).includes("from charge(")) sizes.push(args[2].value.length)
      return Reflect.apply(target, self, args)
    },
  })
  return { counted, sizes }
}

test("concurrent charges share SQL statements, and each charge has its own row in the ledger", async () => {
  const { counted, sizes } = countStatements(sql)
  const chargeGrouped = createChargeCall(counted)
  const [payer, otherPayer] = [await somePayer(), await somePayer()]
  const dues = Array.from({ length: 90 }, (_, i) => (i % 3 ? payer : otherPayer).due(1 + (i % 5)))
  const paid = await Promise.all(dues.map(chargeGrouped))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(90)
  expect(sizes.length).toBeLessThan(10)
  expect(paid.every(({ refused }) => refused === null)).toBe(true)
  const rows = await sql<{ requestId: string; cost: number }[]>`
    select request_id as "requestId", cost
    from ledger
    where request_id = any(${dues.map(({ requestId }) => requestId)}::text[])
    order by id
    limit 100`
  const byRequest = ({ requestId }: { requestId: string }, other: { requestId: string }) =>
    requestId < other.requestId ? -1 : 1
  expect([...rows].sort(byRequest)).toEqual(dues.map(({ requestId, cost }) => ({ requestId, cost })).sort(byRequest))
})

test("a charge without concurrent charges is sent in its own SQL statement", async () => {
  const { counted, sizes } = countStatements(sql)
  const { due } = await somePayer()
  const chargeGrouped = createChargeCall(counted)
  for (let i = 0; i < 3; i++) await chargeGrouped(due())
  expect(sizes).toEqual([1, 1, 1])
})

test("a settled charge is committed and visible to another connection", async () => {
  const { due } = await somePayer()
  const visibleRows = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const settled = due()
      await groups(settled)
      const rows = await sql`select from ledger where request_id = ${settled.requestId} limit 2`
      return rows.length
    }),
  )
  expect(visibleRows).toEqual(Array(40).fill(1))
})

test("a charge of a small workspace is settled before most of 600 earlier charges of a large workspace", async () => {
  const [large, small] = [await somePayer(), await somePayer()]
  const settled: string[] = []
  const pay = async (name: string, due: Due) => {
    await groups(due)
    settled.push(name)
  }
  const all = Array.from({ length: 600 }, () => pay("large", large.due()))
  await Promise.all([...all, pay("small", small.due())])
  // The small charge is in the second statement, because one with a hundred charges was already running.
  expect(settled.indexOf("small")).toBeLessThan(250)
})

test("an invalid charge fails, and the other charges in the same SQL statement are paid", async () => {
  const [payer, otherPayer] = [await somePayer(), await somePayer()]
  const foreign: Due = { ...payer.due(), keyId: otherPayer.due().keyId }
  const tooMuch = payer.due(2 ** 40)
  const outcomes = await Promise.all(
    [payer.due(), foreign, otherPayer.due(), payer.due(), tooMuch, payer.due()].map((due) =>
      groups(due).then(
        ({ refused }) => refused ?? "paid",
        (error: { code: string }) => error.code,
      ),
    ),
  )
  expect(outcomes).toEqual(["paid", "P0002", "paid", "paid", "22003", "paid"])
  expect([(await readCredits(sql, payer.due())).used, (await readCredits(sql, otherPayer.due())).used]).toEqual([3, 1])
})

test("concurrent charges all fail when the database connection is lost, and a later charge is paid", async () => {
  const { due } = await somePayer()
  let isDown = true
  const broken = new Proxy(sql, {
    apply(target, self, args) {
      if (isDown && String(args[0]?.raw?.join("")).includes("from charge(")) {
        return Promise.reject(Object.assign(new Error("cut"), { code: "CONNECTION_CLOSED" }))
      }
      return Reflect.apply(target, self, args)
    },
  })
  const chargeGrouped = createChargeCall(broken)
  const errors = await Promise.all(Array.from({ length: 20 }, () => errorOf(chargeGrouped(due()))))
  expect(errors.map((error) => (error as { code: string }).code)).toEqual(Array(20).fill("CONNECTION_CLOSED"))
  isDown = false
  expect((await chargeGrouped(due())).credits.used).toBe(1)
})

slow("an SQL statement that never returns does not block later charges", async () => {
  const { due } = await somePayer()
  let isLost = false
  const silent = new Proxy(sql, {
    apply(target, self, args) {
      if (!isLost && String(args[0]?.raw?.join("")).includes("from charge(")) {
        isLost = true
        return new Promise(() => {})
      }
      return Reflect.apply(target, self, args)
    },
  })
  const chargeGrouped = createChargeCall(silent)
  void chargeGrouped(due())
  while (!isLost) await Bun.sleep(1)
  expect((await chargeGrouped(due())).credits.used).toBe(1)
})

describe.skipIf(!process.env.DATABASE_URL)("a locked account", () => {
  test("postgres: a locked account delays only its own charges, and they are paid after the release", async () => {
    const [lockedPayer, free] = [await somePayer(), await somePayer()]
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>()
    const holder = sql.begin(async (tx) => {
      await chargeAlone(tx, lockedPayer.due(5))
      lock()
      await released
    })
    await locked
    let waiting = 20
    const stuck = Array.from({ length: 20 }, () => groups(lockedPayer.due()).finally(() => waiting--))
    for (let round = 0; round < 5; round++) {
      const results = await Promise.all(Array.from({ length: 30 }, () => groups(free.due())))
      expect(results.every(({ refused }) => refused === null)).toBe(true)
    }
    expect(waiting).toBe(20)
    release()
    await holder
    await Promise.all(stuck)
    expect((await readCredits(sql, lockedPayer.due())).used).toBe(25)
  })

  test("postgres: two concurrent charge queues spend exactly the credits of each workspace", async () => {
    const payers = await Promise.all(Array.from({ length: 12 }, () => somePayer({ credits: 50 })))
    const other = createChargeCall(sql)
    const paid = await Promise.all(
      Array.from({ length: 1_200 }, (_, i) => (i % 2 ? groups : other)(payers[i % 12]!.due())),
    )
    expect(paid.filter(({ refused }) => refused === null)).toHaveLength(12 * 50)
    for (const { due } of payers) expect(await readCredits(sql, due())).toMatchObject({ used: 50, remaining: 0 })
  })
})

const means = fc.record({
  credits: fc.nat({ max: 120 }),
  pack: fc.nat({ max: 40 }),
  monthlyBudget: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
})
const charges = fc.array(fc.record({ payer: fc.nat({ max: 3 }), cost: fc.integer({ min: 1, max: 30 }) }), {
  minLength: 20,
  maxLength: 60,
})

test("random concurrent charges add up, and only charges beyond the credits or the budget are refused", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(means, { minLength: 4, maxLength: 4 }), charges, async (four, requests) => {
      const payers = await Promise.all(four.map(somePayer))
      const answers = await Promise.all(
        requests.map(async ({ payer, cost }) => ({ payer, cost, ...(await groups(payers[payer]!.due(cost))) })),
      )
      for (const [at, { due }] of payers.entries()) {
        await expectExact(
          due(),
          answers.filter(({ payer }) => payer === at),
          four[at]!,
        )
      }
    }),
    { seed: 20261123, numRuns: cases(3, 15) },
  )
})

slow("charges in one SQL statement have the same results and ledger as the same charges one by one", async () => {
  const month = fc.constantFrom("this", "last")
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ means, month }), { minLength: 4, maxLength: 4 }),
      charges,
      async (four, requests) => {
        const [groupedPayers, singlePayers] = await Promise.all(
          [1, 2].map(async () => await Promise.all(four.map((entry) => somePayerOf(entry.means, entry.month)))),
        )
        const dues = requests.map(({ payer, cost }) => groupedPayers![payer]!.due(cost))
        const answers = await charge(sql, dues, false)
        const expected: ChargeResult[] = []
        for (const { payer, cost } of requests) expected.push(await chargeAlone(sql, singlePayers![payer]!.due(cost)))
        expect(answers).toEqual(expected)
        for (const [at, { due }] of groupedPayers!.entries())
          expect(await entriesOf(due())).toEqual(await entriesOf(singlePayers![at]!.due()))
      },
    ),
    { seed: 20261124, numRuns: cases(2, 15) },
  )
})

test("valid charges are paid although charges with a wrong key or workspace in the same statement fail", async () => {
  const payers = await Promise.all([1, 2, 3, 4].map(() => somePayer()))
  const [first, second, third, fourth] = payers.map(({ due }) => due()) as [Due, Due, Due, Due]
  const outcomes = await Promise.all(
    [first, { ...second, keyId: third.keyId }, third, { ...fourth, workspaceId: -1 }].map((due) =>
      groups(due).then(
        ({ refused }) => refused ?? "paid",
        (error: { code: string }) => error.code,
      ),
    ),
  )
  expect(outcomes).toEqual(["paid", "P0002", "paid", "P0002"])
  expect(await Promise.all(payers.map(async ({ due }) => (await readCredits(sql, due())).used))).toEqual([1, 0, 1, 0])
})

/** Creates a payer whose account and key were last used in the given month. */
async function somePayerOf(means: Partial<Means>, month: string) {
  const payer = await somePayer(means)
  if (month === "this") return payer
  const { workspaceId } = payer.due()
  await chargeAlone(sql, payer.due(1))
  await sql`update account set month = (month - interval '1 month')::date where workspace_id = ${workspaceId}`
  await sql`update key_month set month = (month - interval '1 month')::date where workspace_id = ${workspaceId}`
  return payer
}

async function entriesOf({ workspaceId }: Due) {
  return await sql`
    select l.month, l.cost, l.from_pack, a.month as "now", a.used, a.from_pack as "ofPack", a.pack, k.used as "keyUsed"
    from ledger l
    join account a on a.workspace_id = l.workspace_id
    join key_month k on k.key_id = l.key_id
    where l.workspace_id = ${workspaceId}
    order by l.id
    limit 1000`.then((rows) => [...rows])
}

async function expectExact(
  due: Due,
  answers: (ChargeResult & { cost: number })[],
  { credits, pack, monthlyBudget }: Means,
) {
  const paid = answers.filter(({ refused }) => refused === null).reduce((sum, { cost }) => sum + cost, 0)
  const [books] = await sql`
    select a.used, a.from_pack, a.pack, k.used as key_used,
      (select coalesce(sum(cost), 0)::bigint from ledger where workspace_id = a.workspace_id) as cost,
      (select coalesce(sum(from_pack), 0)::bigint from ledger where workspace_id = a.workspace_id) as ledger_pack
    from account a
    join key_month k on k.workspace_id = a.workspace_id
    where a.workspace_id = ${due.workspaceId}`
  const fromPack = Math.max(0, paid - credits)
  expect(books).toEqual({
    used: paid,
    from_pack: fromPack,
    pack: pack - fromPack,
    key_used: paid,
    cost: paid,
    ledger_pack: fromPack,
  })
  const budgetLeft = (monthlyBudget ?? Number.POSITIVE_INFINITY) - paid
  for (const { refused, cost } of answers) {
    if (refused === "credits_exhausted") expect(cost).toBeGreaterThan(credits + pack - paid)
    if (refused === "key_budget_reached") expect(cost).toBeGreaterThan(budgetLeft)
  }
}
