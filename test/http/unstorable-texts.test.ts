import { beforeAll, describe, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { isUsableRedirect } from "../../src/access/oauth/redirects.ts"
import type { Sql } from "../../src/database/types.ts"
import { codeFor, ownerBrowser, pkce, post, queryOf, REDIRECT, register } from "../access/oauth/scene.ts"
import { freshDatabase } from "../database.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"

let sql: Sql
let service: Service
let workspaceId: number

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  workspaceId = await service.workspace({ plan: "pro" })
})

/** PostgreSQL cannot store these characters, so no stored name contains them. */
const UNSTORABLE = ["a\u0000b", "\u0000"]
const SURROGATES = ["a\ud800b", "\udc00"]

async function sent(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const request = new Request(`${PUBLIC_URL}${path}`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields).toString(),
  })
  return (await service.app.fetch(request, "192.0.2.9")).status
}

describe("a text that the database cannot store is refused with 400, never answered with 500", () => {
  test("the sign-in form refuses unstorable texts", async () => {
    for (const text of UNSTORABLE) {
      expect(await sent("/sign-in", { workspace: text, passphrase: "correct horse battery" })).toBe(400)
      expect(await sent("/sign-in", { workspace: "acme", passphrase: text })).toBe(400)
      expect(await sent("/sign-in", { code: text })).toBe(400)
    }
  })

  test("the token endpoint and revocation refuse unstorable texts of an OAuth client", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const clientId = await register(service)
    const { verifier, challenge } = pkce()
    const code = await codeFor(browser, queryOf(clientId, challenge))
    const right = { grant_type: "authorization_code", code, code_verifier: verifier, client_id: clientId }
    const { body } = await post(service, "/oauth/token", { ...right, redirect_uri: REDIRECT })
    const token = body.refresh_token as string
    for (const text of UNSTORABLE) {
      const basic = { authorization: `Basic ${Buffer.from(`${encodeURIComponent(text)}:`).toString("base64")}` }
      const renewal = { grant_type: "refresh_token", refresh_token: token }
      expect((await post(service, "/oauth/token", { ...renewal, client_id: text })).status).toBe(400)
      expect(await sent("/oauth/token", renewal, basic)).toBeWithin(400, 402)
      expect((await post(service, "/oauth/revoke", { token, client_id: text })).status).toBe(400)
      expect(await sent("/oauth/revoke", { token }, basic)).toBe(400)
      expect((await post(service, "/oauth/token", { ...right, redirect_uri: text })).status).toBe(400)
    }
  })

  test("the forms of the dashboard refuse unstorable texts", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    expect((await browser.send("/app/write", { action: "add_app", iosId: "1\u0000" })).status).toBe(400)
  })

  test("a client's redirect addresses may not contain unstorable texts", () => {
    for (const text of [...UNSTORABLE, ...SURROGATES])
      expect([`https://client.example/${text}`, `com.example.app:/${text}`].map(isUsableRedirect)).toEqual([
        false,
        false,
      ])
  })

  test("the queries of pages refuse unstorable texts", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    for (const path of [
      "/app?order=%00",
      "/app/alerts?at=a%00b",
      "/sign-in?code=%00",
      "/oauth/authorize?client_id=%00",
    ])
      expect([path, (await browser.open(path)).status < 500]).toEqual([path, true])
    expect(service.logged.filter((line) => line.includes("internal_error"))).toEqual([])
  })

  test("an unstorable text in an MCP message never causes an internal error", async () => {
    const key = await service.key(workspaceId)
    for (const text of [...UNSTORABLE, ...SURROGATES]) {
      const messages = [
        ["tools/call", { name: "get_app", arguments: { appId: text } }],
        ["tools/call", { name: text, arguments: {} }],
        ["resources/read", { uri: `appmeter://apps/${encodeURIComponent(text.toWellFormed())}` }],
        ["resources/read", { uri: text }],
        ["prompts/get", { name: "find_keywords", arguments: { app: text } }],
        [
          "completion/complete",
          { ref: { type: "ref/prompt", name: "find_keywords" }, argument: { name: "app", value: text } },
        ],
      ]
      for (const [method, params] of messages) {
        const request = new Request(`${PUBLIC_URL}/mcp`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "x-api-key": key,
          },
          body: JSON.stringify({ jsonrpc: "2.0", id: randomBytes(4).toString("hex"), method, params }),
        })
        const answer = await service.app.fetch(request, "192.0.2.9")
        expect([method, answer.status < 500, (await answer.text()).includes("internal_error")]).toEqual([
          method,
          true,
          false,
        ])
      }
    }
    expect(service.logged.filter((line) => line.includes("internal_error"))).toEqual([])
  })
})
