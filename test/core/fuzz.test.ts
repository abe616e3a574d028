import { beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import { catalog } from "../../src/catalog.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { cases } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

let sql: Sql
let service: Service
let key: string
let app: string
let workspace: number

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  workspace = await service.workspace({
    plan: "enterprise",
    overrides: { credits: 10_000_000, ratePerSecond: 1_000_000 },
  })
  key = await service.key(workspace)
  const tracked = { workspaceId: workspace, iosId: "1437843273", countries: ["us"], keywords: ["tea"], origin: "own" }
  app = await trackOwn(sql, tracked)
})

const nasty = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "",
    " ",
    "us",
    "US",
    "zz",
    "ios",
    "android",
    "null",
    "undefined",
    "-1",
    "1e400",
    "NaN",
    "'; drop table ledger; --",
  ),
  fc.constantFrom(
    "%00",
    "%",
    "%E0%A4%A",
    "..",
    "../../etc",
    "\u0000",
    "\u202e",
    "😀".repeat(60),
    "a".repeat(5_000),
    "__proto__",
  ),
  fc.integer().map(String),
)

// A query consists of at most 4 of these pairs. About half of their names are parameters of the operation.
const pairs = (names: string[]) =>
  fc.array(fc.tuple(fc.oneof(fc.constantFrom("country", "platform", ...names), nasty), nasty), { maxLength: 4 })

const RUNS = cases(60, 800)

test(`${RUNS} random inputs cause no 5xx and no undocumented response, and a 400 is never charged`, async () => {
  const counts: Record<number, number> = {}
  const operationAndInput = fc.constantFrom(...catalog).chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      id: fc.oneof({ weight: 3, arbitrary: fc.constant(app) }, nasty),
      query: pairs(Object.keys(operation.input.entries)),
      raw: fc.boolean(),
      sandbox: fc.boolean(),
    }),
  )
  const readUsed = async () => {
    const [row] = await sql<{ used: number; ledger: number }[]>`
      select used, (select coalesce(sum(cost), 0)::bigint from ledger where workspace_id = ${workspace}) as ledger
      from account
      where workspace_id = ${workspace}`
    return row as { used: number; ledger: number }
  }
  let charged = 0
  await fc.assert(
    fc.asyncProperty(operationAndInput, async ({ operation, id, query, raw, sandbox }) => {
      const spell = raw
        ? (text: string) => encodeURI(text.toWellFormed()).replaceAll(/[?#]/g, "x")
        : (text: string) => encodeURIComponent(text.toWellFormed())
      const path = operation.path.replaceAll(/:\w+/g, () => spell(id) || "x")
      const search = query.map(([name, value]) => `${spell(name)}=${spell(value)}`).join("&")
      const prefix = sandbox ? "/v1/sandbox" : "/v1"
      const answer = await service.call(`${prefix}${path}${search && `?${search}`}`, { key, method: operation.method })
      counts[answer.status] = (counts[answer.status] ?? 0) + 1
      // the service has no model, as the answer states
      if (answer.status === 503) expect(answer.body.error).toBe("ai_not_configured")
      else expect(answer.status).toBeLessThan(500)
      if (!sandbox && answer.status === 200) charged += typeof operation.price === "number" ? operation.price : 0
    }),
    { numRuns: RUNS, seed: 20_261_121 },
  )
  const after = await readUsed()
  expect(after.used).toBe(charged)
  expect(after.ledger).toBe(charged)
  console.info("fuzz statuses", JSON.stringify(counts), "charged", charged)
}, 120_000)
