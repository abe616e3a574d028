import { beforeAll, describe, expect, test } from "bun:test"
import { freshDatabase } from "../database.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { type PostOptions, post, request } from "./tools-messages.ts"

let local: Service
let hosted: Service
let key: string

beforeAll(async () => {
  const sql = await freshDatabase()
  local = openService({ sql })
  hosted = openService({ sql, settings: { publicUrl: "https://appmeter.example" } })
  key = await local.key(await local.workspace())
})

const status = async (service: Service, headers: Record<string, string>, options: PostOptions = {}) =>
  (await post(service, request("ping"), { key, headers, ...options })).status

describe("Host", () => {
  const accepted = [
    "appmeter.example",
    "APPMETER.example",
    "appmeter.example:8443",
    "localhost",
    "localhost:3000",
    "127.0.0.1",
    "127.0.0.1:1",
    "10.1.2.3:8787",
    "[::1]",
    "[::1]:8787",
    "[2001:db8::7]",
    "[::ffff:10.0.0.1]:80",
  ]
  test.each(accepted)("the host %s is accepted", async (host) => {
    expect(await status(hosted, { host })).toBe(200)
  })

  const refused = [
    "evil.example",
    "appmeter.example.evil.example",
    "evil.appmeter.example",
    "appmeter.example.",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost.",
    "sub.localhost",
    "evil.example@127.0.0.1",
    "127.0.0.1@evil.example",
    "127.0.0.1/evil.example",
    "[::1",
    "::1",
    "127.1",
    "0x7f000001",
    "127.0.0.256",
    "localhost:port",
    "",
    "under_score",
  ]
  test.each(refused)("the host %p is refused with a message that names PUBLIC_URL", async (host) => {
    const { status, body } = await post(hosted, request("ping"), { key, headers: { host } })
    expect([status, body.error.code, body.id]).toEqual([403, -32000, null])
    expect(body.error.message).toContain("PUBLIC_URL")
    if (host) expect(body.error.message).not.toContain(host)
  })

  test("without a Host header the host of the URL is checked, and a call without any host is refused", async () => {
    expect(await status(local, {}, { base: "http://localhost:9" })).toBe(200)
    expect(await status(local, {}, { base: "http://evil.example" })).toBe(403)
    const { app } = local
    const bare = { method: "POST", url: "/mcp", headers: new Headers() } as unknown as Request
    expect((await app.fetch(bare, null)).status).toBe(403)
  })
})

describe("Origin", () => {
  const accepted = [
    "https://appmeter.example",
    "https://appmeter.example:443",
    "http://localhost",
    "http://localhost:6274",
    "https://localhost:1",
    "http://127.0.0.1:3000",
    "http://127.9.9.9",
    "http://[::1]:3000",
  ]
  test.each(accepted)("a page of origin %s may call", async (origin) => {
    expect(await status(hosted, { host: "appmeter.example", origin })).toBe(200)
  })

  const refused = [
    "null",
    "",
    "http://appmeter.example",
    "https://appmeter.example:8443",
    "https://evil.example",
    "https://appmeter.example.evil.example",
    "http://localhost.evil.example",
    "http://localhost@evil.example",
    "http://127.0.0.1.evil.example",
    "http://10.0.0.1",
    "http://[2001:db8::7]",
    "file://",
    "file://localhost/",
    "chrome-extension://abc",
    "chrome-extension://localhost",
    "ftp://127.0.0.1",
    "data:text/html,x",
    "localhost",
    "//localhost",
    "http://",
  ]
  test.each(refused)("a page of origin %p may not call", async (origin) => {
    const { status, body } = await post(hosted, request("ping"), { key, headers: { host: "appmeter.example", origin } })
    expect([status, body.error.code, body.id]).toEqual([403, -32000, null])
    expect(body.error.message).not.toMatch(/evil|2001|chrome|data:|file:/)
  })

  test("a caller without an Origin header may call", async () => {
    expect(await status(hosted, { host: "appmeter.example" })).toBe(200)
  })
})

describe("the order of checks", () => {
  test("a wrong origin is refused before the key is checked", async () => {
    const before = local.logged.length
    const answer = await post(local, request("ping"), { headers: { origin: "https://evil.example" } })
    expect([answer.status, answer.credits.limit]).toEqual([403, 0])
    expect(answer.headers.has("www-authenticate")).toBe(false)
    const lines = local.logged.slice(before).map((line) => JSON.parse(line))
    expect(lines).toMatchObject([{ event: "call", path: "/mcp", status: 403, code: "-32000", cost: 0 }])
    expect(lines[0]).not.toHaveProperty("keyId")
  })

  test("a wrong host is refused before a wrong method and a key in the URL", async () => {
    for (const method of ["GET", "POST"]) {
      const options = { headers: { host: "evil.example" }, method, query: "?k=svc_live_abc" }
      expect((await post(local, undefined, options)).status).toBe(403)
    }
  })

  test("a trailing slash in the address is ignored", async () => {
    const sent = (path: string) =>
      local.app.fetch(
        new Request(`${PUBLIC_URL}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
        }),
        null,
      )
    const [plain, slashed] = [await sent("/mcp"), await sent("/mcp/")]
    expect([slashed.status, await slashed.json()]).toEqual([plain.status, await plain.json()])
    expect(slashed.headers.get("www-authenticate")).toBe(plain.headers.get("www-authenticate"))
  })

  test("only POST is answered; for other methods a key in the URL is reported first", async () => {
    for (const method of ["GET", "DELETE", "PUT", "OPTIONS", "PATCH"]) {
      const answer = await post(local, undefined, { method, key })
      expect([answer.status, answer.headers.get("allow"), answer.body.error.code]).toEqual([405, "POST", -32000])
      expect(answer.body.error.data.error).toBe("method_not_allowed")
      const leaking = await post(local, undefined, { method, query: "?k=svc_live_abc" })
      expect([leaking.status, leaking.body.error.data.error]).toEqual([400, "key_in_url"])
    }
    const head = await local.app.fetch(new Request(`${PUBLIC_URL}/mcp`, { method: "HEAD" }), null)
    expect([head.status, head.headers.get("allow")]).toEqual([405, "POST"])
  })
})
