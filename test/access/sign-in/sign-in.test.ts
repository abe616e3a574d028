import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { listKeys, pauseKey, revokeKey } from "../../../src/access/key-register.ts"
import { addPerson } from "../../../src/access/people/people.ts"
import { scopesOf } from "../../../src/access/people/roles.ts"
import { createCode } from "../../../src/access/sign-in/code.ts"
import { makePassphrase, removePassphrase, setPassphrase } from "../../../src/access/sign-in/passphrase.ts"
import { createPeople, isOwnForm, isOwnPath, type Person } from "../../../src/access/sign-in/person.ts"
import { deleteWorkspace, setWorkspace } from "../../../src/access/workspaces.ts"
import { createGate } from "../../../src/database/gate.ts"
import type { Sql } from "../../../src/database/types.ts"
import { whoami } from "../../../src/overview/operations/account.ts"
import { SCHEME_SCRIPT } from "../../../src/ui/scheme.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { countedOn } from "../../http/counted.ts"
import { checkedHeaders, openService, PUBLIC_URL, type Service } from "../../service.ts"
import { quickHash } from "../../sharing/quick-hash.ts"
import { type Browser, browserOf, fieldIn } from "./browser.ts"

const digestOf = (text: string) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`

let sql: Sql
let service: Service
let workspaceId: number
let workspace: string
let personId: number
let name: string
let count = 0

const PASSPHRASE = "correct horse battery"

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
})

beforeEach(async () => {
  await deleteRows(sql, "secret_try", "sign_in_code", "person_session")
  workspace = `acme ${++count}`
  workspaceId = await service.workspace({ name: workspace, plan: "free" })
  name = `Ada ${count}`
  personId = await addOwner()
})

/** Adds a person with every right to the workspace. */
const addOwner = (called = name) =>
  sql.begin((tx) => addPerson(tx, { workspaceId, name: called, scopes: scopesOf("owner"), appList: null }))

const personOf = (browser: Browser, publicUrl = PUBLIC_URL, database = sql): Promise<Person | null> =>
  createPeople({ sql: database, gate: createGate(), publicUrl, sessionDays: 30, proxy: null }).personOf({
    request: new Request(publicUrl, {
      headers: { cookie: [...browser.cookies].map((pair) => pair.join("=")).join("; ") },
    }),
    peer: "192.0.2.1",
  })

/** A browser in which the person has signed in with a code. */
async function signedIn(browser = browserOf(service)): Promise<Browser> {
  const { status } = await browser.send("/sign-in", { code: await createCode(sql, workspaceId) })
  expect(status).toBe(303)
  return browser
}

const callAs = (person: Person) =>
  service.app.invoke({
    surface: "pages",
    requestId: crypto.randomUUID(),
    credentials: { grant: person.keyId },
    keyInUrl: false,
    address: "192.0.2.1",
    target: async () => ({ operation: whoami, input: {} }),
  })

describe("with the passphrase", () => {
  beforeEach(async () => {
    await sql`update person set passphrase = ${quickHash(PASSPHRASE)} where id = ${personId}`
  })

  test("the passphrase signs a person in and redirects to the requested page", async () => {
    await setPassphrase(sql, personId, PASSPHRASE)
    const browser = browserOf(service)
    const page = await browser.open("/sign-in?next=%2Fapp%3Fday%3D1")
    expect(page.status).toBe(200)
    const sent = await browser.send("/sign-in", {
      name: name.toUpperCase(),
      passphrase: PASSPHRASE,
      next: fieldIn(page, "next")!,
    })
    expect([sent.status, sent.headers.get("location")]).toEqual([303, "/app?day=1"])
    expect(await personOf(browser)).toMatchObject({ personId, person: name, workspaceId, workspace })
  })

  test("a wrong passphrase, an unknown name and a person without a passphrase have the same response", async () => {
    const withoutPassphrase = `${name} without`
    await addOwner(withoutPassphrase)
    const browser = browserOf(service)
    const answers = []
    for (const typed of [name, "nobody's", withoutPassphrase]) {
      const { status, text } = await browser.send("/sign-in", { name: typed, passphrase: `${PASSPHRASE}?` })
      answers.push([status, text.replaceAll(typed, "NAME").replaceAll("nobody&#39;s", "NAME")])
    }
    expect(answers[0]![0]).toBe(403)
    expect(answers[0]![1]).toContain("The name or the passphrase is not right.")
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(browser.cookies.size).toBe(0)
  })

  test("an address may try five passphrases a minute, for any names, and the sixth is not checked", async () => {
    const browser = browserOf(service)
    for (let tried = 0; tried < 5; tried++)
      expect((await browser.send("/sign-in", { name: tried % 2 ? name : "other", passphrase: "x" })).status).toBe(403)
    const sixth = await browser.send("/sign-in", { name, passphrase: PASSPHRASE })
    expect([sixth.status, Number(sixth.headers.get("retry-after")) > 30]).toEqual([429, true])
    expect(browser.cookies.size).toBe(0)
    const otherBrowser = browserOf(service, { from: "198.51.100.7" })
    expect((await otherBrowser.send("/sign-in", { name, passphrase: PASSPHRASE })).status).toBe(303)
  })

  test("the wait after wrong passphrases grows to at most a minute, and is reset when the count expires", async () => {
    let n = 0
    const guess = () => browserOf(service, { from: `10.9.0.${++n}` }).send("/sign-in", { name, passphrase: "x" })
    await guess()
    const waits = []
    for (const tries of [18, 19, 29, 39, 79, 5_000_000]) {
      await sql`update secret_try set tries = ${tries}, free_at = now()`
      expect((await guess()).status).toBe(403)
      const next = await guess()
      waits.push(Number(next.headers.get("retry-after") ?? 0))
    }
    expect(waits).toEqual([0, 1, 2, 4, 60, 60])
    await sql`update secret_try set free_at = now(), counts_until = now()`
    for (const _ of [1, 2]) expect((await guess()).status).toBe(403)
  })

  test("wrong passphrases from many addresses are rate-limited, and a sign-in code still works", async () => {
    const guess = (n: number) =>
      browserOf(service, { from: `198.51.100.${n}` }).send("/sign-in", { name, passphrase: "x" })
    const statuses = []
    for (let n = 1; n <= 23; n++) statuses.push((await guess(n)).status)
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(403))
    expect(statuses.slice(21)).toContain(429)
    await signedIn()
  })

  test("a correct passphrase does not count as a try", async () => {
    for (let n = 0; n < 7; n++)
      expect((await browserOf(service).send("/sign-in", { name, passphrase: PASSPHRASE })).status).toBe(303)
  })

  test("changing or removing the passphrase ends the sessions of the old passphrase", async () => {
    for (const change of [
      () => setPassphrase(sql, personId, makePassphrase(randomBytes)),
      () => removePassphrase(sql, personId),
    ]) {
      const browser = await signedIn()
      await change()
      expect(await personOf(browser)).toBeNull()
      expect((await browser.send("/sign-in", { name, passphrase: PASSPHRASE })).status).toBe(403)
    }
  })

  test("a passphrase that is too short or cannot be typed is refused when it is set", async () => {
    for (const bad of ["elevenchars", "x".repeat(129), `\ud800${PASSPHRASE}`])
      expect(await errorOf(setPassphrase(sql, personId, bad))).toHaveProperty(
        "message",
        "a passphrase has 12 to 128 characters",
      )
    expect(makePassphrase(randomBytes)).toMatch(/^[B-DF-HJ-KM-NP-TV-XZ]{5}(-[B-DF-HJ-KM-NP-TV-XZ]{5}){3}$/)
  })
})

describe("with a code", () => {
  test("a code is valid once, in any case and spacing, until it expires", async () => {
    const code = await createCode(sql, workspaceId)
    expect(code).toMatch(/^[B-DF-HJ-KM-NP-TV-XZ]{4}-[B-DF-HJ-KM-NP-TV-XZ]{4}$/)
    const browser = browserOf(service)
    expect((await browser.send("/sign-in", { code: ` ${code.toLowerCase().replace("-", " ")} ` })).status).toBe(303)
    expect((await browserOf(service).send("/sign-in", { code })).status).toBe(403)
    const expiredCode = await createCode(sql, workspaceId)
    await sql`update sign_in_code set expires_at = now()`
    expect((await browserOf(service).send("/sign-in", { code: expiredCode })).status).toBe(403)
  })

  test("only one of ten browsers that send the same code concurrently is signed in", async () => {
    const code = await createCode(sql, workspaceId)
    const sent = Array.from({ length: 10 }, (_, n) =>
      browserOf(service, { from: `192.0.2.${n}` }).send("/sign-in", { code }),
    )
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 303)).toHaveLength(1)
  })

  test("opening a code's link fills in the code without using it up", async () => {
    const code = await createCode(sql, workspaceId)
    const browser = browserOf(service)
    for (const _ of [1, 2]) {
      const page = await browser.open(`/sign-in?code=${code}`)
      expect([fieldIn(page, "code"), browser.cookies.size]).toEqual([code, 0])
    }
    expect((await browser.send("/sign-in", { code })).status).toBe(303)
  })
})

describe("a session", () => {
  test("the session cookie has the attributes HttpOnly and SameSite=Lax and lasts 400 days", async () => {
    const browser = browserOf(service)
    const { headers } = await browser.send("/sign-in", { code: await createCode(sql, workspaceId) })
    expect(headers.get("set-cookie")).toMatch(/^appmeter=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/)
  })

  test("a session expires thirty days after its last use", async () => {
    const browser = await signedIn()
    const daysLeft = async () => {
      const [row] = await sql<{ days: number }[]>`
        select round(extract(epoch from expires_at - now()) / 86400)::int as days
        from person_session
        where person_id = ${personId}`
      return row?.days
    }
    expect(await daysLeft()).toBe(30)
    await sql`
      update person_session
      set created_at = now() - interval '29 days', used_at = now() - interval '29 days',
        expires_at = now() + interval '1 day'`
    expect(await personOf(browser)).not.toBeNull()
    expect(await daysLeft()).toBe(30)
    await sql`update person_session set created_at = now() - interval '31 days', expires_at = now()`
    expect(await personOf(browser)).toBeNull()
  })

  test("behind TLS the session cookie has the __Host- prefix", async () => {
    const url = "https://ranks.example.com"
    const secure = openService({ sql, settings: { publicUrl: url } })
    const browser = await signedIn(browserOf(secure, { url }))
    expect([...browser.cookies.keys()]).toEqual(["__Host-appmeter"])
    expect(await personOf(browser, url)).toMatchObject({ workspaceId })
  })

  test("behind TLS a session cookie without the __Host- prefix is ignored", async () => {
    const url = "https://ranks.example.com"
    const secure = openService({ sql, settings: { publicUrl: url } })
    const secureBrowser = await signedIn(browserOf(secure, { url }))
    const first = workspaceId
    workspaceId = await service.workspace({ name: `evil ${count}`, plan: "free" })
    await addOwner(`evil ${count}`)
    const planted = (await signedIn()).cookies.get("appmeter")!
    const browser = browserOf(secure, { url })
    browser.cookies.set("appmeter", planted)
    expect(await personOf(browser, url)).toBeNull()
    browser.cookies.set("__Host-appmeter", secureBrowser.cookies.get("__Host-appmeter")!)
    expect(await personOf(browser, url)).toMatchObject({ workspaceId: first })
  })

  test("a session can make calls on the Free plan and is listed among the keys", async () => {
    await service.key(workspaceId)
    const person = (await personOf(await signedIn()))!
    expect(await callAs(person)).toMatchObject({ status: 200, answer: { plan: "free", auth: "sign-in" } })
    expect(await listKeys(sql, workspace)).toMatchObject([
      { id: person.keyId, kind: "grant", name: `pages of ${name}`, hint: "pages", person: name, state: "usable" },
      { kind: "live", person: null, state: "usable" },
    ])
    // Two sessions of a person share one grant.
    expect((await personOf(await signedIn()))!.keyId).toBe(person.keyId)
  })

  test("a paused grant refuses calls; a revoked grant ends its sessions until the next sign-in", async () => {
    const browser = await signedIn()
    const person = (await personOf(browser))!
    await pauseKey(sql, person.keyId)
    expect(await callAs(person)).toMatchObject({ status: 403, answer: { error: "key_paused" } })
    await revokeKey(sql, person.keyId)
    expect(await personOf(browser)).toBeNull()
    expect((await personOf(await signedIn()))!.keyId).not.toBe(person.keyId)
  })

  test("a suspended or deleted workspace has no sessions, and a suspended workspace refuses sign-ins", async () => {
    const browser = await signedIn()
    const code = await createCode(sql, workspaceId)
    await setWorkspace(sql, workspace, { suspended: true })
    expect(await personOf(browser)).toBeNull()
    expect((await browserOf(service).send("/sign-in", { code })).status).toBe(403)
    await setWorkspace(sql, workspace, { suspended: false })
    expect(await personOf(browser)).not.toBeNull()
    await deleteWorkspace(sql, workspace)
    expect(await personOf(browser)).toBeNull()
  })

  test("signing out ends the session, and a form of another site cannot sign a person out", async () => {
    const browser = await signedIn()
    const page = await browser.open("/sign-in")
    expect(page.text).toContain(workspace)
    expect((await browser.send("/sign-out", {})).status).toBe(400)
    expect((await browser.send("/sign-out", { form: "A".repeat(43) })).status).toBe(400)
    expect(await personOf(browser)).not.toBeNull()
    const savedCookies = new Map(browser.cookies)
    expect((await browser.send("/sign-out", { form: fieldIn(page, "form")! })).headers.get("location")).toBe("/sign-in")
    expect(browser.cookies.size).toBe(0)
    for (const [name, value] of savedCookies) browser.cookies.set(name, value)
    expect(await personOf(browser)).toBeNull()
  })

  test("a form token is valid only for its own session", async () => {
    const [person, other] = [(await personOf(await signedIn()))!, (await personOf(await signedIn()))!]
    expect(isOwnForm(person, new URLSearchParams({ form: person.formToken }))).toBe(true)
    expect(isOwnForm(person, new URLSearchParams({ form: other.formToken }))).toBe(false)
    expect(isOwnForm(person, new URLSearchParams())).toBe(false)
  })
})

describe("the page", () => {
  test("the sign-in page runs only the colour-scheme script and posts only to this server", async () => {
    for (const page of [await browserOf(service).open("/sign-in"), await (await signedIn()).open("/sign-in")]) {
      const policy = page.headers.get("content-security-policy")!
      for (const rule of ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"])
        expect(policy).toContain(rule)
      expect(policy).toContain(`; script-src ${digestOf(SCHEME_SCRIPT)}; `)
      expect(page.text.match(/<script/g)).toHaveLength(1)
      expect(page.headers.get("cache-control")).toBe("private, no-store")
      checkedHeaders(new Response(null, { status: page.status, headers: page.headers }))
    }
  })

  test("the sign-in page shows parameters of its address as text", async () => {
    const { text } = await browserOf(service).open(`/sign-in?code=${encodeURIComponent('"><script>x()</script>')}`)
    expect(text).not.toContain("<script>x")
  })

  test("the sign-in page never redirects to another site", async () => {
    const foreignPaths = [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "/\t/evil.example",
      "javascript:x()",
      "app",
      "/ü",
      "",
    ]
    expect(foreignPaths.filter(isOwnPath)).toEqual([])
    expect(
      ["/app", "/oauth/authorize?client_id=https://a.example/x&state=1", "/"].filter((path) => !isOwnPath(path)),
    ).toEqual([])
    for (const next of foreignPaths) {
      const code = await createCode(sql, workspaceId)
      expect((await browserOf(service).send("/sign-in", { code, next })).headers.get("location")).toBe("/app")
    }
  })

  test("a sign-in form of another site is refused and does not use up the code", async () => {
    const code = await createCode(sql, workspaceId)
    const browser = browserOf(service)
    const foreignHeaders: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "null" },
    ]
    for (const headers of foreignHeaders) expect((await browser.send("/sign-in", { code }, headers)).status).toBe(403)
    expect(browser.cookies.size).toBe(0)
    expect((await browser.send("/sign-in", { code }, { "sec-fetch-site": "same-origin" })).status).toBe(303)
  })

  test("the sign-in page refuses any request other than its form", async () => {
    const browser = browserOf(service)
    const wrong: (Record<string, string> | [string, string][])[] = [
      {},
      { name },
      [
        ["code", "A"],
        ["code", "B"],
      ],
    ]
    for (const fields of wrong) expect((await browser.send("/sign-in", fields)).status).toBe(400)
    expect((await browser.send("/sign-in", { code: "B" }, { "content-type": "text/plain" })).status).toBe(400)
    expect((await browser.send("/sign-in", { code: "B".repeat(10_000) })).status).toBe(400)
  })
})

test("a page view reads its session with one SQL statement, and renews it at most once an hour", async () => {
  const browser = await signedIn()
  const counted = countedOn(sql)
  const statements = async () => {
    const before = counted.statements()
    expect(await personOf(browser, PUBLIC_URL, counted.sql)).not.toBeNull()
    return counted.statements() - before
  }
  expect(await statements()).toBe(1)
  await sql`update person_session set used_at = now() - interval '61 minutes'`
  expect([await statements(), await statements()]).toEqual([2, 1])
})
