import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { createInvitation } from "../../../src/access/people/invitations.ts"
import { addPerson, removeMember } from "../../../src/access/people/people.ts"
import { scopesOf } from "../../../src/access/people/roles.ts"
import type { Finding } from "../../../src/commands/doctor/finding.ts"
import type { Sql } from "../../../src/database/types.ts"
import { removeFolders, scratch } from "../../commands/child.ts"
import { runHere } from "../../commands/here.ts"
import { freshDatabase } from "../../database.ts"
import { openService, PUBLIC_URL, type Service } from "../../service.ts"
import { type Browser, browserOf, fieldIn } from "../sign-in/browser.ts"
import { beginVisit, CLIENT, type RunningProvider, runProvider } from "./provider.ts"
import { anotherAddress, memberOf } from "./scene.ts"

setDefaultTimeout(120_000)

const CALLBACK = "/sign-in/oidc/callback"

/** Every account of the provider claims this address, and the provider has verified it for none of them. */
const EMAIL = "ada@example.com"

let sql: Sql
let service: Service
let workspaceId: number
let provider: RunningProvider

beforeAll(async () => {
  sql = await freshDatabase()
  provider = await runProvider({ redirectUri: `${PUBLIC_URL}${CALLBACK}`, email: EMAIL })
  service = openService({ sql, settings: { oidc: { issuer: provider.issuer, ...CLIENT, name: "Keycloak" } } })
  workspaceId = await service.workspace()
  const { browser } = await memberOf(service, workspaceId, "owner")
  await linkAccount(browser, "linked")
}, 120_000)

afterAll(async () => {
  await provider.close()
  removeFolders()
})

const newBrowser = () => browserOf(service, { from: anotherAddress() })

async function linkAccount(browser: Browser, account: string): Promise<void> {
  const form = fieldIn(await browser.open("/app/settings/profile"), "form") ?? ""
  const url = await beginVisit(browser, { form, link: "1", next: "/app/settings/profile" })
  const response = await browser.open(await provider.signIn(url, account))
  expect([response.status, response.headers.get("location")]).toEqual([303, "/app/settings/profile"])
}

async function invite(name: string): Promise<string> {
  const rights = { scopes: scopesOf("viewer"), appList: null }
  return await createInvitation(sql, { workspaceId, name, ...rights, invitedBy: null })
}

/** Goes to the provider. Returns the browser and the path to which the provider redirects it. */
async function visitProvider(account = "linked"): Promise<{ browser: Browser; path: string }> {
  const browser = newBrowser()
  return { browser, path: await provider.signIn(await beginVisit(browser), account) }
}

/** Opens a changed callback and expects that it signs nobody in. */
async function refuse(browser: Browser, path: string): Promise<string> {
  const page = await browser.open(path)
  expect(page.status).toBe(400)
  expect((await browser.open("/app")).status).toBe(303)
  return page.text
}

function changeQuery(path: string, change: (query: URLSearchParams) => void): string {
  const query = new URLSearchParams(path.split("?")[1])
  change(query)
  return `${CALLBACK}?${query}`
}

test("a linked person signs in with the provider and continues to the page that they requested", async () => {
  const browser = newBrowser()
  expect((await browser.open("/sign-in")).text).toContain("Sign in with Keycloak")
  const url = await beginVisit(browser, { next: "/app/alerts" })
  const sent = new URL(url).searchParams
  expect([sent.get("code_challenge_method"), sent.get("response_type")]).toEqual(["S256", "code"])
  const response = await browser.open(await provider.signIn(url, "linked"))
  expect([response.status, response.headers.get("location")]).toEqual([303, "/app/alerts"])
  expect((await browser.open("/app/settings/profile")).text).toContain("signed in by OpenID provider")
})

test("an unknown account is told to ask for an invitation, even if its e-mail is a member's name", async () => {
  const rights = { scopes: scopesOf("owner"), appList: null }
  await sql.begin((tx) => addPerson(tx, { workspaceId, name: EMAIL, ...rights }))
  const { browser, path } = await visitProvider("stranger")
  const page = await browser.open(path)
  expect([page.status, page.text.includes("Ask for an invitation")]).toEqual([403, true])
  expect((await browser.open("/app")).status).toBe(303)
})

test("an invitation accepted with the provider creates a person who then signs in with it", async () => {
  const browser = newBrowser()
  const code = await invite("Grace")
  expect((await browser.open(`/invitation?code=${code}`)).text).toContain("with Keycloak")
  const url = await beginVisit(browser, { code, name: "Grace" })
  expect((await browser.open(await provider.signIn(url, "grace"))).status).toBe(303)
  expect((await browser.open("/app/settings/profile")).text).toContain("Grace")
  expect((await browser.open(`/invitation?code=${code}`)).status).toBe(404)
  const visit = await visitProvider("grace")
  expect((await visit.browser.open(visit.path)).status).toBe(303)
})

test("an invitation that is withdrawn during the sign-in at the provider is refused", async () => {
  const browser = newBrowser()
  const url = await beginVisit(browser, { code: await invite("Late"), name: "Late" })
  const path = await provider.signIn(url, "late")
  await sql`delete from invitation where name = 'Late'`
  expect((await browser.open(path)).status).toBe(400)
  expect((await browser.open("/app")).status).toBe(303)
})

test("a callback whose state is missing or belongs to another sign-in is refused", async () => {
  const first = await visitProvider()
  await refuse(
    first.browser,
    changeQuery(first.path, (query) => query.delete("state")),
  )
  const [second, other] = [await visitProvider(), await visitProvider()]
  const foreign = new URLSearchParams(other.path.split("?")[1]).get("state") ?? ""
  await refuse(
    second.browser,
    changeQuery(second.path, (query) => query.set("state", foreign)),
  )
})

test("a callback that was already used is refused, with or without its cookie", async () => {
  const { browser, path } = await visitProvider()
  const cookies = new Map(browser.cookies)
  expect((await browser.open(path)).status).toBe(303)
  const copy = newBrowser()
  for (const [name, value] of cookies) copy.cookies.set(name, value)
  expect(await refuse(copy, path)).toContain("did not begin here")
  await refuse(newBrowser(), path)
})

test("a code of another sign-in is refused, because its nonce and challenge differ", async () => {
  const [visit, stolen] = [await visitProvider(), await visitProvider()]
  const code = new URLSearchParams(stolen.path.split("?")[1]).get("code") ?? ""
  await refuse(
    visit.browser,
    changeQuery(visit.path, (query) => query.set("code", code)),
  )
})

test("a code is refused if its authorization request had no nonce or a different nonce", async () => {
  for (const nonce of [null, "foreign"]) {
    const browser = newBrowser()
    const url = new URL(await beginVisit(browser))
    if (nonce === null) url.searchParams.delete("nonce")
    else url.searchParams.set("nonce", nonce)
    await refuse(browser, await provider.signIn(url.href, "linked"))
  }
})

test("a code is refused if the challenge was removed from its authorization request (PKCE downgrade)", async () => {
  const browser = newBrowser()
  const url = new URL(await beginVisit(browser))
  url.searchParams.delete("code_challenge")
  url.searchParams.delete("code_challenge_method")
  await refuse(browser, await provider.signIn(url.href, "linked"))
})

test("a response that names a different issuer or no issuer is refused (mix-up)", async () => {
  const [foreign, withoutIssuer] = [await visitProvider(), await visitProvider()]
  await refuse(
    foreign.browser,
    changeQuery(foreign.path, (query) => query.set("iss", "https://attacker.example")),
  )
  await refuse(
    withoutIssuer.browser,
    changeQuery(withoutIssuer.path, (query) => query.delete("iss")),
  )
})

test("a callback opened in another browser signs nobody in (fixation)", async () => {
  const { path } = await visitProvider()
  const victim = newBrowser()
  expect(await refuse(victim, path)).toContain("did not begin here")
  const busy = newBrowser()
  await beginVisit(busy)
  await refuse(busy, path)
})

test("a person cannot finish linking an account in the session of another person", async () => {
  const { browser } = await memberOf(service, workspaceId, "viewer")
  const form = fieldIn(await browser.open("/app/settings/profile"), "form") ?? ""
  const path = await provider.signIn(await beginVisit(browser, { form, link: "1" }), "planted")
  const other = await memberOf(service, workspaceId, "viewer")
  for (const [name, value] of browser.cookies) if (name !== "appmeter") other.browser.cookies.set(name, value)
  expect((await other.browser.open(path)).status).toBe(400)
  const planted = await visitProvider("planted")
  expect((await planted.browser.open(planted.path)).status).toBe(403)
})

test("linking an account needs the form's token and a recent passphrase; a linked account is refused", async () => {
  const { browser, personId } = await memberOf(service, workspaceId, "viewer")
  expect((await browser.send("/sign-in/oidc", { link: "1", form: "x" })).status).toBe(400)
  const form = fieldIn(await browser.open("/app/settings/profile"), "form") ?? ""
  const path = await provider.signIn(await beginVisit(browser, { form, link: "1" }), "linked")
  const response = await browser.open(path)
  expect([response.status, response.text.includes("linked to somebody else")]).toEqual([400, true])
  await sql`update person_session set proved_at = now() - interval '11 minutes' where person_id = ${personId}`
  expect((await browser.send("/sign-in/oidc", { link: "1", form })).status).toBe(403)
})

test("a next address on another origin is ignored, and a form from another site is refused", async () => {
  for (const next of ["https://attacker.example/", "//attacker.example", "/\\attacker.example"]) {
    const browser = newBrowser()
    const path = await provider.signIn(await beginVisit(browser, { next }), "linked")
    expect((await browser.open(path)).headers.get("location")).toBe("/app")
  }
  const sent = await newBrowser().send("/sign-in/oidc", {}, { "sec-fetch-site": "cross-site" })
  expect(sent.status).toBe(400)
})

test("an unlinked account can no longer sign in, and neither can the account of a removed person", async () => {
  for (const end of ["unlink", "remove"]) {
    const { browser, personId } = await memberOf(service, workspaceId, "viewer")
    const account = `ended by ${end}`
    await linkAccount(browser, account)
    if (end === "remove") await sql.begin((tx) => removeMember(tx, workspaceId, personId))
    else {
      const form = fieldIn(await browser.open("/app/settings/profile"), "form") ?? ""
      const id = `${provider.issuer} ${account}`
      const sent = await browser.send("/app/settings/profile", { form, do: "unlink", id })
      expect(sent.status).toBe(303)
    }
    const visit = await visitProvider(account)
    expect((await visit.browser.open(visit.path)).status).toBe(403)
  }
})

test("the sign-in page explains what to do when the provider is down", async () => {
  const down = await runProvider({ redirectUri: `${PUBLIC_URL}${CALLBACK}`, email: "x" })
  await down.close()
  const broken = openService({ sql, settings: { oidc: { issuer: down.issuer, ...CLIENT, name: "Keycloak" } } })
  const page = await browserOf(broken, { from: anotherAddress() }).send("/sign-in/oidc", {})
  expect([page.status, page.text.includes("appmeter doctor")]).toEqual([502, true])
  expect(page.text).toContain("sign in with your passphrase or a code")
  expect(broken.logged.some((line) => line.includes("oidc_failed"))).toBe(true)
})

test("without a provider the sign-in page has no button for it, and the callback is not found", async () => {
  const plain = browserOf(openService({ sql }), { from: anotherAddress() })
  expect((await plain.open("/sign-in")).text).not.toContain("/sign-in/oidc")
  expect((await plain.open(`${CALLBACK}?code=1&state=2`)).status).toBe(404)
})

test("doctor reports whether the provider answers, has another issuer, or is down", async () => {
  const env = { DATA_DIR: join(scratch(), "none"), OIDC_CLIENT_ID: "appmeter", OIDC_NAME: "Keycloak" }
  const runDoctor = async (issuer: string) => {
    const { out } = await runHere(["doctor", "--json"], { env: { ...env, OIDC_ISSUER: issuer } })
    const { findings } = JSON.parse(out) as { findings: Finding[] }
    return findings.find(({ thing }) => thing === "openid provider")
  }
  const sentence = `Keycloak answers at ${provider.issuer}`
  expect(await runDoctor(provider.issuer)).toEqual({ thing: "openid provider", state: "ok", says: sentence, fix: null })
  const other = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.json({ issuer: provider.issuer, authorization_endpoint: `${provider.issuer}/auth` }),
  })
  const answersAsOther = await runDoctor(other.url.origin)
  await other.stop(true)
  for (const finding of [answersAsOther, await runDoctor(other.url.origin)])
    expect(finding).toMatchObject({ state: "problem", fix: expect.stringContaining("OIDC_ISSUER") })
})
