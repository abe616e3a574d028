import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { listKeys } from "../../../src/access/key-register.ts"
import { SCOPES } from "../../../src/access/scopes.ts"
import { PUBLIC_URL } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { browserOf } from "../sign-in/browser.ts"
import { newOwner, openScene, service, sql, track, workspace, workspaceId } from "./owner-scene.ts"
import { agree, answerIn, letIn, ownerBrowser, pkce, post, queryOf, register, scopesOn } from "./scene.ts"

beforeAll(openScene)
beforeEach(newOwner)

describe("the metadata", () => {
  const document = async (path: string) =>
    (await service.app.fetch(new Request(`${PUBLIC_URL}${path}`), "192.0.2.1")).json()

  test("the metadata of the tool endpoint names the issuer's URL as the authorization server", async () => {
    const resource = await document("/.well-known/oauth-protected-resource/mcp")
    expect(resource).toMatchObject({
      resource: `${PUBLIC_URL}/mcp`,
      authorization_servers: [PUBLIC_URL],
      scopes_supported: [...SCOPES],
    })
    expect(await document("/.well-known/oauth-protected-resource")).toEqual(resource)
    const server = await document("/.well-known/oauth-authorization-server")
    expect(server.issuer).toBe(PUBLIC_URL)
    expect(server).toMatchObject({
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    })
    // Only the server's metadata has this scope, because a refresh token is not a right at the resource.
    expect([
      server.scopes_supported.includes("offline_access"),
      JSON.stringify(resource).includes("offline_access"),
    ]).toEqual([true, false])
    for (const [name, address] of Object.entries(server).filter(([name]) => name.endsWith("_endpoint"))) {
      const { pathname } = new URL(address as string)
      const { status } = await service.app.fetch(
        new Request(`${PUBLIC_URL}${pathname}`, { method: "PUT" }),
        "192.0.2.1",
      )
      expect([name, status]).toEqual([name, 405])
    }
  })

  test("clients that guess the metadata URLs find the same documents", async () => {
    const readDocument = async (path: string) => {
      const response = await service.app.fetch(new Request(`${PUBLIC_URL}${path}`), null)
      expect([path, response.status]).toEqual([path, 200])
      return await response.json()
    }
    const server = await readDocument("/.well-known/oauth-authorization-server")
    for (const path of [
      "/.well-known/oauth-authorization-server/mcp",
      "/.well-known/openid-configuration",
      "/.well-known/openid-configuration/mcp",
      "/mcp/.well-known/oauth-authorization-server",
      "/mcp/.well-known/openid-configuration",
    ])
      expect(await readDocument(path)).toEqual(server)
    const resource = await readDocument("/.well-known/oauth-protected-resource/mcp")
    expect(await readDocument("/mcp/.well-known/oauth-protected-resource")).toEqual(resource)
  })

  test("pages of any origin may read the metadata and request tokens", async () => {
    for (const path of [
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/oauth-authorization-server",
      "/oauth/token",
      "/oauth/register",
    ]) {
      const headers = { origin: "https://inspector.example", "access-control-request-method": "POST" }
      const response = await service.app.fetch(
        new Request(`${PUBLIC_URL}${path}`, { method: "OPTIONS", headers }),
        "192.0.2.1",
      )
      expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([204, "*"])
    }
  })

  test("the 401 response of the tool endpoint contains the metadata URL and a scope; a REST 401 does not", async () => {
    const challenge = (await service.tool("whoami")).headers.get("www-authenticate")
    expect(challenge).toBe(
      `Bearer realm="appmeter", resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp", ` +
        `scope="apps:read"`,
    )
    const wrong = await service.tool("whoami", {}, { key: `svc_access_${"a".repeat(36)}` })
    expect([wrong.status, wrong.body.error]).toEqual([401, "invalid_token"])
    expect(wrong.headers.get("www-authenticate")).toContain(`error="invalid_token", resource_metadata=`)
    expect((await service.call("/v1/account")).headers.get("www-authenticate")).toBe(`Bearer realm="appmeter"`)
  })
})

describe("from a request to a call", () => {
  test("an approved client can make calls on the Free plan, even if the plan's only key is in use", async () => {
    await service.key(workspaceId)
    const { tokens } = await letIn(service, workspaceId)
    expect(tokens).toMatchObject({ token_type: "Bearer", expires_in: 3_600 })
    const { status, body } = await service.tool("whoami", {}, { key: tokens.access_token })
    expect([status, body.plan, body.auth, body.scopes]).toEqual([200, "free", "sign-in", tokens.scope.split(" ")])
    expect(await listKeys(sql, workspace)).toMatchObject([
      { kind: "live", state: "usable" },
      { kind: "grant", name: expect.stringMatching(/^pages of /) },
      { kind: "grant", name: "Test client", hint: "client.example", state: "usable", scopes: tokens.scope.split(" ") },
    ])
  })

  test("the REST interface refuses every access token", async () => {
    const { tokens } = await letIn(service, await service.workspace({ plan: "studio" }))
    for (const key of [tokens.access_token, tokens.refresh_token]) {
      const { status, body } = await service.call("/v1/account", { key })
      expect([status, body.error]).toEqual([401, "invalid_token"])
    }
    expect((await service.tool("whoami", {}, { key: tokens.refresh_token })).body.error).toBe("invalid_token")
  })

  test("the owner must sign in before the request is shown", async () => {
    const clientId = await register(service)
    const query = queryOf(clientId, pkce().challenge)
    const { status, headers } = await browserOf(service).open(`/oauth/authorize?${query}`)
    expect(status).toBe(303)
    const next = new URL(headers.get("location")!, PUBLIC_URL)
    expect([next.pathname, next.searchParams.get("next")]).toEqual(["/sign-in", `/oauth/authorize?${query}`])
  })

  test("the consent page leaves scopes for writes, money and measuring unticked by default", async () => {
    const appId = await track("1437843273")
    const browser = await ownerBrowser(service, workspaceId)
    const page = await browser.open(`/oauth/authorize?${queryOf(await register(service), pkce().challenge)}`)
    for (const part of ["Test client", "client.example", workspace, "It registered itself", `value="${appId}"`])
      expect(page.text).toContain(part)
    expect(scopesOn(page, "all")).toEqual([...SCOPES])
    expect(scopesOn(page)).toEqual(["apps:read", "reviews:read", "ai:read", "hive:read", "hive:spy", "hive:estimate"])
  })

  test("exactly the requested scopes are ticked, and the remaining scopes are folded away", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const scope = "track:write revenue:read hive:measure offline_access nonsense"
    const page = await browser.open(`/oauth/authorize?${queryOf(await register(service), pkce().challenge, { scope })}`)
    expect(scopesOn(page).sort()).toEqual(["hive:measure", "revenue:read", "track:write"])
    expect(scopesOn(page, "all").sort()).toEqual([...SCOPES].sort())
    expect(page.text.split("<details>")[0]).not.toContain('value="ads:read"')
    expect(page.text.match(/it asks for this/g)).toHaveLength(3)
  })

  test("consent is required for each request, even for an approved client or with prompt=none", async () => {
    const { browser, clientId } = await letIn(service, workspaceId)
    for (const parameters of [{}, { prompt: "none" }, { prompt: "consent" }]) {
      const page = await browser.open(`/oauth/authorize?${queryOf(clientId, pkce().challenge, parameters)}`)
      expect([page.status, page.headers.get("location"), scopesOn(page).length > 0]).toEqual([200, null, true])
    }
  })

  test("a grant is limited to its scopes and apps", async () => {
    const [grantedId, other] = [await track("1437843273"), await track("1085922018")]
    const { tokens } = await letIn(service, workspaceId, { scopes: ["apps:read"], apps: [grantedId] })
    const call = (name: string, args: object) => service.tool(name, args, { key: tokens.access_token })
    expect(tokens.scope).toBe("apps:read")
    expect((await call("list_apps", {})).body.apps).toMatchObject([{ id: grantedId }])
    expect((await call("get_app", { appId: grantedId })).isError).toBe(false)
    expect((await call("get_app", { appId: other })).body.error).toBe("app_not_allowed")
    expect((await call("list_reviews", { appId: grantedId })).body.error).toBe("scope_required")
    const foreign = await call("preview_action", {
      action: "add_keywords",
      args: { appId: grantedId, keywords: ["x"] },
    })
    expect(foreign.body.error).toBe("scope_required")
  })

  test("an app of another workspace cannot be granted by its id in the form", async () => {
    const otherWorkspace = await service.workspace()
    const foreign = await trackOwn(sql, { workspaceId: otherWorkspace, iosId: "1085922018" })
    const browser = await ownerBrowser(service, workspaceId)
    const page = await browser.open(`/oauth/authorize?${queryOf(await register(service), pkce().challenge)}`)
    const sent = await agree(browser, page, { apps: [foreign] })
    expect([sent.status, sent.text.includes("Tick the apps")]).toEqual([400, true])
  })

  test("a missing scope is reported in status, header and result, with the list of scopes to request", async () => {
    const { tokens } = await letIn(service, await service.workspace({ explorer: true }), {
      scopes: ["apps:read", "hive:read"],
    })
    const { status, body, result, headers } = await service.tool(
      "hive_measure_keyword",
      { term: "tea timer", country: "us" },
      { key: tokens.access_token },
    )
    expect([status, body.error, body.scope]).toEqual([403, "scope_required", "hive:measure"])
    const challenge = headers.get("www-authenticate")!
    for (const part of ['error="insufficient_scope"', 'scope="apps:read hive:read hive:measure"', "resource_metadata="])
      expect(challenge).toContain(part)
    expect(result._meta["mcp/www_authenticate"]).toEqual([challenge])
    // Signing in cannot add scopes to a key.
    const key = await service.key(workspaceId, { scopes: ["apps:read"] })
    const refused = await service.tool("list_reviews", { appId: "app_none" }, { key })
    expect([refused.status, refused.body.error, refused.headers.get("www-authenticate")]).toEqual([
      200,
      "scope_required",
      null,
    ])
  })

  test("the client gets the owner's refusal and request errors, with state and issuer", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const clientId = await register(service)
    const { challenge } = pkce()
    const page = await browser.open(`/oauth/authorize?${queryOf(clientId, challenge)}`)
    const refused = answerIn(await agree(browser, page, { decision: "deny" }))
    expect(Object.fromEntries(refused.searchParams)).toMatchObject({
      error: "access_denied",
      state: "st4te",
      iss: PUBLIC_URL,
    })
    const wrong: [Record<string, string | undefined>, string][] = [
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ code_challenge: undefined }, "invalid_request"],
      [{ code_challenge_method: "plain" }, "invalid_request"],
      [{ code_challenge_method: undefined }, "invalid_request"],
      [{ resource: "https://elsewhere.example/mcp" }, "invalid_target"],
    ]
    for (const [parameters, error] of wrong) {
      const page = await browser.open(`/oauth/authorize?${queryOf(clientId, challenge, parameters)}`)
      expect([page.headers.get("location"), page.headers.get("refresh")]).toEqual([null, null])
      const link = /<a href="(https:\/\/client\.example[^"]+)"/.exec(page.text)![1]!
      const answer = new URL(link.replaceAll("&amp;", "&"))
      expect([page.status, answer.origin, answer.searchParams.get("error")]).toEqual([
        400,
        "https://client.example",
        error,
      ])
      expect([answer.searchParams.get("state"), answer.searchParams.get("iss")]).toEqual(["st4te", PUBLIC_URL])
    }
  })
})

describe("Cursor, as its documents describe it", () => {
  const ADDRESSES = [
    "http://localhost:8787/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    "cursor://anysphere.cursor-mcp/oauth/callback",
  ]

  test("Cursor registers three redirect addresses in one request and gets its response at cursor://", async () => {
    const clientId = await register(service, ADDRESSES, "Cursor")
    const browser = await ownerBrowser(service, workspaceId)
    const { verifier, challenge } = pkce()
    const redirect_uri = ADDRESSES[2]!
    const page = await browser.open(`/oauth/authorize?${queryOf(clientId, challenge, { redirect_uri })}`)
    expect(page.text).toContain("The answer goes to <strong>cursor:</strong>")
    const answer = answerIn(await agree(browser, page))
    expect(answer.href).toStartWith(`${redirect_uri}?code=`)
    const code = answer.searchParams.get("code")!
    const exchange = {
      grant_type: "authorization_code",
      code,
      client_id: clientId,
      redirect_uri,
      code_verifier: verifier,
    }
    const { body } = await post(service, "/oauth/token", exchange)
    expect((await service.tool("whoami", {}, { key: body.access_token })).status).toBe(200)
    expect(await listKeys(sql, workspace)).toContainEqual(expect.objectContaining({ name: "Cursor", hint: "cursor:" }))
  })
})
