import { expect } from "bun:test"
import fc from "fast-check"
import { setWorkspace } from "../../src/access/workspaces.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { beforeSlow, cases, slow } from "../long.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"
import { type Answer, openService, type Service } from "../service.ts"
import { anApp } from "../writes/writer.ts"

// Runs random histories of workspaces through REST. A model that moves one credit at a time predicts which calls are
// paid. Headers, /account, /usage, refusals and the ledger must all agree with the model.

const WORKSPACES = 2
/** The first key of a workspace may have a budget, the second has none. */
const KEYS = 2

interface Means {
  quota: number
  pack: number
  budget: number | null
}

interface Request {
  workspace: number
  key: number
  /** A read costs 5 credits for each of `rows` rows, a write or list 1 credit, and a failing call 0. */
  kind: "read" | "write" | "list" | "failure"
  rows: number
}

type Step =
  | { type: "call"; request: Request }
  | { type: "callTogether"; requests: Request[] }
  | { type: "buyPack"; workspace: number; credits: number }
  | { type: "changePlan"; workspace: number; quota: number }
  | { type: "turnMonth"; workspace: number }

const anyMeans: fc.Arbitrary<Means> = fc.record({
  quota: fc.nat({ max: 60 }),
  pack: fc.nat({ max: 40 }),
  budget: fc.option(fc.nat({ max: 50 }), { nil: null }),
})

const workspace = fc.nat({ max: WORKSPACES - 1 })

const anyRequest: fc.Arbitrary<Request> = fc.record({
  workspace,
  key: fc.nat({ max: KEYS - 1 }),
  kind: fc.constantFrom("read", "read", "write", "list", "failure"),
  rows: fc.integer({ min: 1, max: 5 }),
})

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("call" as const), request: anyRequest }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("callTogether" as const),
      requests: fc.array(anyRequest, { minLength: 4, maxLength: 12 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("buyPack" as const),
      workspace,
      credits: fc.integer({ min: 1, max: 40 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("changePlan" as const), workspace, quota: fc.nat({ max: 60 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("turnMonth" as const), workspace }) },
)

/** A model of one workspace that moves one credit at a time. */
class Model {
  quota: number
  pack: number
  budgets: (number | null)[]
  fromQuota = 0
  fromPack = 0
  keys = Array<number>(KEYS).fill(0)

  constructor({ quota, pack, budget }: Means) {
    this.quota = quota
    this.pack = pack
    this.budgets = [budget, null]
  }

  /** Returns the code with which a call of this cost is refused now. Null if it can be paid. */
  refusal(cost: number, key: number): string | null {
    const budget = this.budgets[key] ?? null
    if (cost > 0 && budget !== null && this.keys[key]! + cost > budget) return "key_budget_reached"
    return cost > this.remaining ? "credits_exhausted" : null
  }

  pay(cost: number, key: number): void {
    for (let credit = 0; credit < cost; credit++) {
      if (this.fromQuota < this.quota) this.fromQuota++
      else {
        this.pack--
        this.fromPack++
      }
    }
    this.keys[key]! += cost
  }

  turnMonth(): void {
    this.fromQuota = 0
    this.fromPack = 0
    this.keys.fill(0)
  }

  get used(): number {
    return this.fromQuota + this.fromPack
  }

  get remaining(): number {
    return Math.max(0, this.quota - this.fromQuota) + this.pack
  }

  get credits() {
    return { used: this.used, limit: this.used + this.remaining, remaining: this.remaining }
  }
}

interface Tenant {
  id: number
  name: string
  app: string
  keyIds: number[]
  secrets: string[]
  model: Model
}

let sql: Sql
let histories = 0
let keywords = 0

beforeSlow(async () => {
  sql = await freshDatabase()
})

/** Starts a service without the caches of the previous one. */
const newService = () => openService({ sql, catalog: catalogWithSamples, fixtures: fixturesWithSamples() })

slow(
  "after any random sequence of calls, all credit figures agree with a model",
  async () => {
    const counts = { paid: 0, credits_exhausted: 0, key_budget_reached: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyMeans, { minLength: WORKSPACES, maxLength: WORKSPACES }),
        fc.array(anyStep, { minLength: 8, maxLength: 20, size: "max" }),
        async (allMeans, steps) => {
          const tenants = await Promise.all(allMeans.map(newTenant))
          let service = newService()
          for (const step of steps) {
            if (step.type === "call") await callOne(service, tenants, step.request, counts)
            else if (step.type === "callTogether") await callTogether(service, tenants, step.requests, counts)
            else {
              await administer(tenants[step.workspace]!, step)
              // a running process may use a cached key record for up to a second
              service = newService()
            }
            await expectAgreement(service, tenants)
          }
        },
      ),
      // failing histories are not shrunk, because each try takes seconds
      { seed: 20261129, numRuns: cases(5, 60), endOnFailure: true },
    )
    // a history without refusals would test little
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(10)
  },
  300_000,
)

async function newTenant(means: Means): Promise<Tenant> {
  const service = newService()
  const name = `money ${process.pid} ${++histories}`
  const overrides = { credits: means.quota, ratePerSecond: 100_000 }
  const id = await service.workspace({ name, plan: "pro", explorer: true, pack: means.pack || undefined, overrides })
  const budget = means.budget === null ? {} : { monthlyBudget: means.budget }
  const secrets = [await service.key(id, budget), await service.key(id)]
  const rows = await sql<{ id: number }[]>`
    select id
    from api_key
    where workspace_id = ${id}
    order by id`
  return { id, name, app: await anApp(sql, id), keyIds: rows.map((row) => row.id), secrets, model: new Model(means) }
}

async function callOne(
  service: Service,
  tenants: Tenant[],
  request: Request,
  counts: Record<string, number>,
): Promise<void> {
  const { model } = tenants[request.workspace]!
  const cost = costOf(request)
  // credits are checked for the minimum price before the call runs, the budget only for the actual price
  const code = model.refusal(leastOf(request), request.key) ?? model.refusal(cost, request.key)
  const answer = await send(service, tenants, request)
  if (code === null) model.pay(cost, request.key)
  counts[code ?? "paid"]!++
  expectAnswer(answer, request, code)
  expect(answer.credits).toMatchObject(model.credits)
  if (code === null) return
  const budget = { used: model.keys[request.key], limit: model.budgets[request.key] }
  const { used, limit } = code === "key_budget_reached" ? budget : model.credits
  expect(answer.body).toMatchObject({ used, limit, resetsAt: answer.credits.reset })
}

/**
 * Makes calls at once. Their order decides which are paid: the model pays the same ones and must then refuse the
 * others.
 */
async function callTogether(
  service: Service,
  tenants: Tenant[],
  requests: Request[],
  counts: Record<string, number>,
): Promise<void> {
  const answers = await Promise.all(requests.map((request) => send(service, tenants, request)))
  const before = tenants.map(({ model }) => model.used)
  const outcomes = requests.map((request, at) => {
    const { status, body } = answers[at]!
    return {
      request,
      cost: costOf(request),
      code: status === 402 ? (body.error as string) : null,
      answer: answers[at]!,
    }
  })
  for (const { request, cost, code } of outcomes) {
    const { model } = tenants[request.workspace]!
    if (code === null) {
      expect(model.refusal(cost, request.key)).toBeNull()
      model.pay(cost, request.key)
    }
    counts[code ?? "paid"]!++
  }
  for (const { request, cost, code, answer } of outcomes) {
    const { model } = tenants[request.workspace]!
    expectAnswer(answer, request, code)
    const { used, limit, remaining } = answer.credits
    expect(used + remaining).toBe(limit)
    expect(limit).toBe(model.credits.limit)
    expect(used).toBeLessThanOrEqual(model.used)
    expect(used).toBeGreaterThanOrEqual(before[request.workspace]! + (code === null ? cost : 0))
    if (code === "credits_exhausted") expect(cost).toBeGreaterThan(model.remaining)
    if (code === "key_budget_reached") expect(model.refusal(cost, request.key)).toBe(code)
  }
}

function costOf({ kind, rows }: Request): number {
  if (kind === "failure") return 0
  return kind === "read" ? rows * 5 : 1
}

/** Returns the minimum price of the request's operation. */
function leastOf(request: Request): number {
  return request.kind === "read" ? 5 : costOf(request)
}

async function send(service: Service, tenants: Tenant[], { workspace: at, key, kind, rows }: Request): Promise<Answer> {
  const { secrets, app } = tenants[at]!
  const secret = secrets[key]!
  if (kind === "read") return await service.call(`/v1/hive/explored?rows=${rows}`, { key: secret })
  if (kind === "list") return await service.call("/v1/apps", { key: secret })
  if (kind === "failure") return await service.call("/v1/hive/explored?rows=99", { key: secret })
  const body = { action: "add_keywords", args: { appId: app, keywords: [`money ${++keywords}`] } }
  // another write of the same app may have been confirmed in between; the caller retries
  for (;;) {
    const preview = await service.call("/v1/actions", { key: secret, method: "POST", body })
    expect([preview.status, preview.body.credits]).toEqual([200, 1])
    const { confirmToken } = preview.body
    const answer = await service.call("/v1/actions/confirm", { key: secret, method: "POST", body: { confirmToken } })
    if (answer.status !== 409) return answer
  }
}

function expectAnswer({ status, body }: Answer, { kind }: Request, code: string | null): void {
  if (kind === "failure") expect([status, body.error]).toEqual([400, "bad_days"])
  else expect([status, body.error ?? null]).toEqual([code === null ? 200 : 402, code])
}

async function administer(tenant: Tenant, step: Step): Promise<void> {
  const { id, name, model } = tenant
  if (step.type === "buyPack") {
    model.pack += step.credits
    await setWorkspace(sql, name, { addPack: step.credits })
  }
  if (step.type === "changePlan") {
    model.quota = step.quota
    await setWorkspace(sql, name, { overrides: { credits: step.quota } })
  }
  if (step.type === "turnMonth") {
    model.turnMonth()
    // moves everything so far one month back
    await sql`update account set month = (month - interval '1 month')::date where workspace_id = ${id}`
    await sql`update key_month set month = (month - interval '1 month')::date where workspace_id = ${id}`
    await sql`update ledger set month = (month - interval '1 month')::date where workspace_id = ${id}`
  }
}

async function expectAgreement(service: Service, tenants: readonly Tenant[]): Promise<void> {
  for (const { id, keyIds, secrets, model } of tenants) {
    const account = await service.call("/v1/account", { key: secrets[1] })
    const usage = await service.call("/v1/usage", { key: secrets[0] })
    const { used, limit, remaining } = model.credits
    expect(account.credits).toMatchObject({ used, limit, remaining })
    expect(account.body.credits).toEqual({ used, limit, resetsAt: account.credits.reset })
    expect(usage.credits).toEqual(account.credits)
    expect(usage.body.quotas.find(({ key }: { key: string }) => key === "apiCredits")).toMatchObject({ used, limit })
    expect(usage.body.packs.apiCredits).toBe(model.pack)
    expect(await ledgerOf(id, keyIds)).toEqual({ cost: used, fromPack: model.fromPack, byKey: model.keys })
  }
}

/** Reads the totals of the current month. */
async function ledgerOf(workspaceId: number, keyIds: readonly number[]) {
  const rows = await sql<{ keyId: number; cost: number; fromPack: number }[]>`
    select key_id as "keyId", sum(cost)::int as cost, sum(from_pack)::int as "fromPack"
    from ledger
    where workspace_id = ${workspaceId} and month = date_trunc('month', now() at time zone 'utc')::date
    group by key_id
    order by key_id
    limit 10`
  return {
    cost: rows.reduce((sum, row) => sum + row.cost, 0),
    fromPack: rows.reduce((sum, row) => sum + row.fromPack, 0),
    byKey: keyIds.map((keyId) => rows.find((row) => row.keyId === keyId)?.cost ?? 0),
  }
}
