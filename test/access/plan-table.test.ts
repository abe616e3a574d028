import { beforeAll, describe, expect, test } from "bun:test"
import { PLANS, type Plan, planCovers } from "../../src/access/plans.ts"
import { SCOPES } from "../../src/access/scopes.ts"
import { catalog } from "../../src/catalog.ts"
import type { Operation } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { cases } from "../long.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"
import { openService, type Service } from "../service.ts"

/** These list operations succeed without rows, free of charge. */
const LISTS = new Set(["hive_list_new_apps", "hive_find_apps", "hive_get_keyword_gap"])

// 4 plans × {nothing more, a credit pack, Explorer} × {live, test} × every operation.

const EXTRAS = ["none", "pack", "explorer"] as const
type Extra = (typeof EXTRAS)[number]

let sql: Sql
let service: Service
const sampleOf = new Map<string, { path: string; body?: unknown }>()

beforeAll(async () => {
  sql = await freshDatabase()
  const fixtures = fixturesWithSamples()
  service = openService({ sql, catalog: catalogWithSamples, fixtures })
  for (const { id, path, method } of catalogWithSamples) {
    const { input } = JSON.parse(fixtures.get(`${id}.json`) as string) as { input: Record<string, string> }
    const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(input[name] as string))
    const rest = Object.entries(input).filter(([name]) => !path.includes(`:${name}`))
    const query = new URLSearchParams(method === "GET" ? rest : [])
    sampleOf.set(id, { path: `/v1${filled}?${query}`, body: method === "POST" ? Object.fromEntries(rest) : undefined })
  }
})

/** Returns the expected code, derived from the specification instead of the code under test. */
function expectedCode(operation: Operation, plan: Plan, extra: Extra, kind: "live" | "test"): string {
  const writing = operation.effect === "writes" || operation.effect === "previews"
  if (kind === "test") return writing ? "test_key_read_only" : "sandbox"
  // The token is checked before the rights, and the sample's token was never issued.
  if (operation.id === "confirm_action") return "confirm_token_invalid"
  if (plan === "free" && extra !== "pack") return "plan_required"
  if (!planCovers(plan, operation.plan ?? "free")) return "plan_required"
  if (operation.hive === "explorer" && extra !== "explorer") return "explorer_required"
  if (operation.hive === "pack" && extra === "none") return "explorer_required"
  // On Free, the difficulty is not available for terms that the workspace does not track.
  if (operation.id === "get_keyword_difficulty" && plan === "free") return "plan_required"
  // The keywords and apps of these calls were never measured.
  if (operation.id === "hive_measure_keyword") return "hive_measurement_unavailable"
  if (operation.hive && catalog.includes(operation) && !LISTS.has(operation.id)) return "not_measured"
  // The workspaces of this test track no app, so a call about an app fails with not_found. The operation fault_sample
  // fails with it, too.
  if (operation.id === "get_job") return "job_not_found"
  const aboutAnApp = operation.subject || ["fetch", "preview_action"].includes(operation.id)
  return aboutAnApp || operation.id === "fault_sample" ? "not_found" : "answers"
}

async function open(plan: Plan, extra: Extra, kind: "live" | "test"): Promise<string> {
  const pack = extra === "pack" ? 10_000 : 0
  const overrides = { credits: 10_000, ratePerSecond: 100_000, liveKeys: 100 }
  const workspace = await service.workspace({ plan, explorer: extra === "explorer", pack, overrides })
  return service.key(workspace, { kind, scopes: SCOPES })
}

/**
 * The short run has a third of the combinations: each operation with every plan, every extra and both kinds of key, but
 * not all combined.
 */
function triedBy(plan: Plan, extra: Extra, kind: "live" | "test"): readonly Operation[] {
  const way = PLANS.indexOf(plan) + EXTRAS.indexOf(extra) + (kind === "live" ? 0 : 1)
  return catalogWithSamples.filter((_, at) => (at + way) % cases(3, 1) === 0)
}

for (const plan of PLANS) {
  for (const extra of EXTRAS) {
    describe(`${plan}, ${extra === "none" ? "nothing more" : extra}`, () => {
      for (const kind of ["live", "test"] as const) {
        test(`every operation answers a ${kind} key with the result or error that the plan requires`, async () => {
          const key = await open(plan, extra, kind)
          const wrong: string[] = []
          for (const operation of triedBy(plan, extra, kind)) {
            const { path, body } = sampleOf.get(operation.id) as { path: string; body?: unknown }
            const answer = await service.call(path, { key, method: operation.method, body })
            const want = expectedCode(operation, plan, extra, kind)
            const actual = answer.body.error ?? (kind === "test" ? "sandbox" : "answers")
            if (actual !== want) wrong.push(`${operation.id}: ${actual} instead of ${want}`)
          }
          expect(wrong).toEqual([])
        })
      }
    })
  }
}
