import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { isDocumentAddress } from "../../../src/access/oauth/client-documents.ts"
import { PINNED } from "../../../src/access/oauth/pinned.ts"
import { isUsableRedirect } from "../../../src/access/oauth/redirects.ts"
import type { Sql } from "../../../src/database/types.ts"
import { OutboundProblem } from "../../../src/outbound/problem.ts"
import { type OutboundOptions, type SafeFetch, safeFetch } from "../../../src/outbound/safe-fetch.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { openService } from "../../service.ts"
import { browserOf } from "../sign-in/browser.ts"
import { ownerBrowser, pkce, queryOf, REDIRECT } from "./scene.ts"

const ADDRESS = "https://client.example/oauth/client.json"
const DOCUMENT = { client_id: ADDRESS, client_name: "Document client", redirect_uris: [REDIRECT] }

let sql: Sql
/** The response that the outside world gives, and the requests sent to it. */
let answer: (address: string) => { status?: number; headers?: Record<string, string>; body: unknown }
let requests: { address: string; options: OutboundOptions }[]
const fetch: SafeFetch = async (address, options = {}) => {
  requests.push({ address, options })
  const { status = 200, headers = {}, body } = answer(address)
  const text = typeof body === "string" ? body : JSON.stringify(body)
  return { url: address, status, headers: new Headers(headers), bytes: new TextEncoder().encode(text) }
}
const unreachable = () => {
  throw new OutboundProblem("unreachable")
}

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  await deleteRows(sql, "oauth_client", "secret_try")
  requests = []
  answer = () => ({ body: DOCUMENT })
})

/** Opens a client's consent page as an owner. */
async function openAuthorize(id: string, overrides: Record<string, string> = {}, fetchFor: SafeFetch = fetch) {
  const service = openService({ sql, fetch: fetchFor })
  const browser = await ownerBrowser(service, await service.workspace())
  return await browser.open(`/oauth/authorize?${queryOf(id, pkce().challenge, overrides)}`)
}

describe("the document of a client", () => {
  test("a client document is fetched from the client's id, and the consent page names its host", async () => {
    const page = await openAuthorize(ADDRESS)
    expect([page.status, page.text.includes("Its name is vouched for by <strong>client.example</strong>")]).toEqual([
      200,
      true,
    ])
    expect(requests.map(({ address }) => address)).toEqual([ADDRESS])
    // The document's URL must not redirect.
    expect(requests[0]!.options.mayFollow).toBeUndefined()
  })

  test("a client with a document gets request errors by redirect", async () => {
    const { status, headers } = await openAuthorize(ADDRESS, { response_type: "token" })
    const answer = new URL(headers.get("location")!)
    expect([status, answer.searchParams.get("error")]).toEqual([302, "unsupported_response_type"])
  })

  test("a client document is cached for five minutes even if its headers forbid caching", async () => {
    for (const control of ["no-store", "no-cache", "No-Cache, max-age=86400", "private, no-store"]) {
      await deleteRows(sql, "oauth_client")
      answer = () => ({ body: DOCUMENT, headers: { "cache-control": control } })
      await openAuthorize(ADDRESS)
      const [row] = await sql`select extract(epoch from fresh_until - now())::int as seconds from oauth_client`
      expect([control, row!.seconds > 200 && row!.seconds <= 300]).toEqual([control, true])
    }
  })

  test("a client document is refused if its name cannot be stored, reorders text or is invisible", async () => {
    for (const name of ["a\0b", "\ud800", "\u202eevil", "a\u2066b", "\u3164\u3164", "\u200b\u200d", "line\nline"]) {
      await deleteRows(sql, "oauth_client")
      answer = () => ({ body: { ...DOCUMENT, client_name: name } })
      const page = await openAuthorize(ADDRESS)
      expect([name, page.status, page.text.includes("not valid client metadata")]).toEqual([name, 400, true])
    }
  })

  test("a client document is cached as long as its headers allow, but at most a day", async () => {
    answer = () => ({ body: DOCUMENT, headers: { "cache-control": "max-age=99999999" } })
    await openAuthorize(ADDRESS)
    await openAuthorize(ADDRESS)
    expect(requests).toHaveLength(1)
    const [row] = await sql`select fresh_until < now() + interval '25 hours' as "isShort" from oauth_client`
    expect(row!.isShort).toBe(true)
    await sql`update oauth_client set fresh_until = now()`
    answer = () => ({ body: { ...DOCUMENT, client_name: "Renamed" } })
    expect((await openAuthorize(ADDRESS)).text).toContain("Renamed")
  })

  test("the cached copy of a client document is used when a fetch fails", async () => {
    await openAuthorize(ADDRESS)
    await sql`update oauth_client set fresh_until = now()`
    answer = unreachable
    expect((await openAuthorize(ADDRESS)).text).toContain("Document client")
    expect((await openAuthorize(ADDRESS)).text).toContain("Document client")
    expect(requests).toHaveLength(2)
  })

  test.each([
    ["another client's", { body: { ...DOCUMENT, client_id: "https://other.example/client.json" } }],
    ["no JSON", { body: "<html>" }],
    ["without a name", { body: { ...DOCUMENT, client_name: undefined } }],
    ["without addresses", { body: { ...DOCUMENT, redirect_uris: [] } }],
    ["with an address to run", { body: { ...DOCUMENT, redirect_uris: ["javascript:alert(1)"] } }],
    ["with a secret", { body: { ...DOCUMENT, client_secret: "x" } }],
    ["of a client with a shared secret", { body: { ...DOCUMENT, token_endpoint_auth_method: "client_secret_basic" } }],
    ["a challenge page", { status: 403, body: "are you human?" }],
    ["sent on", { status: 302, headers: { location: "http://127.0.0.1/" }, body: "" }],
  ])("an invalid client document (%s) opens no consent page, and the owner sees the reason", async (_, found) => {
    answer = () => found
    const page = await openAuthorize(ADDRESS)
    expect([page.status, page.text.includes("document could not be read")]).toEqual([400, true])
    expect((await sql`select id from oauth_client`).length).toBe(0)
  })

  test("a client document is not fetched for a visitor who is not signed in", async () => {
    const service = openService({ sql, fetch })
    const { status } = await browserOf(service).open(`/oauth/authorize?${queryOf(ADDRESS, pkce().challenge)}`)
    expect([status, requests.length]).toEqual([303, 0])
  })

  slow(
    "a client document must have an https URL on the public network",
    async () => {
      let hits = 0
      const trap = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: () => Response.json({ ...DOCUMENT, hits: ++hits }),
      })
      // Names that resolve to a private network.
      const fetchGuarded: SafeFetch = (address, options) =>
        safeFetch(address, { ...options, resolve: async () => ["10.0.0.7"] })
      try {
        for (const host of [
          "127.0.0.1",
          "localhost",
          "10.0.0.1",
          "169.254.169.254",
          "[::1]",
          "[::ffff:127.0.0.1]",
          "2130706433",
          "internal.example",
        ]) {
          for (const id of [
            `https://${host}/client.json`,
            `https://${host}:${trap.port}/client.json`,
            `http://${host}:${trap.port}/client.json`,
          ]) {
            const page = await openAuthorize(id, {}, fetchGuarded)
            expect([id, page.status]).toEqual([id, 400])
            // The page must not show the address to which a name resolves.
            expect(page.text).not.toContain("10.0.0.7")
          }
        }
        expect(hits).toBe(0)
      } finally {
        trap.stop(true)
      }
    },
    30_000,
  )

  test("a client document has one canonical URL", () => {
    const wrong = [
      "http://client.example/x",
      "https://client.example/",
      "https://client.example",
      "https://u@client.example/x",
      "https://client.example:8443/x",
      "https://client.example/x#y",
      "https://client.example/a/../x",
      "https://CLIENT.example/x",
      "client.example/x",
      `https://client.example/${"x".repeat(500)}`,
    ]
    expect(wrong.filter(isDocumentAddress)).toEqual([])
    expect(isDocumentAddress(ADDRESS)).toBe(true)
  })
})

describe("clients in common use", () => {
  test("common clients have built-in documents, and a fetched document replaces the built-in document", async () => {
    answer = unreachable
    for (const [id, { name, redirectUris }] of PINNED) {
      expect([isDocumentAddress(id), redirectUris.filter((uri) => !isUsableRedirect(uri))]).toEqual([true, []])
      const page = await openAuthorize(id, { redirect_uri: redirectUris[0]! })
      expect([page.status, page.text.includes(name)]).toEqual([200, true])
    }
    const [id] = PINNED.keys() as unknown as [string]
    await deleteRows(sql, "oauth_client")
    answer = () => ({ body: { client_id: id, client_name: "Newer", redirect_uris: [REDIRECT] } })
    expect((await openAuthorize([...PINNED.keys()][0]!)).text).toContain("client.example")
  })

  test.each([
    [
      "Claude",
      "https://claude.ai/oauth/mcp-oauth-client-metadata",
      "https://claude.ai/api/mcp/auth_callback",
      "claude.ai",
    ],
    [
      "Claude Code",
      "https://claude.ai/oauth/claude-code-client-metadata",
      "http://localhost:54212/callback",
      "localhost",
    ],
    [
      "ChatGPT",
      "https://chatgpt.com/oauth/client.json",
      "https://chatgpt.com/connector_platform_oauth_redirect",
      "chatgpt.com",
    ],
    ["VS Code", "https://vscode.dev/oauth/client-metadata.json", "http://127.0.0.1:51234/", "127.0.0.1"],
    [
      "VS Code on the web",
      "https://vscode.dev/oauth/client-metadata.json",
      "https://vscode.dev/redirect",
      "vscode.dev",
    ],
  ])("the response to the client %s goes only to the client's own address", async (_, id, redirect_uri, host) => {
    answer = unreachable
    const page = await openAuthorize(id, { redirect_uri })
    expect([page.status, page.text.includes(`The answer goes to <strong>${host}</strong>`)]).toEqual([200, true])
    const evil = await openAuthorize(id, { redirect_uri: "https://evil.example/callback" })
    expect([evil.status, evil.headers.get("location")]).toEqual([400, null])
  })
})
