import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { listKeys } from "../../../src/access/key-register.ts"
import { isRegistered, isUsableRedirect } from "../../../src/access/oauth/redirects.ts"
import type { Sql } from "../../../src/database/types.ts"
import { REGISTRATIONS_AN_HOUR } from "../../../src/pages/oauth/registration.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { openService, PUBLIC_URL, type Service } from "../../service.ts"
import { fieldIn } from "../sign-in/browser.ts"
import {
  agree,
  answerIn,
  codeFor,
  letIn,
  ownerBrowser,
  pkce,
  post,
  queryOf,
  REDIRECT,
  refresh,
  register,
  scopesOn,
} from "./scene.ts"

let sql: Sql
let service: Service
let workspaceId: number
let workspace: string
let workspaceCount = 0

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
})

beforeEach(async () => {
  await deleteRows(sql, "oauth_client", "secret_try")
  workspace = `acme ${++workspaceCount}`
  workspaceId = await service.workspace({ name: workspace, plan: "free" })
})

const listGrants = async () => (await listKeys(sql, workspace)).filter(({ hint }) => hint !== "pages")

describe("mix-up", () => {
  test("each authorization response contains the issuer of the metadata exactly once", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const page = await browser.open(`/oauth/authorize?${queryOf(await register(service), pkce().challenge)}`)
    for (const decision of ["allow", "deny"]) {
      const { searchParams } = answerIn(await agree(browser, page, { decision }))
      expect([searchParams.getAll("iss"), searchParams.getAll("state")]).toEqual([[PUBLIC_URL], ["st4te"]])
    }
  })

  test("an issuer or code in the redirect address does not replace the response's own issuer or code", async () => {
    const evil = `${REDIRECT}?keep=1`
    const browser = await ownerBrowser(service, workspaceId)
    const clientId = await register(service, [evil])
    const code = answerIn(
      await agree(
        browser,
        await browser.open(`/oauth/authorize?${queryOf(clientId, pkce().challenge, { redirect_uri: evil })}`),
      ),
    )
    expect([code.searchParams.get("keep"), code.searchParams.getAll("code").length]).toEqual(["1", 1])
  })
})

describe("code injection", () => {
  test("a code can be exchanged only with the verifier of its challenge, and only once", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const [clientId, otherClient] = [await register(service), await register(service)]
    const { verifier, challenge } = pkce()
    const wrong: object[] = [
      { code_verifier: pkce().verifier },
      { client_id: otherClient },
      { redirect_uri: "https://evil.example/" },
      { code_verifier: challenge },
    ]
    for (const overrides of wrong) {
      const code = await codeFor(browser, queryOf(clientId, challenge))
      const right = {
        grant_type: "authorization_code",
        code,
        client_id: clientId,
        redirect_uri: REDIRECT,
        code_verifier: verifier,
      }
      expect((await post(service, "/oauth/token", { ...right, ...overrides })).body.error).toBe("invalid_grant")
      // An exchange with a wrong verifier uses up the code.
      expect((await post(service, "/oauth/token", right)).body.error).toBe("invalid_grant")
    }
    expect(await listGrants()).toEqual([])
  })

  test("the code exchange requires a well-formed verifier", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const clientId = await register(service)
    for (const code_verifier of [undefined, "", "short", "x".repeat(129), `${"x".repeat(43)} `]) {
      const code = await codeFor(browser, queryOf(clientId, pkce().challenge))
      const fields = { grant_type: "authorization_code", code, client_id: clientId, redirect_uri: REDIRECT }
      const sent = await post(
        service,
        "/oauth/token",
        code_verifier === undefined ? fields : { ...fields, code_verifier },
      )
      expect(sent.body.error).toBe("invalid_request")
    }
  })

  test("a reused code revokes the grant issued for it", async () => {
    const { exchange, tokens, clientId } = await letIn(service, workspaceId)
    expect((await post(service, "/oauth/token", exchange)).body.error).toBe("invalid_grant")
    expect((await listGrants()).map(({ state }) => state)).toEqual(["revoked"])
    expect((await openService({ sql }).tool("whoami", {}, { key: tokens.access_token })).status).toBe(401)
    expect((await refresh(service, clientId, tokens.refresh_token)).status).toBe(400)
  })

  test("only one of thirty concurrent exchanges of a code gets tokens, and the reuse revokes the tokens", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const clientId = await register(service)
    const { verifier, challenge } = pkce()
    const code = await codeFor(browser, queryOf(clientId, challenge))
    const fields = {
      grant_type: "authorization_code",
      code,
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    }
    const sent = await Promise.all(
      Array.from({ length: 30 }, (_, n) => post(service, "/oauth/token", fields, { from: `198.51.100.${n}` })),
    )
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await listGrants()).map(({ state }) => state)).toEqual(["revoked"])
  })

  test("a code expires after a minute", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const clientId = await register(service)
    const { verifier, challenge } = pkce()
    const code = await codeFor(browser, queryOf(clientId, challenge))
    await sql`update oauth_code set expires_at = now()`
    const fields = {
      grant_type: "authorization_code",
      code,
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    }
    expect((await post(service, "/oauth/token", fields)).body.error).toBe("invalid_grant")
  })
})

describe("redirect variants", () => {
  test("a redirect address must match exactly, except for the port on this machine", () => {
    const registered = [
      "https://client.example/callback",
      "http://127.0.0.1:33418/",
      "http://localhost/callback",
      "cursor://anysphere.cursor-mcp/oauth/callback",
    ]
    const right = [...registered, "http://127.0.0.1:1/", "http://127.0.0.1/", "http://localhost:65535/callback"]
    const wrong = [
      "https://client.example/callback/",
      "https://client.example/callback?x=1",
      "https://client.example/Callback",
      "https://client.example:443/callback",
      "https://client.example.evil.example/callback",
      "https://client.example@evil.example/callback",
      "https://evil.example/https://client.example/callback",
      "http://client.example/callback",
      "https://client.example/callback/../evil",
      "https://client.example/callback#x",
      "https://CLIENT.example/callback",
      " https://client.example/callback",
      "https://client.example\\@evil.example/callback",
      "http://127.0.0.1:33418/evil",
      "http://127.0.0.1:33418",
      "http://127.0.0.1.evil.example:33418/",
      "http://127.0.0.1:1@evil.example/",
      "http://127.0.0.2:33418/",
      "http://localhost:1/",
      "http://localhost:1/callback?x",
      "https://localhost/callback",
      "http://[::1]/callback",
      "http://localhost:123456/callback",
      "cursor://anysphere.cursor-mcp/oauth/callback/x",
      "cursor://evil/oauth/callback",
      "",
    ]
    expect(right.filter((uri) => !isRegistered(uri, registered))).toEqual([])
    expect(wrong.filter((uri) => isRegistered(uri, registered))).toEqual([])
  })

  test("a redirect address that is unencrypted, or that a browser executes or reads, is refused", async () => {
    const right = [
      "https://a.example/",
      "http://localhost:3000/cb",
      "http://127.0.0.1/",
      "http://[::1]:5/x?y=1",
      "cursor://anysphere.cursor-mcp/oauth/callback",
      "com.example.app:/cb",
      "com.googleusercontent.apps.12-ab:/oauth2redirect",
      "vscode://vscode.github-authentication/did-authenticate",
    ]
    const wrong = [
      "javascript:alert(1)",
      "JavaScript://a.example/%0aalert(1)",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc/passwd",
      "blob:https://a.example/x",
      "about:blank",
      "ws://a.example/",
      "http://a.example/",
      "http://10.0.0.1/",
      "https://",
      "https:///x",
      "//a.example/",
      "/cb",
      "https://u:p@a.example/",
      "https://u@a.example/",
      "https://a.example/#x",
      "https://a.example/\n",
      "https://a.example/ x",
      "https://ä.example/",
      "view-source:https://a.example/",
      `https://a.example/${"x".repeat(2_000)}`,
      "intent://x#Intent;end",
      "",
      "x",
      "ms-msdt:/id",
      "ms-officecmd:/x",
      "search-ms:/x",
      "smb://a/x",
      "ldap://a/x",
      "ssh://a/x",
      "steam://run/1",
      "gopher://a/x",
      "content://a/x",
      "chrome-extension://a/x",
      "x-apple.systempreferences:/x",
      "facetime:/x",
      "my-app:/cb",
      "x-web-search.app:/x",
    ]
    expect(right.filter((uri) => !isUsableRedirect(uri))).toEqual([])
    expect(wrong.filter(isUsableRedirect)).toEqual([])
    const sent = await post(
      service,
      "/oauth/register",
      { redirect_uris: [REDIRECT, "javascript:alert(1)"] },
      { json: true },
    )
    expect([sent.status, sent.body.error]).toEqual([400, "invalid_redirect_uri"])
  })

  test("nothing is sent to an unregistered or repeated redirect address, or for an unknown client", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const clientId = await register(service)
    const { challenge } = pkce()
    const queries = [
      queryOf(clientId, challenge, { redirect_uri: "https://evil.example/" }),
      queryOf(clientId, challenge, { redirect_uri: undefined }),
      `${queryOf(clientId, challenge)}&redirect_uri=https://evil.example/`,
      `${queryOf(clientId, challenge)}&client_id=other`,
      queryOf("client_nobody", challenge),
      queryOf("x\0", challenge),
      queryOf(clientId, challenge, { client_id: undefined }),
    ]
    for (const query of queries) {
      const page = await browser.open(`/oauth/authorize?${query}`)
      expect([page.status, page.headers.get("location"), page.headers.get("refresh")]).toEqual([400, null, null])
      expect(page.text).not.toContain("evil.example")
    }
    const unknown = await browser.open(`/oauth/authorize?${queryOf("client_nobody", challenge)}`)
    expect(unknown.text).toContain("connect it again")
  })
})

describe("a stolen refresh token", () => {
  test("the second use of a stolen refresh token ends the access of both the thief and the client", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    const thief = (await refresh(service, clientId, tokens.refresh_token)).body
    await refresh(service, clientId, thief.refresh_token)
    await sql`update refresh_token set used_at = used_at - interval '31 s' where used_at is not null`
    expect((await refresh(service, clientId, tokens.refresh_token)).body.error).toBe("invalid_grant")
    expect((await listGrants()).map(({ state }) => state)).toEqual(["revoked"])
    expect((await openService({ sql }).tool("whoami", {}, { key: thief.access_token })).status).toBe(401)
  })

  test("a stolen refresh token is refused for another client and does not reveal its successors", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    expect((await refresh(service, await register(service), tokens.refresh_token)).body.error).toBe("invalid_grant")
    const next = (await refresh(service, clientId, tokens.refresh_token)).body.refresh_token
    const [row] = await sql<{ salt: Uint8Array }[]>`select salt from oauth_grant where client_id = ${clientId}`
    expect([row!.salt.length, next.includes(tokens.refresh_token.slice(12, 30))]).toEqual([32, false])
    // Two grants derive different successors from the same token.
    await sql`update oauth_grant set salt = ${Buffer.alloc(32, 1)} where client_id = ${clientId}`
    expect((await refresh(service, clientId, tokens.refresh_token)).body.refresh_token).not.toBe(next)
  })
})

describe("a page of another site", () => {
  test("a page of another site cannot approve a request for the owner, because it lacks the form token", async () => {
    const [browser, other] = [await ownerBrowser(service, workspaceId), await ownerBrowser(service, workspaceId)]
    const query = queryOf(await register(service), pkce().challenge)
    const [page, foreign] = [
      await browser.open(`/oauth/authorize?${query}`),
      await other.open(`/oauth/authorize?${query}`),
    ]
    const fields = { request: fieldIn(page, "request")!, decision: "allow", apps: "all", scope: "apps:read" }
    for (const form of [undefined, "", "A".repeat(43), fieldIn(foreign, "form")!]) {
      const sent = await browser.send("/oauth/authorize", form === undefined ? fields : { ...fields, form })
      expect([sent.status, sent.headers.get("refresh")]).toEqual([400, null])
    }
    const [count] = await sql`select count(*)::int as n from oauth_code where workspace_id = ${workspaceId}`
    expect(count!.n).toBe(0)
  })

  test("a GET link never approves a request", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const page = await browser.open(
      `/oauth/authorize?${queryOf(await register(service), pkce().challenge)}&decision=allow&apps=all&scope=apps:read`,
    )
    expect([page.status, page.headers.get("refresh"), scopesOn(page).length > 0]).toEqual([200, null, true])
  })

  test("a page of another site cannot frame the consent page or inject scripts and forms into it", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const clientId = await register(service, [REDIRECT], `<script>x()</script>"><img src=x onerror=x()>`)
    const page = await browser.open(
      `/oauth/authorize?${queryOf(clientId, pkce().challenge, { state: `"><script>y()</script>` })}`,
    )
    expect(page.headers.get("x-frame-options")).toBe("DENY")
    for (const rule of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(page.headers.get("content-security-policy")).toContain(rule)
    expect(page.text).not.toMatch(/<script>[xy]\(|<img/)
    const left = await agree(browser, page)
    expect(left.text).not.toMatch(/<script>[xy]\(|<img/)
    expect(left.headers.get("refresh")).toMatch(/^0;url=https:\/\/client\.example\/callback\?[\w=&%.:+-]+$/)
  })

  test("approval requires a session, even if the form was shown while there was one", async () => {
    const browser = await ownerBrowser(service, workspaceId)
    const page = await browser.open(`/oauth/authorize?${queryOf(await register(service), pkce().challenge)}`)
    await sql`delete from person_session`
    const sent = await agree(browser, page)
    expect([sent.status, sent.headers.get("location")!.startsWith("/sign-in?next=%2Foauth%2Fauthorize")]).toEqual([
      303,
      true,
    ])
  })
})

describe("a flood of registrations", () => {
  test("registrations from one address are limited per hour, without affecting other addresses", async () => {
    const metadata = { redirect_uris: [REDIRECT] }
    const statuses = []
    for (let n = 0; n <= REGISTRATIONS_AN_HOUR; n++)
      statuses.push((await post(service, "/oauth/register", metadata, { json: true, from: "203.0.113.5" })).status)
    expect([statuses.filter((status) => status === 201).length, statuses.at(-1)]).toEqual([REGISTRATIONS_AN_HOUR, 429])
    const refused = await post(service, "/oauth/register", metadata, { json: true, from: "203.0.113.5" })
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
    expect((await post(service, "/oauth/register", metadata, { json: true, from: "203.0.113.6" })).status).toBe(201)
    // A customer has a /48 of IPv6.
    for (let n = 0; n < REGISTRATIONS_AN_HOUR; n++)
      await post(service, "/oauth/register", metadata, { json: true, from: `2001:db8:1:${n}::1` })
    expect((await post(service, "/oauth/register", metadata, { json: true, from: "2001:db8:1:ff::1" })).status).toBe(
      429,
    )
  })

  test("2,000 new registrations block further registrations, but evict no client that waits for approval", async () => {
    const waiting = await register(service)
    await sql`
      insert into oauth_client (id, name, redirect_uris, from_sha256, created_at)
      select 'flood ' || n, 'x', array['https://x.example/'], sha256(n::text::bytea), now() + n * interval '1 ms'
      from generate_series(1, 1999) n`
    const statusOf = async () =>
      (await post(service, "/oauth/register", { redirect_uris: [REDIRECT] }, { json: true })).status
    for (let n = 0; n < 4; n++) expect(await statusOf()).toBe(429)
    await sql`delete from oauth_client where id = 'flood 1'`
    expect([await statusOf(), await statusOf()]).toEqual([201, 429])
    const browser = await ownerBrowser(service, workspaceId)
    expect((await browser.open(`/oauth/authorize?${queryOf(waiting, pkce().challenge)}`)).status).toBe(200)
  })

  test("a flood of registrations evicts its own oldest clients, but no approved client", async () => {
    const { clientId, tokens } = await letIn(service, workspaceId)
    await sql`
      insert into oauth_client (id, name, redirect_uris, from_sha256, created_at)
      select 'flood ' || n, 'x', array['https://x.example/'], sha256(n::text::bytea),
        now() - interval '1 hour' - n * interval '1 s'
      from generate_series(1, 2300) n`
    await sql`update oauth_client set created_at = now() - interval '1 day' where id = ${clientId}`
    for (let n = 0; n < 4; n++) await register(service)
    const [row] = await sql`select count(*)::int as n from oauth_client where agreed_at is null`
    expect(row!.n).toBeLessThanOrEqual(2_000)
    expect((await refresh(service, clientId, tokens.refresh_token)).status).toBe(200)
    expect((await sql`select id from oauth_client where id = ${clientId}`).length).toBe(1)
  })

  test("a client without a name can register, a long name is shortened, and an unsafe name is refused", async () => {
    const registerNamed = async (client_name: unknown) => {
      const { status, body } = await post(
        service,
        "/oauth/register",
        { client_name, redirect_uris: ["http://127.0.0.1:33418/callback"] },
        { json: true },
      )
      return [status, body.client_name?.length]
    }
    expect(await registerNamed(null)).toEqual([201, undefined])
    expect(await registerNamed("")).toEqual([201, undefined])
    expect(await registerNamed("x".repeat(500))).toEqual([201, 200])
    for (const name of ["\u202eevil", "\u3164", "\ud800"]) expect((await registerNamed(name))[0]).toBe(400)
  })

  test("the 51st post of an address within a second is refused, and posts of other addresses are not", async () => {
    const limited = openService({ sql, now: () => new Date("2026-11-25T12:00:00Z") })
    const statuses = []
    for (let n = 0; n < 51; n++)
      statuses.push((await post(limited, "/oauth/token", {}, { from: "203.0.113.9" })).status)
    expect([new Set(statuses.slice(0, 50)), statuses[50]]).toEqual([new Set([401]), 429])
    expect((await post(limited, "/oauth/token", {}, { from: "203.0.113.10" })).status).toBe(401)
  })

  test("invalid client metadata is refused, as is metadata larger than 16 KB", async () => {
    for (const body of [
      {},
      { redirect_uris: [] },
      { redirect_uris: "x" },
      { redirect_uris: [1] },
      { redirect_uris: [REDIRECT], client_name: "a\0b" },
      { redirect_uris: Array(21).fill(REDIRECT) },
      { redirect_uris: [REDIRECT], x: "y".repeat(20_000) },
    ])
      expect((await post(service, "/oauth/register", body, { json: true })).body.error).toBe("invalid_client_metadata")
  })
})
