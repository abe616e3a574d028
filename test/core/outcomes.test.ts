import { beforeAll, describe, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { type Operation, priceRange, toolInput } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { faultsOf } from "../../src/http/openapi/responses.ts"
import type { FaultCode } from "../../src/lib/faults.ts"
import { freshDatabase } from "../database.ts"
import { LONG } from "../long.ts"
import { asTool, type Change, type Outcomes, outcomesOver, overRest, type Situation } from "./outcomes.ts"

// Raises every fault that the document promises for an operation, over REST and as a tool. Every other test checks that
// no undocumented fault is raised, because an answer without a description fails the test (test/document.ts).

/** Faults that a JSON-RPC message cannot raise; test/surfaces/tools*.test.ts covers the answers of /mcp. */
const HTTP_ONLY: FaultCode[] = [
  "key_in_url",
  "unknown_endpoint",
  "method_not_allowed",
  "body_too_large",
  "unsupported_media_type",
  "headers_too_large",
]

let sql: Sql
let outcomes: Outcomes

beforeAll(async () => {
  sql = await freshDatabase()
  outcomes = outcomesOver(sql)
})

interface Seen {
  body: unknown
  credits: object
  ledger: unknown[]
}

/** Returns the answer and charges of a call, without names that differ in every situation. */
async function observe({ workspaceId, app }: Situation, answer: { body: unknown; credits: object }): Promise<Seen> {
  const ledger = await sql`select operation, cost from ledger where workspace_id = ${workspaceId} order by id limit 10`
  const { body, credits } = answer
  return { body: plain(body, app), credits, ledger: ledger.map((row) => ({ ...row })) }
}

function plain(body: unknown, app: string): unknown {
  return JSON.parse(
    JSON.stringify(body ?? null)
      .replaceAll(app, "APP")
      .replaceAll(/confirm_[\w-]{43}/g, "TOKEN")
      .replaceAll(/job_[\w-]{20}/g, "JOB")
      .replaceAll(/ac_[0-9a-f]{18}/g, "ACCOUNT")
      .replaceAll(/"[0-9a-f]{64}"/g, '"DIGEST"')
      .replaceAll(/keyword-[\d-]+/g, "TARGET")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "REQUEST")
      .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"'),
  )
}

/** Creates the same situation twice. Makes the call over REST in the first and as a tool in the second. */
async function bothWays(operation: Operation, change?: Change): Promise<[rest: Seen, tool: Seen]> {
  const [first, second] = [await outcomes.open(operation, change), await outcomes.open(operation, change)]
  // the REST call sends the tool's defaults
  first.input = toolInput(operation, first.input)
  const rest = await observe(first, await overRest(operation, first))
  const tool = await observe(second, await asTool(operation, second))
  return [rest, tool]
}

/** Makes both calls in one situation: a refused call changes nothing for the next. */
async function refusedBothWays(operation: Operation, change: Change): Promise<[rest: Seen, tool: Seen]> {
  const situation = await outcomes.open(operation, change)
  const rest = await observe(situation, await overRest(operation, situation))
  const tool = await observe(situation, await asTool(operation, situation))
  return [rest, tool]
}

/** Returns the error code. Undefined for an answer; the error of a job is an object, not a code. */
function errorOf({ body }: Seen): string | undefined {
  const { error } = body as { error?: unknown }
  return typeof error === "string" ? error : undefined
}

const tried = new Set<FaultCode>()

/**
 * Returns the codes to test. The long run tests the operation's own codes and every twelfth of the common ones; the
 * short run tests the codes that no earlier operation raised, so that each is raised once.
 */
function triedOf(operation: Operation): FaultCode[] {
  const position = catalog.indexOf(operation)
  const isTried = (code: FaultCode, i: number) => operation.faults.includes(code) || (position + i) % 12 === 0
  const codes = faultsOf(operation).filter((code, i) => (LONG ? isTried(code, i) : !tried.has(code)))
  for (const code of codes) tried.add(code)
  return codes
}

for (const [at, operation] of catalog.entries()) {
  describe(operation.id, () => {
    // other tests cover the answers, so the short run compares only every twenty-fourth operation
    test.skipIf(!LONG && at % 24 !== 0)(
      `${operation.id} has the same answer and the same charge over REST and as a tool`,
      async () => {
        const [rest, tool] = await bothWays(operation)
        expect(errorOf(rest)).toBeUndefined()
        expect(tool).toEqual(rest)
        if (priceRange(operation.price).min > 0) expect(rest.ledger).toHaveLength(1)
      },
    )

    for (const code of triedOf(operation)) {
      const change = (): Change => outcomes.raised[code] as Change

      if (HTTP_ONLY.includes(code)) {
        test(`${operation.id} raises ${code}`, async () => {
          const situation = await outcomes.open(operation, change())
          expect((await overRest(operation, situation)).body.error).toBe(code)
        })
      } else if (code === "plan_required" && (operation.plan ?? "free") === "free") {
        test(`${operation.id} raises plan_required over REST only, because tools are open to every plan`, async () => {
          const [rest, tool] = await bothWays(operation, change())
          expect([errorOf(rest), errorOf(tool)]).toEqual([code, undefined])
        })
      } else if (code === "not_measured" && operation.hive) {
        test(`${operation.id} raises not_measured over REST and as a tool, and charges one credit`, async () => {
          const [rest, tool] = await bothWays(operation, change())
          expect([errorOf(rest), rest.ledger]).toEqual([code, [{ operation: operation.id, cost: 1 }]])
          expect(tool).toEqual(rest)
        })
      } else {
        test(`${operation.id} raises ${code} over REST and as a tool, and charges nothing`, async () => {
          const [rest, tool] = await refusedBothWays(operation, change())
          expect([errorOf(rest), rest.ledger]).toEqual([code, []])
          // REST checks the plan that it requires itself before the operation's plan
          if (code === "plan_required") expect(errorOf(tool)).toBe(code)
          else expect(tool).toEqual(rest)
        })
      }
    }

    test(`${operation.id} documents credits_exhausted exactly if it can cost credits`, () => {
      const { atMost } = priceRange(operation.price)
      expect(faultsOf(operation).includes("credits_exhausted")).toBe(atMost > 0)
    })
  })
}
