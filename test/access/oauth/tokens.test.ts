import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { listKeys, pauseKey, revokeKey } from "../../../src/access/key-register.ts"
import { slow } from "../../long.ts"
import { openService, PUBLIC_URL } from "../../service.ts"
import { fresh, newOwner, openScene, service, sql, workspace, workspaceId } from "./owner-scene.ts"
import { codeFor, letIn, ownerBrowser, pkce, post, queryOf, REDIRECT, refresh, register } from "./scene.ts"

beforeAll(openScene)
beforeEach(newOwner)

describe("tokens", () => {
  test("a refresh replaces the refresh token, and the new tokens have the same scopes", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    const { status, body, headers } = await refresh(service, clientId, tokens.refresh_token)
    expect([status, body.scope, headers.get("cache-control")]).toEqual([200, tokens.scope, "no-store"])
    expect(body.refresh_token).not.toBe(tokens.refresh_token)
    expect((await service.tool("whoami", {}, { key: body.access_token })).status).toBe(200)
  })

  test("a refresh can request fewer scopes, but no additional scopes", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId, { scopes: ["apps:read", "reviews:read"] })
    const { body } = await refresh(service, clientId, tokens.refresh_token, { scope: "apps:read ads:write" })
    expect(body.scope).toBe("apps:read")
    const { body: call } = await service.tool("list_reviews", { appId: "app_none" }, { key: body.access_token })
    expect(call.error).toBe("scope_required")
  })

  test("a refresh token reused within 30 s gives the same new token; a later reuse revokes the grant", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    const renewed = await Promise.all(
      Array.from({ length: 10 }, () => refresh(service, clientId, tokens.refresh_token)),
    )
    expect(new Set(renewed.map(({ body }) => body.refresh_token)).size).toBe(1)
    const [{ body: next }] = renewed as [(typeof renewed)[0]]
    await sql`update refresh_token set used_at = used_at - interval '31 s' where used_at is not null`
    const stolen = await refresh(service, clientId, tokens.refresh_token)
    expect([stolen.status, stolen.body.error]).toEqual([400, "invalid_grant"])
    expect((await refresh(service, clientId, next.refresh_token)).body.error).toBe("invalid_grant")
    expect((await fresh().tool("whoami", {}, { key: next.access_token })).body.error).toBe("invalid_token")
    expect((await listKeys(sql, workspace)).map(({ state }) => state)).toEqual(["usable", "revoked"])
  })

  test("an access token lasts an hour, a refresh token 60 days, and a grant a year", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    const [dates] = await sql`
      select a.expires_at - now() as access, r.expires_at - now() as refresh, g.ends_at - now() as ends
      from oauth_grant g
      join access_token a on a.key_id = g.key_id
      join refresh_token r on r.key_id = g.key_id
      where g.client_id = ${clientId}`
    expect([dates!.access, dates!.refresh, dates!.ends].map(String)).toMatchObject([
      expect.stringMatching(/^(00:59:|01:00:00$)/),
      expect.stringMatching(/^(59 days 23:|60 days$)/),
      expect.stringMatching(/^(364 days 23:|365 days$)/),
    ])
    await sql`update oauth_grant set ends_at = now() + interval '5 days'`
    const { body } = await refresh(service, clientId, tokens.refresh_token)
    const [last] = await sql`
        select max(expires_at) < now() + interval '6 days' as short from refresh_token
        where used_at is null and key_id = (select key_id from oauth_grant where client_id = ${clientId})`
    expect(last!.short).toBe(true)
    await sql`update access_token set expires_at = now()`
    expect((await fresh().tool("whoami", {}, { key: body.access_token })).body.error).toBe("invalid_token")
  })

  test("tokens are valid only for the tool endpoint of this server", async () => {
    const { tokens } = await letIn(service, workspaceId)
    const moved = openService({ sql, settings: { publicUrl: "https://ranks.example.com" } })
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
    const headers = {
      authorization: `Bearer ${tokens.access_token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    }
    const response = await moved.app.fetch(
      new Request("https://ranks.example.com/mcp", { method: "POST", headers, body }),
      "192.0.2.1",
    )
    expect(response.status).toBe(401)
  })

  test.each([
    ["letter by letter", `${PUBLIC_URL}/mcp`, 200],
    ["with a final slash", `${PUBLIC_URL}/mcp/`, 200],
    ["in upper case", `${PUBLIC_URL.replace("http", "HTTP")}/mcp`, 200],
    ["left out", undefined, 200],
    ["another path", `${PUBLIC_URL}/other`, 400],
    ["another host", "https://elsewhere.example/mcp", 400],
    ["with a fragment", `${PUBLIC_URL}/mcp#x`, 400],
  ])("the resource of a token request is checked: %s", async (_, resource, status) => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    const renewed = await refresh(service, clientId, tokens.refresh_token, resource === undefined ? {} : { resource })
    expect(renewed.status).toBe(status)
    if (status === 400) expect(renewed.body.error).toBe("invalid_target")
  })

  test("a client can revoke its own tokens, but not the tokens of another client", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    const other = await register(service)
    for (const [token, client_id] of [
      [tokens.refresh_token, other],
      ["nonsense", clientId],
      [`svc_access_${"a".repeat(36)}`, clientId],
    ])
      expect((await post(service, "/oauth/revoke", { token, client_id })).status).toBe(200)
    expect((await service.tool("whoami", {}, { key: tokens.access_token })).status).toBe(200)
    expect((await post(service, "/oauth/revoke", { token: tokens.access_token, client_id: clientId })).status).toBe(200)
    expect((await fresh().tool("whoami", {}, { key: tokens.access_token })).status).toBe(401)
    expect((await refresh(service, clientId, tokens.refresh_token)).status).toBe(400)
  })

  test("a revocation without a token or a client is an invalid request and revokes nothing", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    for (const fields of [{ token: tokens.access_token }, { client_id: clientId }, {}]) {
      const { status, body } = await post(service, "/oauth/revoke", fields as Record<string, string>)
      expect([status, body.error]).toEqual([400, "invalid_request"])
    }
    expect((await service.tool("whoami", {}, { key: tokens.access_token })).status).toBe(200)
  })

  slow("a grant is paused and revoked like a key, within a second", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    const { id } = (await listKeys(sql, workspace)).find(({ name }) => name === "Test client")!
    await pauseKey(sql, id)
    await Bun.sleep(800)
    expect((await service.tool("whoami", {}, { key: tokens.access_token })).body.error).toBe("key_paused")
    await revokeKey(sql, id)
    await Bun.sleep(800)
    expect((await service.tool("whoami", {}, { key: tokens.access_token })).body.error).toBe("invalid_token")
    expect((await refresh(service, clientId, tokens.refresh_token)).body.error).toBe("invalid_grant")
  })

  test("token errors have OAuth codes and do not repeat the request", async () => {
    const clientId = await register(service)
    const cases: [Record<string, string>, number, string][] = [
      [{}, 401, "invalid_client"],
      [{ client_id: clientId }, 400, "unsupported_grant_type"],
      [{ client_id: clientId, grant_type: "password" }, 400, "unsupported_grant_type"],
      [{ client_id: clientId, grant_type: "refresh_token" }, 400, "invalid_request"],
      [{ client_id: clientId, grant_type: "refresh_token", refresh_token: "<secret>" }, 400, "invalid_grant"],
      [{ client_id: clientId, grant_type: "authorization_code", code: "x" }, 400, "invalid_request"],
    ]
    for (const [fields, status, error] of cases) {
      const answer = await post(service, "/oauth/token", fields)
      expect([answer.status, answer.body.error, answer.headers.get("cache-control")]).toEqual([
        status,
        error,
        "no-store",
      ])
      expect(JSON.stringify(answer.body)).not.toContain("secret>")
    }
    expect((await post(service, "/oauth/token", { grant_type: "refresh_token" }, { json: true })).body.error).toBe(
      "invalid_request",
    )
  })

  test("the log contains no token, code or verifier", async () => {
    const { exchange, tokens } = await letIn(service, workspaceId)
    await service.call("/v1/account", { key: tokens.access_token })
    const log = service.logged.join("\n")
    for (const secret of [exchange.code, exchange.code_verifier, tokens.access_token, tokens.refresh_token])
      expect(log).not.toContain(secret)
    expect((await service.call(`/v1/account?x=${tokens.access_token}`)).body.error).toBe("key_in_url")
  })

  test("a client may identify itself by HTTP Basic with an empty secret; any other secret is refused", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    const renew = async (credentials: string) => {
      const headers = { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` }
      const fields = { grant_type: "refresh_token", refresh_token: tokens.refresh_token }
      return (await post(service, "/oauth/token", fields, { headers })).status
    }
    expect([await renew(`${clientId}:secret`), await renew("nobody"), await renew(`${clientId}:`)]).toEqual([
      401, 401, 200,
    ])
  })

  test("the redirect address may be omitted in an exchange (OAuth 2.1), and must match if it is sent", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const clientId = await register(service)
    for (const [redirect, status] of [
      [{}, 200],
      [{ redirect_uri: REDIRECT }, 200],
      [{ redirect_uri: `${REDIRECT}/` }, 400],
    ] as const) {
      const { verifier, challenge } = pkce()
      const code = await codeFor(browser, queryOf(clientId, challenge))
      const fields = {
        grant_type: "authorization_code",
        code,
        client_id: clientId,
        code_verifier: verifier,
        ...redirect,
      }
      expect((await post(service, "/oauth/token", fields)).status).toBe(status)
    }
  })
})
