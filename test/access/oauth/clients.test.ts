import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import * as modern from "@modelcontextprotocol/client"
import * as legacy from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import * as oauth from "oauth4webapi"
import { PINNED } from "../../../src/access/oauth/pinned.ts"
import type { Sql } from "../../../src/database/types.ts"
import { OutboundProblem } from "../../../src/outbound/problem.ts"
import { freshDatabase } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { slow } from "../../long.ts"
import { consentOf, type ServedService, serveAt } from "./served.ts"

// Third-party clients that start with only the URL of the tool endpoint and end with a call, over a socket.

let sql: Sql
let served: ServedService
let workspaceId: number

beforeAll(async () => {
  sql = await freshDatabase()
  // The servers of clients cannot be reached.
  served = serveAt(sql, async () => {
    throw new OutboundProblem("unreachable")
  })
  workspaceId = await served.service.workspace({ plan: "free" })
})
afterAll(() => served.stop())

/** The in-memory storage that clients of the official SDKs need. Both major versions use the same interface. */
function clientProvider(metadata: object, clientMetadataUrl?: string) {
  // biome-ignore lint/suspicious/noExplicitAny: two libraries use it, each with types of its own
  const storage: any = { redirects: [] as URL[] }
  const provider = {
    redirectUrl: (metadata as { redirect_uris: string[] }).redirect_uris[0],
    clientMetadata: metadata,
    ...(clientMetadataUrl && { clientMetadataUrl }),
    state: () => "st4te",
    clientInformation: () => storage.client,
    saveClientInformation: (client: unknown) => {
      storage.client = client
    },
    tokens: () => storage.tokens,
    saveTokens: (tokens: unknown) => {
      storage.tokens = tokens
    },
    redirectToAuthorization: (address: URL) => void storage.redirects.push(address),
    saveCodeVerifier: (verifier: string) => {
      storage.verifier = verifier
    },
    codeVerifier: () => storage.verifier,
    saveDiscoveryState: (state: unknown) => {
      storage.discovery = state
    },
    discoveryState: () => storage.discovery,
  }
  return { storage, provider }
}

const METADATA = {
  client_name: "SDK client",
  redirect_uris: ["http://127.0.0.1:47113/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
}

interface Client {
  connect(transport: unknown): Promise<void>
  callTool(call: {
    name: string
    arguments: Record<string, unknown>
  }): Promise<{ structuredContent?: unknown; isError?: boolean }>
  close(): Promise<void>
}

const INFO = { name: "test", version: "1" }
const kinds: [string, (provider: unknown) => [Client, { finishAuth(answer: URLSearchParams): Promise<void> }]][] = [
  [
    "sdk 1.32.2",
    (provider) => {
      const transport = new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), {
        authProvider: provider as never,
      })
      const finishAuth = (answer: URLSearchParams) => transport.finishAuth(answer.get("code")!)
      return [
        new legacy.Client(INFO) as unknown as Client,
        Object.assign(Object.create(transport), { transport, finishAuth }),
      ]
    },
  ],
  [
    "client 2.4.0",
    (provider) => {
      const transport = new modern.StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), {
        authProvider: provider as never,
      })
      return [
        new modern.Client(INFO) as unknown as Client,
        Object.assign(Object.create(transport), {
          transport,
          finishAuth: (answer: URLSearchParams) => transport.finishAuth(answer),
        }),
      ]
    },
  ],
]

describe.each(kinds)("%s", (name, make) => {
  const open = (provider: unknown) => {
    const [client, wrapped] = make(provider)
    return {
      client,
      ...(wrapped as unknown as { transport: unknown; finishAuth(answer: URLSearchParams): Promise<void> }),
    }
  }

  slow(
    "a client that has only the server's URL registers, gets approval, makes calls and renews its tokens",
    async () => {
      const { storage, provider } = clientProvider(METADATA)
      const first = open(provider)
      expect(await errorOf(first.client.connect(first.transport))).toBeInstanceOf(Error)
      expect(storage.redirects).toHaveLength(1)
      const [address] = storage.redirects as [URL]
      expect(Object.fromEntries(address.searchParams)).toMatchObject({
        client_id: storage.client.client_id,
        code_challenge_method: "S256",
        resource: `${served.url}/mcp`,
      })
      const callback = await consentOf(served, workspaceId, address)
      expect(callback.href).toStartWith("http://127.0.0.1:47113/callback?code=")
      await first.finishAuth(callback.searchParams)
      const { client, transport } = open(provider)
      await client.connect(transport)
      const called = await client.callTool({ name: "whoami", arguments: {} })
      expect(called.structuredContent).toMatchObject({ plan: "free", auth: "sign-in" })
      // Expire the access token.
      const before = storage.tokens
      await sql`update access_token set expires_at = now()`
      await Bun.sleep(800)
      expect((await client.callTool({ name: "whoami", arguments: {} })).isError).toBeFalsy()
      expect([storage.tokens.access_token === before.access_token, storage.redirects.length]).toEqual([false, 1])
      await client.close()
    },
  )

  test("a client whose id is its document's URL does not register", async () => {
    const [id] = [...PINNED].find(([, { name }]) => name === "Claude Code")!
    const { storage, provider } = clientProvider(
      { ...METADATA, redirect_uris: ["http://localhost:47114/callback"] },
      id,
    )
    const first = open(provider)
    expect(await errorOf(first.client.connect(first.transport))).toBeInstanceOf(Error)
    expect(storage.redirects[0].searchParams.get("client_id")).toBe(id)
    await first.finishAuth((await consentOf(served, workspaceId, storage.redirects[0])).searchParams)
    const { client, transport } = open(provider)
    await client.connect(transport)
    expect((await client.callTool({ name: "whoami", arguments: {} })).isError).toBeFalsy()
    expect((await sql`select id from oauth_client where from_sha256 is not null and name = 'Claude Code'`).length).toBe(
      0,
    )
    await client.close()
  })

  test("a client that needs another scope requests this scope together with its current scopes", async () => {
    const { storage, provider } = clientProvider(METADATA)
    const first = open(provider)
    expect(await errorOf(first.client.connect(first.transport))).toBeInstanceOf(Error)
    await first.finishAuth(
      (await consentOf(served, workspaceId, storage.redirects[0], { scopes: ["apps:read"] })).searchParams,
    )
    const second = open(provider)
    await second.client.connect(second.transport)
    const call = { name: "list_reviews", arguments: { appId: "app_none" } }
    expect(await errorOf(second.client.callTool(call))).toBeInstanceOf(Error)
    // The client first renews its tokens, which adds no scope. Then it reports the refusal to its user.
    if (name === "sdk 1.32.2") return expect(storage.redirects).toHaveLength(1)
    expect(storage.redirects).toHaveLength(2)
    expect(storage.redirects[1].searchParams.get("scope").split(" ")).toEqual(
      expect.arrayContaining(["apps:read", "reviews:read"]),
    )
    await second.finishAuth((await consentOf(served, workspaceId, storage.redirects[1])).searchParams)
    const { client, transport } = open(provider)
    await client.connect(transport)
    const result = await client.callTool(call)
    expect(JSON.stringify(result)).toContain("not_found")
    await client.close()
  })
})

test("oauth4webapi, which validates every response against the standards, completes the whole flow", async () => {
  const options = { [oauth.allowInsecureRequests]: true }
  const resource = new URL(`${served.url}/mcp`)
  const challenged = await fetch(resource, { method: "POST" })
  expect(challenged.status).toBe(401)
  const protection = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, options),
  )
  const issuer = new URL(protection.authorization_servers![0]!)
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...options, algorithm: "oauth2" }),
  )
  const registered = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      server,
      { redirect_uris: METADATA.redirect_uris, client_name: "oauth4webapi", token_endpoint_auth_method: "none" },
      options,
    ),
  )
  const client: oauth.Client = { client_id: registered.client_id, token_endpoint_auth_method: "none" }
  const verifier = oauth.generateRandomCodeVerifier()
  const address = new URL(server.authorization_endpoint!)
  const parameters = {
    client_id: client.client_id,
    redirect_uri: METADATA.redirect_uris[0]!,
    response_type: "code",
    state: "st4te",
    scope: "apps:read offline_access",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    resource: resource.href,
  }
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
  const refused = await consentOf(served, workspaceId, address, { decision: "deny" })
  expect(() => oauth.validateAuthResponse(server, client, refused, "st4te")).toThrow(/authorization response/)
  const answer = oauth.validateAuthResponse(server, client, await consentOf(served, workspaceId, address), "st4te")
  const requestOptions = { ...options, additionalParameters: { resource: resource.href } }
  const clientAuth = oauth.None()
  const tokens = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(
      server,
      client,
      clientAuth,
      answer,
      parameters.redirect_uri,
      verifier,
      requestOptions,
    ),
  )
  const renewed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, clientAuth, tokens.refresh_token!, requestOptions),
  )
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "whoami", arguments: {} },
  })
  const headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
  })
  const called = await oauth.protectedResourceRequest(renewed.access_token, "POST", resource, headers, body, options)
  expect((await called.json()).result.structuredContent).toMatchObject({ auth: "sign-in" })
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, clientAuth, renewed.refresh_token!, options),
  )
  const reuse = oauth.refreshTokenGrantRequest(server, client, clientAuth, renewed.refresh_token!, requestOptions)
  expect(
    String(await errorOf(reuse.then((response) => oauth.processRefreshTokenResponse(server, client, response)))),
  ).toMatch(/error in the response body|invalid_grant|responded/)
})
