import { beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import { readCredits, refund } from "../../src/access/credits.ts"
import { setWorkspace } from "../../src/access/workspaces.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { cases } from "../long.ts"
import { chargeAlone, someKey, someWorkspace } from "./registered.ts"

// Compares random charges, refunds, purchases, plan changes and month ends with a model that moves one credit at a
// time.

type Step =
  | { type: "charge"; cost: number; key: 0 | 1 }
  | { type: "refund"; back: number }
  | { type: "addPack"; credits: number }
  | { type: "setQuota"; credits: number }
  | { type: "turnMonth" }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("charge" as const),
      cost: fc.integer({ min: 1, max: 30 }),
      key: fc.constantFrom(0, 1),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("refund" as const), back: fc.nat({ max: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("addPack" as const), credits: fc.integer({ min: 1, max: 40 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("setQuota" as const), credits: fc.nat({ max: 80 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("turnMonth" as const) }) },
) as fc.Arbitrary<Step>

const BUDGET = 60

/** Two keys, the first with a budget. */
class Model {
  monthly = 0
  fromPack = 0
  pack = 0
  quota: number
  keys = [0, 0]
  month = 0
  charges: { requestId: string; key: 0 | 1; cost: number; fromPack: number; month: number; refunded: boolean }[] = []

  constructor(quota: number) {
    this.quota = quota
  }

  charge(cost: number, key: 0 | 1, requestId: string): string | null {
    if (key === 0 && this.keys[0]! + cost > BUDGET) return "key_budget_reached"
    if (cost > this.remaining) return "credits_exhausted"
    let fromPack = 0
    for (let credit = 0; credit < cost; credit++) {
      if (this.monthly < this.quota) this.monthly++
      else {
        this.pack--
        fromPack++
      }
    }
    this.fromPack += fromPack
    this.keys[key]! += cost
    this.charges.push({ requestId, key, cost, fromPack, month: this.month, refunded: false })
    return null
  }

  refund(charged: Model["charges"][number]): void {
    charged.refunded = true
    this.pack += charged.fromPack
    if (charged.month !== this.month) return
    this.fromPack -= charged.fromPack
    this.monthly -= charged.cost - charged.fromPack
    this.keys[charged.key]! -= charged.cost
  }

  get used(): number {
    return this.monthly + this.fromPack
  }

  get remaining(): number {
    return Math.max(0, this.quota - this.monthly) + this.pack
  }

  turnMonth(): void {
    this.monthly = 0
    this.fromPack = 0
    this.keys = [0, 0]
    this.month++
    // Refunds are possible for one month.
    this.charges = this.charges.filter(({ month }) => month >= this.month - 1)
  }
}

const RUNS = cases(3, 50)
let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

test("random charges, refunds and month changes leave the database in the same state as a simple model", async () => {
  let steps = 0
  const history = fc.array(anyStep, { minLength: 10, maxLength: 40, size: "max" })
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 80 }), history, async (quota, drawnSteps) => {
      await play(quota, drawnSteps)
      steps += drawnSteps.length
    }),
    { seed: 20240228, numRuns: RUNS },
  )
  expect(steps).toBeGreaterThan(RUNS * 15)
}, 60_000)

async function play(quota: number, history: Step[]): Promise<void> {
  const model = new Model(quota)
  const workspace = await someWorkspace(sql, { overrides: { credits: quota } })
  const limited = await someKey(sql, workspace, { monthlyBudget: BUDGET })
  const free = await someKey(sql, workspace)
  const keyIds = [limited.key.id, free.key.id]
  for (const [number, step] of history.entries()) {
    await take(model, workspace, keyIds, step, `request ${number}`)
    const { used, remaining, packCredits } = await readCredits(sql, { workspaceId: workspace.id })
    expect([used, remaining, packCredits]).toEqual([model.used, model.remaining, model.pack])
  }
  await expectLedgerAgrees(model, workspace.id)
}

async function take(
  model: Model,
  workspace: { id: number; name: string },
  keyIds: number[],
  step: Step,
  requestId: string,
) {
  const due = (key: 0 | 1) => ({
    workspaceId: workspace.id,
    keyId: keyIds[key]!,
    operation: "test",
    cost: 1,
    requestId,
  })
  switch (step.type) {
    case "charge": {
      const { refused, budget } = await chargeAlone(sql, { ...due(step.key), cost: step.cost })
      expect(refused).toBe(model.charge(step.cost, step.key, requestId) as never)
      expect(budget).toEqual(step.key === 0 ? { used: model.keys[0]!, limit: BUDGET } : null)
      return
    }
    case "refund": {
      const charged = model.charges.at(-1 - step.back)
      if (!charged) return
      const { refunded } = charged
      if (!refunded) model.refund(charged)
      expect(await refund(sql, { ...due(charged.key), requestId: charged.requestId })).toBe(!refunded)
      return
    }
    case "addPack":
      model.pack += step.credits
      await setWorkspace(sql, workspace.name, { addPack: step.credits })
      return
    case "setQuota":
      model.quota = step.credits
      await setWorkspace(sql, workspace.name, { overrides: { credits: step.credits } })
      return
    case "turnMonth":
      model.turnMonth()
      await sql`update account set month = (month - interval '1 month')::date where workspace_id = ${workspace.id}`
      await sql`update key_month set month = (month - interval '1 month')::date where workspace_id = ${workspace.id}`
      await sql`update ledger set month = (month - interval '1 month')::date where workspace_id = ${workspace.id}`
  }
}

async function expectLedgerAgrees(model: Model, workspaceId: number): Promise<void> {
  const [row] = await sql<{ used: string | null }[]>`
    select sum(cost) as used
    from ledger
    where workspace_id = ${workspaceId} and month = date_trunc('month', now() at time zone 'utc')::date`
  expect(Number(row!.used ?? 0)).toBe(model.used)
}
