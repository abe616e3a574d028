import { beforeAll, describe, expect, test } from "bun:test"
import * as v from "valibot"
import { nothing, operation, pending } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { Fault } from "../../src/lib/faults.ts"
import { freshDatabase } from "../database.ts"
import { until } from "../jobs/platform.ts"
import { slow } from "../long.ts"
import { openService, type Service } from "../service.ts"

const ENDS = ["answers", "pending", "nothing", "fault", "missing", "breaks", "late", "takes late"] as const

/** Takes a unit of the allowance "spy" and then ends as `end` requires. */
const takingOperation = operation({
  id: "taking_sample",
  method: "GET",
  path: "/taking/:end",
  group: "Account",
  toolset: "account",
  summary: "Takes a unit.",
  effect: "spends",
  scope: null,
  price: 1,
  faults: ["measure_busy", "not_measured"],
  pending: true,
  input: v.strictObject({ end: v.picklist(ENDS), about: v.optional(v.string(), "this") }),
  output: v.strictObject({ granted: v.boolean(), used: v.number(), eta: v.optional(v.number()) }),
  deadlineMs: 300,
}).run(async ({ end, about }, ctx) => {
  if (end === "takes late") await Bun.sleep(500)
  const { granted, used } = await ctx.take("spy", { about, days: 30 })
  if (end === "pending") return pending({ eta: 3 }, { granted, used })
  if (end === "nothing") return nothing({ granted, used })
  if (end === "missing") return nothing(new Fault("not_measured"))
  if (end === "fault") throw new Fault("measure_busy")
  if (end === "breaks") throw new Error("broken")
  if (end === "late") await Bun.sleep(500)
  return { granted, used }
})

let sql: Sql
let service: Service

beforeAll(async () => {
  sql = await freshDatabase()
  const fixture = JSON.stringify({ input: { end: "answers" }, answer: { granted: true, used: 1 } })
  service = openService({ sql, catalog: [takingOperation], fixtures: new Map([["taking_sample.json", fixture]]) })
  // the first call plans its statements, which exceeds the sample's deadline on a busy machine
  await outcome("answers")
})

async function outcome(end: (typeof ENDS)[number], credits = 100) {
  const workspace = await service.workspace({ overrides: { spy: 5, credits, ratePerSecond: 100_000 } })
  const key = await service.key(workspace)
  const { status } = await service.call(`/v1/taking/${end.replace(" ", "%20")}`, { key })
  return { workspace, status }
}

async function readUnits(workspace: number): Promise<[used: number, open: number]> {
  const [row] = await sql<{ used: number; open: number }[]>`
    select coalesce((select sum(used) from allowance_used where workspace_id = ${workspace}), 0)::int as used,
      (select count(*) from allowance_unit where workspace_id = ${workspace}) as open`
  return [row!.used, row!.open]
}

describe("an allowance used by a call", () => {
  for (const [end, status] of [
    ["answers", 200],
    ["pending", 202],
    ["nothing", 200],
  ] as const)
    test(`a call with the outcome "${end}" uses one unit of the allowance`, async () => {
      const { workspace, status: answered } = await outcome(end)
      expect([answered, await readUnits(workspace)]).toEqual([status, [1, 1]])
    })

  for (const [end, status] of [
    ["fault", 503],
    ["missing", 404],
    ["breaks", 500],
  ] as const)
    test(`a call that ends with status ${status} (${end}) uses no unit of the allowance`, async () => {
      const { workspace, status: answered } = await outcome(end)
      expect([answered, await readUnits(workspace)]).toEqual([status, [0, 0]])
    })

  slow("a call that times out uses no unit of the allowance, even if it takes the unit after the timeout", async () => {
    for (const end of ["late", "takes late"] as const) {
      const { workspace, status } = await outcome(end)
      expect(status).toBe(503)
      await until(async () => (await readUnits(workspace)).join() === "0,0")
      await Bun.sleep(400)
      expect(await readUnits(workspace)).toEqual([0, 0])
    }
  })

  test("of 20 concurrent calls, only the 7 that can be charged use a unit of the allowance", async () => {
    const workspace = await service.workspace({ overrides: { spy: 50, credits: 7, ratePerSecond: 100_000 } })
    const key = await service.key(workspace)
    const calls = Array.from({ length: 20 }, (_, n) => service.call(`/v1/taking/answers?about=${n}`, { key }))
    const paid = (await Promise.all(calls)).filter(({ status }) => status === 200)
    expect([paid.length, await readUnits(workspace)]).toEqual([7, [7, 7]])
  })

  test("a call of a test key or of a key without credits uses no unit of the allowance", async () => {
    const { workspace, status } = await outcome("answers", 0)
    expect([status, await readUnits(workspace)]).toEqual([402, [0, 0]])
    const key = await service.key(workspace, { kind: "test" })
    expect((await service.call("/v1/taking/answers", { key })).status).toBe(200)
    expect(await readUnits(workspace)).toEqual([0, 0])
  })
})
