import { beforeAll, describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { readSettings } from "../../src/settings/settings.ts"
import { freshDatabase } from "../database.ts"
import { checkedHeaders, openService, PUBLIC_URL, type Service } from "../service.ts"

const OURS = "https://dashboard.example.com"
const THEIRS = "https://other.example.com"

let sql: Sql
let closed: Service
let named: Service
let open: Service
let key: string

beforeAll(async () => {
  sql = await freshDatabase()
  closed = openService({ sql })
  named = openService({ sql, settings: { corsOrigins: ["http://localhost:5173", OURS] } })
  open = openService({ sql, settings: { corsOrigins: ["*"] } })
  key = await closed.key(await closed.workspace())
})

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" }
const AS_TOOL = { "content-type": "application/json", accept: "application/json, text/event-stream" }

/** Sends the preflight that a browser sends before a call with a key. */
async function preflight({ app }: Service, path: string, origin: string, method = "GET"): Promise<Response> {
  const headers = { origin, "access-control-request-method": method, "access-control-request-headers": "authorization" }
  return await app.fetch(new Request(`${PUBLIC_URL}${path}`, { method: "OPTIONS", headers }), "127.0.0.1")
}

async function called({ app }: Service, path: string, origin: string): Promise<Response> {
  const headers = { origin, authorization: `Bearer ${key}`, ...(path === "/mcp" && AS_TOOL) }
  const init = path === "/mcp" ? { method: "POST", body: JSON.stringify(LIST), headers } : { headers }
  return await app.fetch(new Request(`${PUBLIC_URL}${path}`, init), "127.0.0.1")
}

const readableBy = ({ headers }: Response) => headers.get("access-control-allow-origin")

describe.each(["/v1/apps", "/v1/apps/none/keywords", "/v1/nowhere", "/mcp"])("%s", (path) => {
  test("without CORS_ORIGINS, a page of another origin can neither call nor read the response", async () => {
    expect((await preflight(closed, path, OURS)).status).toBeGreaterThanOrEqual(401)
    expect(readableBy(await preflight(closed, path, OURS))).toBeNull()
    const { headers } = await called(closed, path, OURS)
    expect([headers.get("access-control-allow-origin"), headers.get("vary")]).not.toContain("origin")
    expect(headers.get("access-control-allow-origin")).toBeNull()
  })

  test("a page of an allowed origin may preflight, call, and read body and headers; other pages may not", async () => {
    const preflighted = await preflight(named, path, OURS, path === "/mcp" ? "POST" : "GET")
    checkedHeaders(preflighted)
    expect([preflighted.status, readableBy(preflighted), await preflighted.text()]).toEqual([204, OURS, ""])
    const allowed = (name: string) => (preflighted.headers.get(`access-control-allow-${name}`) ?? "").split(", ")
    expect(allowed("methods")).toEqual(["GET", "POST"])
    for (const header of ["authorization", "x-api-key", "content-type", "if-none-match", "mcp-protocol-version"])
      expect(allowed("headers")).toContain(header)
    expect(preflighted.headers.get("access-control-allow-credentials")).toBeNull()

    const answer = await called(named, path, OURS)
    checkedHeaders(answer)
    expect([readableBy(answer), answer.headers.get("vary")]).toEqual([OURS, expect.stringContaining("origin")])
    const exposed = answer.headers.get("access-control-expose-headers") as string
    for (const [name] of answer.headers)
      if (/^(x-credits|x-request|ratelimit|etag|retry|allow$)/.test(name)) expect(exposed.split(", ")).toContain(name)

    for (const origin of [THEIRS, "null", "https://dashboard.example.com.evil.example", `${OURS}:8443`]) {
      expect([origin, readableBy(await preflight(named, path, origin))]).toEqual([origin, null])
      const refused = await called(named, path, origin)
      expect([origin, readableBy(refused)]).toEqual([origin, null])
      expect(refused.headers.get("vary")).toContain("origin")
    }
  })

  test("the origin * allows every page, with the same response for all", async () => {
    for (const origin of [OURS, THEIRS]) {
      expect([(await preflight(open, path, origin)).status, readableBy(await preflight(open, path, origin))]).toEqual([
        204,
        "*",
      ])
      const answer = await called(open, path, origin)
      expect([readableBy(answer), answer.headers.get("vary") ?? ""]).toEqual([
        "*",
        expect.not.stringContaining("origin"),
      ])
    }
  })
})

test("an allowed page can read refusals, such as a missing key or too long an address", async () => {
  for (const path of ["/v1/apps", `/v1/apps?q=${"x".repeat(20_000)}`]) {
    const request = new Request(`${PUBLIC_URL}${path}`, { headers: { origin: OURS } })
    const refused = await named.app.fetch(request, "127.0.0.1")
    expect([refused.status >= 400, readableBy(refused)]).toEqual([true, OURS])
  }
})

test("an assistant on an allowed page lists tools; on others it is refused before the key check", async () => {
  const answer = await called(named, "/mcp", OURS)
  expect([answer.status, (await answer.json()).result.tools.length > 0]).toEqual([200, true])
  expect((await called(named, "/mcp", THEIRS)).status).toBe(403)
})

test("documents and the sandbox stay open to every page, and the sandbox refuses OPTIONS", async () => {
  for (const service of [closed, named])
    for (const path of ["/v1/sandbox/apps", "/v1/openapi.json"]) {
      expect(readableBy(await called(service, path, THEIRS))).toBe("*")
      expect((await preflight(service, path, OURS)).status).toBe(405)
    }
})

test("the setting accepts origins as browsers spell them, and explains what is wrong with other values", () => {
  const read = (text: string) => readSettings({ CORS_ORIGINS: text }, () => "")
  expect(read("").corsOrigins).toEqual([])
  expect(read(`${OURS}, http://localhost:5173,capacitor://localhost`).corsOrigins).toEqual([
    OURS,
    "http://localhost:5173",
    "capacitor://localhost",
  ])
  expect(read("*").corsOrigins).toEqual(["*"])
  for (const bad of [
    "dashboard.example.com",
    `${OURS}/`,
    `${OURS}:443`,
    "https://A.example",
    "null",
    "https://*.a.example",
  ])
    expect(() => read(bad)).toThrow("CORS_ORIGINS")
})
