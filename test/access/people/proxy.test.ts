import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { createInvitation } from "../../../src/access/people/invitations.ts"
import { scopesOf } from "../../../src/access/people/roles.ts"
import { setPassphrase } from "../../../src/access/sign-in/passphrase.ts"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { openService, type Service } from "../../service.ts"
import { browserOf } from "../sign-in/browser.ts"
import { memberOf } from "./scene.ts"

setDefaultTimeout(60_000)

const PROXY = "10.1.2.3"

let sql: Sql
let service: Service
let workspaceId: number
let count = 0

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, settings: { trustedProxies: [PROXY], authProxyHeader: "Remote-User" } })
  workspaceId = await service.workspace()
})

/** A browser whose requests come through the proxy, which names the person in a header. */
function behindProxy(name: string, from = PROXY) {
  const browser = browserOf(service, { from })
  const named = { "remote-user": name, "x-forwarded-for": `203.0.113.${++count}` }
  return {
    ...browser,
    open: (path: string, headers = {}) => browser.open(path, { ...named, ...headers }),
    send: (path: string, fields: Record<string, string>) => browser.send(path, fields, named),
  }
}

test("a person whom the trusted proxy names in upper or lower case is signed in", async () => {
  const { name } = await memberOf(service, workspaceId, "viewer")
  const browser = behindProxy(name.toUpperCase())
  const signedIn = await browser.open("/sign-in?next=%2Fapp%2Falerts")
  expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/app/alerts"])
  expect((await browser.open("/app")).status).toBe(200)
})

test("the proxy's header is ignored from other addresses, even if X-Forwarded-For names the proxy", async () => {
  const { name } = await memberOf(service, workspaceId, "owner")
  for (const from of ["203.0.113.9", "10.1.2.4", "::ffff:10.1.2.30"]) {
    const browser = behindProxy(name, from)
    const page = await browser.open("/sign-in", { "x-forwarded-for": PROXY })
    expect([page.status, browser.cookies.size]).toEqual([200, 0])
  }
})

test("the proxy's header is ignored at /v1 and /mcp, even from the proxy", async () => {
  const { name } = await memberOf(service, workspaceId, "owner")
  const headers = { "remote-user": name }
  const rest = await service.call("/v1/apps", { headers, from: PROXY })
  expect([rest.status, rest.body.error]).toEqual([401, "missing_api_key"])
  const request = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }
  const response = await service.app.fetch(
    new Request("http://127.0.0.1:8787/mcp", {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify(request),
    }),
    PROXY,
  )
  expect(response.status).toBe(401)
})

test("a person unknown to the server needs an invitation and then gets the name in the proxy's header", async () => {
  const browser = behindProxy("newcomer@example.com")
  const refused = await browser.open("/sign-in")
  expect([refused.status, refused.text.includes("Ask for an invitation"), browser.cookies.size]).toEqual([403, true, 0])
  const code = await createInvitation(sql, {
    workspaceId,
    name: "Newcomer",
    scopes: scopesOf("viewer"),
    appList: null,
    invitedBy: null,
  })
  expect((await browser.open(`/invitation?code=${code}`)).text).toContain("as newcomer@example.com")
  expect((await browser.send("/invitation", { code, name: "Somebody else" })).status).toBe(303)
  expect((await browser.open("/app")).status).toBe(200)
  expect((await behindProxy("newcomer@example.com").open("/sign-in")).status).toBe(303)
})

test("a session started by the proxy ends when the proxy's header is missing or names another person", async () => {
  const [ada, bo] = [await memberOf(service, workspaceId, "owner"), await memberOf(service, workspaceId, "viewer")]
  const browser = behindProxy(ada.name)
  await browser.open("/sign-in")
  expect((await browser.open("/app")).status).toBe(200)
  expect((await browser.open("/app", { "remote-user": bo.name })).status).toBe(303)
  const direct = browserOf(service)
  for (const [name, value] of browser.cookies) direct.cookies.set(name, value)
  expect((await direct.open("/app")).status).toBe(303)
})

test("a person with a passphrase can also sign in without the proxy", async () => {
  const { personId, name } = await memberOf(service, workspaceId, "viewer")
  await setPassphrase(sql, personId, "correct horse battery")
  const direct = browserOf(service, { from: "203.0.113.200" })
  expect((await direct.send("/sign-in", { name, passphrase: "correct horse battery" })).status).toBe(303)
  expect((await direct.open("/app")).status).toBe(200)
})

test("a person's second factor is required after the passphrase, but not at a sign-in through the proxy", async () => {
  const { personId, name } = await memberOf(service, workspaceId, "viewer")
  await setPassphrase(sql, personId, "correct horse battery")
  await sql`insert into second_factor (person_id, sealed, confirmed_at) values (${personId}, 'v1', now())`
  expect((await behindProxy(name).open("/sign-in?next=%2Fapp")).headers.get("location")).toBe("/app")
  const direct = browserOf(service, { from: "203.0.113.201" })
  const { headers } = await direct.send("/sign-in", { name, passphrase: "correct horse battery" })
  expect(headers.get("location")).toStartWith("/sign-in/second-step")
})
