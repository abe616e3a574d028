import { beforeAll, describe, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { type Operation, priceRange, toolInput } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { faultsOf } from "../../src/http/openapi/responses.ts"
import type { FaultCode } from "../../src/lib/faults.ts"
import { freshDatabase } from "../database.ts"
import { LONG } from "../long.ts"
import { asTool, type Change, type Outcomes, outcomesOver, overRest, type Situation } from "./outcomes.ts"

// Every fault the document promises of an operation is raised here by a call of it, over REST and as a tool. That no other
// is ever raised is checked by every call of every test: an answer that the document does not describe fails the test
// (test/document.ts).

/** What a JSON-RPC message has no part in; test/surfaces/tools*.test.ts holds what /mcp says instead. */
const HTTP_ONLY: FaultCode[] = [
  "key_in_url", "unknown_endpoint", "method_not_allowed", "body_too_large", "unsupported_media_type",
  "headers_too_large",
] // biome-ignore format: a list to scan

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

/** What a call answered and took, without the names that every situation has of its own. */
async function seen({ workspaceId, app }: Situation, answer: { body: unknown; credits: object }): Promise<Seen> {
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

/** The same situation, made twice: one call over REST, one as a tool. */
async function bothWays(operation: Operation, change?: Change): Promise<[rest: Seen, tool: Seen]> {
  const [first, second] = [await outcomes.open(operation, change), await outcomes.open(operation, change)]
  // what a tool does unasked, REST is asked for
  first.input = toolInput(operation, first.input)
  const rest = await seen(first, await overRest(operation, first))
  const tool = await seen(second, await asTool(operation, second))
  return [rest, tool]
}

/** One situation and both calls: the first, refused, changes nothing for the second. */
async function refusedBothWays(operation: Operation, change: Change): Promise<[rest: Seen, tool: Seen]> {
  const situation = await outcomes.open(operation, change)
  const rest = await seen(situation, await overRest(operation, situation))
  const tool = await seen(situation, await asTool(operation, situation))
  return [rest, tool]
}

/** Undefined for an answer; one about a job has an error of its own that is no text. */
function errorOf({ body }: Seen): string | undefined {
  const { error } = body as { error?: unknown }
  return typeof error === "string" ? error : undefined
}

const tried = new Set<FaultCode>()

/**
 * At length those of its own, and of those that any operation can raise every twelfth; in short those that no operation
 * before it raised: each code is raised by one.
 */
function triedOf(operation: Operation): FaultCode[] {
  const at = catalog.indexOf(operation)
  const isTried = (code: FaultCode, i: number) => operation.faults.includes(code) || (at + i) % 12 === 0
  const codes = faultsOf(operation).filter((code, i) => (LONG ? isTried(code, i) : !tried.has(code)))
  for (const code of codes) tried.add(code)
  return codes
}

for (const [at, operation] of catalog.entries()) {
  describe(operation.id, () => {
    // that each answers is tried where it is at home: in short every twenty-fourth is asked in both ways
    test.skipIf(!LONG && at % 24 !== 0)("answers, and takes the same, over REST and as a tool", async () => {
      const [rest, tool] = await bothWays(operation)
      expect(errorOf(rest)).toBeUndefined()
      expect(tool).toEqual(rest)
      if (priceRange(operation.price).min > 0) expect(rest.ledger).toHaveLength(1)
    })

    for (const code of triedOf(operation)) {
      const change = (): Change => outcomes.raised[code] as Change

      if (HTTP_ONLY.includes(code)) {
        test(`raises ${code}`, async () => {
          const situation = await outcomes.open(operation, change())
          expect((await overRest(operation, situation)).body.error).toBe(code)
        })
      } else if (code === "plan_required" && (operation.plan ?? "free") === "free") {
        test("raises plan_required over REST alone: tools are for every plan", async () => {
          const [rest, tool] = await bothWays(operation, change())
          expect([errorOf(rest), errorOf(tool)]).toEqual([code, undefined])
        })
      } else if (code === "not_measured" && operation.hive) {
        test("raises not_measured, alike over REST and as a tool, and takes what nothing costs", async () => {
          const [rest, tool] = await bothWays(operation, change())
          expect([errorOf(rest), rest.ledger]).toEqual([code, [{ operation: operation.id, cost: 1 }]])
          expect(tool).toEqual(rest)
        })
      } else {
        test(`raises ${code}, alike over REST and as a tool, and takes nothing`, async () => {
          const [rest, tool] = await refusedBothWays(operation, change())
          expect([errorOf(rest), rest.ledger]).toEqual([code, []])
          // REST asks for a plan of its own before the operation does
          if (code === "plan_required") expect(errorOf(tool)).toBe(code)
          else expect(tool).toEqual(rest)
        })
      }
    }

    test("promises the faults of money only where it costs something", () => {
      const { atMost } = priceRange(operation.price)
      expect(faultsOf(operation).includes("credits_exhausted")).toBe(atMost > 0)
    })
  })
}
