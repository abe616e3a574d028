import { beforeAll, describe, expect, test } from "bun:test"
import fc from "fast-check"
import { callerIdsOf } from "../../src/http/incoming.ts"
import { freshDatabase } from "../database.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`
const GENERATED_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}$/

let service: Service
let key: string
let workspace: number

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  workspace = await service.workspace()
  key = await service.key(workspace)
})

async function sent(path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Response> {
  const request = new Request(`${PUBLIC_URL}${path}`, {
    ...init,
    headers: { ...headers, authorization: `Bearer ${key}` },
  })
  return await service.app.fetch(request, "127.0.0.1")
}

const tool = (name: string) => ({
  method: "POST",
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } }),
})
const AS_TOOL = { "content-type": "application/json", accept: "application/json, text/event-stream" }

describe("a caller's own ids of its call", () => {
  test("the caller's ids are returned and logged next to the request id, over REST and tools", async () => {
    const ids = { "x-request-id": "Root=1-67891233-abcdef:7/a+b@c", traceparent: TRACEPARENT }
    for (const [path, headers, init] of [
      ["/v1/apps", ids],
      ["/v1/apps/none", ids],
      ["/mcp", { ...ids, ...AS_TOOL }, tool("list_apps")],
    ] as [string, Record<string, string>, RequestInit?][]) {
      service.logged.length = 0
      const answer = await sent(path, headers, init)
      expect([answer.headers.get("x-request-id"), answer.headers.get("traceparent")]).toEqual(Object.values(ids))
      const line = JSON.parse(service.logged.find((text) => text.includes('"call"')) as string)
      expect(line).toMatchObject({ callerRequestId: ids["x-request-id"], traceId: TRACE })
      expect(line.requestId).toMatch(GENERATED_ID)
    }
  })

  test("documents, health, the sandbox and refusals return the caller's ids too", async () => {
    for (const path of ["/docs", "/livez", "/v1/sandbox/apps", "/nowhere", "/share/unknown", `/v1/apps?key=${key}`]) {
      const { headers } = await sent(path, { "x-request-id": "mine", traceparent: TRACEPARENT })
      expect([path, headers.get("x-request-id"), headers.get("traceparent")]).toEqual([path, "mine", TRACEPARENT])
    }
  })

  test("malformed ids and ids with a key are ignored and never logged", async () => {
    for (const bad of ["a b", "a\tb", "a,b", `x${key}`, "a".repeat(129), "é", "<script>", '"', "a;b", "%20"]) {
      service.logged.length = 0
      const answer = await sent("/v1/apps", { "x-request-id": bad })
      expect([bad, answer.headers.get("x-request-id")]).toEqual([bad, expect.stringMatching(GENERATED_ID)])
      expect(service.logged.join()).not.toContain("callerRequestId")
    }
  })

  test("two calls with the same caller id are two charges, and the ledger has the server's ids", async () => {
    const before = await service.call("/v1/account", { key })
    for (let i = 0; i < 2; i++) await sent("/v1/apps", { "x-request-id": "the-same" })
    const after = await service.call("/v1/account", { key })
    expect(after.credits.used - before.credits.used).toBe(2)
    const rows = await service.sql<{ id: string }[]>`
      select request_id as id
      from ledger
      where workspace_id = ${workspace}
      order by id desc
      limit 2`
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2)
    for (const { id } of rows) expect(id).toMatch(GENERATED_ID)
  })
})

test("a traceparent needs nonzero ids in lower case, and only later versions have more fields", () => {
  const cases: [string, boolean][] = [
    [TRACEPARENT, true],
    [TRACEPARENT.toUpperCase(), false],
    [`00-${"0".repeat(32)}-00f067aa0ba902b7-01`, false],
    [`00-${TRACE}-${"0".repeat(16)}-01`, false],
    [`ff-${TRACE}-00f067aa0ba902b7-01`, false],
    [`${TRACEPARENT}-more`, false],
    [`01-${TRACE}-00f067aa0ba902b7-01`, true],
    [`cc-${TRACE}-00f067aa0ba902b7-01-what-will-be`, true],
    [`cc-${TRACE}-00f067aa0ba902b7-01.x`, false],
    [`00-${TRACE}-00f067aa0ba902b7`, false],
    ["", false],
    [`00-${TRACE}0-00f067aa0ba902b7-01`, false],
  ]
  for (const [text, isTaken] of cases)
    expect([text, callerIdsOf(new Headers({ traceparent: text }))]).toEqual([
      text,
      isTaken ? { traceparent: text } : {},
    ])
  const visible = fc.string({ unit: fc.integer({ min: 33, max: 255 }).map((code) => String.fromCharCode(code)) })
  fc.assert(
    fc.property(visible, (text) => {
      const { requestId = "ok" } = callerIdsOf(new Headers({ "x-request-id": text }))
      expect(requestId).toMatch(/^[\w.:=+@/-]{1,128}$/)
    }),
    { seed: 14 },
  )
})

describe("the rate limit headers", () => {
  test("every answer to a key has RateLimit and RateLimit-Policy with the limiter's own count", async () => {
    const slow = openService({ sql: service.sql, now: () => new Date("2026-11-23T10:00:00.250Z") })
    const owner = await slow.workspace({ overrides: { ratePerSecond: 3 } })
    const key = await slow.key(owner)
    const responses: unknown[] = []
    for (const path of ["/v1/account", "/v1/nowhere", "/v1/apps?colour=red", "/v1/account"]) {
      const { status, headers } = await slow.call(path, { key })
      expect(headers.get("ratelimit-policy")).toBe('"per-second";q=3;w=1')
      responses.push([status, headers.get("ratelimit")])
    }
    expect(responses).toEqual([
      [200, '"per-second";r=2;t=1'],
      [404, '"per-second";r=1;t=1'],
      [400, '"per-second";r=0;t=1'],
      [429, '"per-second";r=0;t=1'],
    ])
    const asTool = await slow.tool("list_apps", {}, { key })
    expect([asTool.isError, asTool.headers.get("ratelimit")]).toEqual([true, '"per-second";r=0;t=1'])
  })

  test("a test key gets rate limit headers, and a call without a valid key gets none", async () => {
    const testKey = await service.key(workspace, { kind: "test" })
    expect((await service.call("/v1/apps", { key: testKey })).headers.get("ratelimit")).toMatch(
      /^"per-second";r=\d+;t=1$/,
    )
    for (const path of ["/v1/apps", "/docs", "/v1/sandbox/apps", "/nowhere"])
      expect([path, (await service.call(path)).headers.get("ratelimit")]).toEqual([path, null])
  })
})
