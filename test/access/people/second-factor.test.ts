import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { removeMember } from "../../../src/access/people/people.ts"
import { createCode } from "../../../src/access/sign-in/code.ts"
import { setPassphrase } from "../../../src/access/sign-in/passphrase.ts"
import { removeSecondFactor } from "../../../src/access/sign-in/second-factor.ts"
import type { Sql } from "../../../src/database/types.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { NO_PORTS } from "../../pages/settings/ports.ts"
import { settingsBrowser } from "../../pages/settings/settings-browser.ts"
import { openService, type Service } from "../../service.ts"
import { type Browser, browserOf, fieldIn, type Page } from "../sign-in/browser.ts"
import { codeOf } from "./authenticator.ts"
import { anotherAddress, type Member, memberOf, signedIn } from "./scene.ts"

setDefaultTimeout(60_000)

const PROFILE = "/app/settings/profile"
const STEP = "/sign-in/second-step"
const PASSPHRASE = "correct horse battery"

let sql: Sql
let service: Service
let workspaceId: number

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, settingsPorts: NO_PORTS })
  workspaceId = await service.workspace()
  await memberOf(service, workspaceId, "owner")
})

beforeEach(async () => await deleteRows(sql, "secret_try"))

interface Protected extends Member {
  secret: string
  recovery: string[]
}

const profileOf = ({ browser }: Member) => settingsBrowser(browser, PROFILE)
const recoveryIn = ({ text }: Page) =>
  [...text.matchAll(/<li>([A-Z]{4}(?:-[A-Z]{4}){3})<\/li>/g)].map(([, code]) => code!)
/** The secret for typing, as the profile shows it during the setup. */
const secretIn = ({ text }: Page) => /<code>([A-Z2-7]{4}(?: [A-Z2-7]{4}){7})<\/code>/.exec(text)?.[1]

/** A signed-in person with a passphrase. */
async function memberWithPassphrase(): Promise<Member> {
  const member = await memberOf(service, workspaceId, "owner")
  await setPassphrase(sql, member.personId, PASSPHRASE)
  return { ...member, browser: await signedIn(service, workspaceId, member.name) }
}

/** A signed-in person whose second factor is on. None of its codes is used yet. */
async function memberWithFactor(): Promise<Protected> {
  const member = await memberWithPassphrase()
  await profileOf(member).send("begin-factor", { current: PASSPHRASE })
  const secret = secretIn(await member.browser.open(PROFILE)) ?? ""
  const page = await profileOf(member).send("confirm-factor", { code: codeOf(secret) })
  await forgetSteps()
  return { ...member, secret, recovery: recoveryIn(page) }
}

/** Makes codes that were accepted before valid again. */
const forgetSteps = () => sql`update second_factor set last_step = 0`

const newBrowser = () => browserOf(service, { from: anotherAddress() })

/** Sends the passphrase from a new browser. */
async function firstStep(name: string, browser = newBrowser()): Promise<Browser> {
  const { headers } = await browser.send("/sign-in", { name, passphrase: PASSPHRASE, next: "/app/alerts" })
  expect(headers.get("location")).toBe(`${STEP}?next=%2Fapp%2Falerts`)
  return browser
}

const isSignedIn = async (browser: Browser) => (await browser.open("/app")).status === 200

describe("the setup", () => {
  test("the setup shows the secret as a QR code and as text, and a correct code gives ten recovery codes", async () => {
    const member = await memberWithPassphrase()
    const other = await signedIn(service, workspaceId, member.name)
    const started = await profileOf(member).send("begin-factor", { current: PASSPHRASE })
    expect(started.headers.get("location")).toContain("done=begun")
    const page = await member.browser.open(PROFILE)
    const secret = secretIn(page) ?? ""
    expect(page.text).toContain(
      `otpauth://totp/Appmeter:${encodeURIComponent(member.name)}?issuer=Appmeter&amp;secret=`,
    )
    expect(page.text).toContain('<svg class="qr" role="img"')
    const wrong = await profileOf(member).send("confirm-factor", { code: codeOf(secret, 5) })
    expect([wrong.status, wrong.text.includes("This is not the code")]).toEqual([400, true])
    expect(
      (await browserOf(service, { from: anotherAddress() }).send("/sign-in", signInOf(member))).headers.get("location"),
    ).toBe("/app")

    const confirmed = await profileOf(member).send("confirm-factor", { code: codeOf(secret) })
    expect(new Set(recoveryIn(confirmed)).size).toBe(10)
    const later = await member.browser.open(PROFILE)
    expect(later.text).toContain("10 recovery codes left")
    expect(secretIn(later)).toBeUndefined()
    expect(await isSignedIn(other)).toBe(false)
    const stored = JSON.stringify(await sql`select * from second_factor where person_id = ${member.personId}`)
    for (const hidden of [secret.replaceAll(" ", ""), ...recoveryIn(confirmed)]) expect(stored).not.toContain(hidden)
  })

  test("the setup asks for the passphrase and then shows the secret for only ten minutes", async () => {
    const member = await memberWithPassphrase()
    const refused = await profileOf(member).send("begin-factor", { current: "x" })
    expect([refused.status, refused.text.includes("This is not your passphrase.")]).toEqual([400, true])
    await profileOf(member).send("begin-factor", { current: PASSPHRASE })
    await sql`update person_session set proved_at = now() - interval '11 minutes' where person_id = ${member.personId}`
    expect(secretIn(await member.browser.open(PROFILE))).toBeUndefined()
  })

  test("a second factor that is on can be neither set up nor confirmed again", async () => {
    const member = await memberWithFactor()
    const started = await profileOf(member).send("begin-factor", { current: PASSPHRASE, code: codeOf(member.secret) })
    expect([started.status, started.text.includes("The second factor is on already.")]).toEqual([400, true])
    await forgetSteps()
    expect((await profileOf(member).send("confirm-factor", { code: codeOf(member.secret) })).status).toBe(400)
  })

  slow("the second factor can be turned off on the page only with the passphrase and a code", async () => {
    const member = await memberWithFactor()
    const turnOff = (current: string, code: string) => profileOf(member).send("end-factor", { current, code })
    expect((await turnOff("x", codeOf(member.secret))).status).toBe(400)
    expect((await turnOff(PASSPHRASE, codeOf(member.secret, 5))).text).toContain("The code is not right")
    expect((await turnOff(PASSPHRASE, codeOf(member.secret))).headers.get("location")).toContain("done=off")
    expect((await newBrowser().send("/sign-in", signInOf(member))).headers.get("location")).toBe("/app")
  })
})

const signInOf = ({ name }: Member) => ({ name, passphrase: PASSPHRASE })

describe("the sign-in", () => {
  slow("the sign-in asks for the code after the passphrase and then opens the requested page", async () => {
    const { name, secret } = await memberWithFactor()
    const browser = await firstStep(name)
    expect((await browser.open(`${STEP}?next=%2Fapp%2Falerts`)).text).toContain("Code of your authenticator app")
    const done = await browser.send(STEP, { code: codeOf(secret), next: "/app/alerts" })
    expect([done.status, done.headers.get("location"), await isSignedIn(browser)]).toEqual([303, "/app/alerts", true])
    expect((await (await firstStep(name)).send(STEP, { code: codeOf(secret), next: "//evil.example" })).status).toBe(
      403,
    )
  })

  test("a sign-in with a code from the command line also asks for the second factor", async () => {
    const { name, secret } = await memberWithFactor()
    const browser = newBrowser()
    const first = await browser.send("/sign-in", { code: await createCode(sql, workspaceId, name) })
    expect([first.headers.get("location"), await isSignedIn(browser)]).toEqual([`${STEP}?next=%2Fapp`, false])
    await browser.send(STEP, { code: codeOf(secret) })
    expect(await isSignedIn(browser)).toBe(true)
  })

  test("an unfinished sign-in without the second factor opens no page and sends no form", async () => {
    const { name } = await memberWithFactor()
    const browser = await firstStep(name)
    const token = [...browser.cookies.values()][0] ?? ""
    browser.cookies.set("appmeter", token)
    for (const path of ["/app", PROFILE, "/approve", "/app/settings/keys", "/oauth/authorize"])
      expect([path, [200, 403].includes((await browser.open(path)).status)]).toEqual([path, false])
    expect((await browser.send(PROFILE, { do: "others", form: "x" })).status).toBe(303)
    expect((await browser.open("/sign-in/passphrase")).status).toBe(303)
    expect((await browser.open("/sign-in")).text).not.toContain("Sign out")
  })

  slow("a code is accepted once, and earlier codes are refused afterwards", async () => {
    const { name, secret } = await memberWithFactor()
    const [now, before] = [codeOf(secret), codeOf(secret, -1)]
    const browsers = await Promise.all([1, 2, 3].map(() => firstStep(name)))
    const sent = await Promise.all(browsers.map((browser) => browser.send(STEP, { code: now })))
    expect(sent.map(({ status }) => status).toSorted()).toEqual([303, 403, 403])
    expect((await (await firstStep(name)).send(STEP, { code: before })).status).toBe(403)
  })

  slow("a recovery code replaces the authenticator's code for one sign-in", async () => {
    const member = await memberWithFactor()
    const [code = ""] = member.recovery
    const browsers = await Promise.all([1, 2].map(() => firstStep(member.name)))
    const sent = await Promise.all(browsers.map((browser) => browser.send(STEP, { code: code.toLowerCase() })))
    expect(sent.map(({ status }) => status).toSorted()).toEqual([303, 403])
    expect((await member.browser.open(PROFILE)).text).toContain("9 recovery codes left")
  })

  slow("codes of another person are refused", async () => {
    const [ada, bo] = [await memberWithFactor(), await memberWithFactor()]
    const browser = await firstStep(ada.name)
    for (const code of [codeOf(bo.secret), bo.recovery[0]!])
      expect((await browser.send(STEP, { code })).status).toBe(403)
    expect(await isSignedIn(browser)).toBe(false)
  })

  slow("wrong codes are rate-limited per address and for all addresses together", async () => {
    const { name, secret } = await memberWithFactor()
    const browser = await firstStep(name)
    const guesses = []
    for (let n = 0; n < 6; n++) guesses.push((await browser.send(STEP, { code: codeOf(secret, 100 + n) })).status)
    expect(guesses).toEqual([403, 403, 403, 403, 403, 429])
    expect((await browser.send(STEP, { code: codeOf(secret) })).status).toBe(429)

    const token = browser.cookies.get("appmeter-second-step") ?? ""
    const guess = async (code: string) => {
      const other = newBrowser()
      other.cookies.set("appmeter-second-step", token)
      return await other.send(STEP, { code })
    }
    let last = await guess("000000")
    for (let n = 0; n < 20 && last.status === 403; n++) last = await guess(codeOf(secret, 200 + n))
    expect([last.status, Number(last.headers.get("retry-after")) >= 1]).toEqual([429, true])
    expect((await guess(codeOf(secret))).status).toBe(429)
  })

  slow("the second step of a sign-in needs its cookie, expires, and can be used only once", async () => {
    const { name, secret } = await memberWithFactor()
    const browser = await firstStep(name)
    const cookies = new Map(browser.cookies)
    expect((await newBrowser().send(STEP, { code: codeOf(secret) })).text).toContain("Sign in again")
    await browser.send(STEP, { code: codeOf(secret) })
    await forgetSteps()
    const replayed = newBrowser()
    for (const [cookie, value] of cookies) replayed.cookies.set(cookie, value)
    expect((await replayed.send(STEP, { code: codeOf(secret) })).status).toBe(403)
    const lateBrowser = await firstStep(name)
    await sql`update pending_sign_in set expires_at = now()`
    expect((await lateBrowser.send(STEP, { code: codeOf(secret) })).status).toBe(403)
  })

  slow("the session gets a new token after the second step, and a planted cookie is not adopted", async () => {
    const { name, secret } = await memberWithFactor()
    const browser = newBrowser()
    browser.cookies.set("appmeter", "A".repeat(43))
    await firstStep(name, browser)
    const planted = new Map(browser.cookies)
    await browser.send(STEP, { code: codeOf(secret) })
    const attacker = newBrowser()
    for (const [cookie, value] of planted) attacker.cookies.set(cookie, value)
    attacker.cookies.set("appmeter", planted.get("appmeter-second-step") ?? "")
    expect([await isSignedIn(browser), await isSignedIn(attacker)]).toEqual([true, false])
    expect([...planted.values()]).not.toContain(browser.cookies.get("appmeter"))
  })

  slow("a code that a form of another site sends is refused", async () => {
    const { name, secret } = await memberWithFactor()
    const browser = await firstStep(name)
    const sent = await browser.send(STEP, { code: codeOf(secret) }, { "sec-fetch-site": "cross-site" })
    expect([sent.status, await isSignedIn(browser)]).toEqual([400, false])
  })

  slow("a new passphrase ends unfinished sign-ins, and so does the removal of the person", async () => {
    const { name, secret, personId } = await memberWithFactor()
    const first = await firstStep(name)
    await setPassphrase(sql, personId, PASSPHRASE)
    expect((await first.send(STEP, { code: codeOf(secret) })).status).toBe(403)
    const second = await firstStep(name)
    await sql.begin((tx) => removeMember(tx, workspaceId, personId))
    expect((await second.send(STEP, { code: codeOf(secret) })).status).toBe(403)
    expect([...(await sql`select * from second_factor where person_id = ${personId}`)]).toEqual([])
  })

  test("without the server's secret key, only recovery codes are accepted", async () => {
    const { name, secret, recovery } = await memberWithFactor()
    const keyless = openService({ sql })
    const browser = browserOf(keyless, { from: anotherAddress() })
    await firstStep(name, browser)
    const refused = await browser.send(STEP, { code: codeOf(secret) })
    expect([refused.status, refused.text.includes("Use a recovery code")]).toEqual([403, true])
    await browser.send(STEP, { code: recovery[0]! })
    expect(await isSignedIn(browser)).toBe(true)
  })
})

describe("asking for the passphrase again", () => {
  slow("a sensitive change asks for the passphrase and the code", async () => {
    const { browser, personId, secret } = await memberWithFactor()
    await sql`update person_session set proved_at = now() - interval '11 minutes' where person_id = ${personId}`
    const keys = settingsBrowser(browser, "/app/settings/keys")
    const name = { name: "Sensitive", kind: "live", scopes: "apps:read" }
    const question = await keys.send("create", name)
    expect([question.status, question.text.includes("Code of your authenticator app")]).toEqual([403, true])
    expect((await keys.send("create", { ...name, proof: PASSPHRASE })).text).toContain("The code is not right")
    const wrong = { ...name, proof: PASSPHRASE, proofCode: codeOf(secret, 9) }
    expect((await keys.send("create", wrong)).status).toBe(403)
    expect((await keys.send("create", { ...name, proof: "x", proofCode: codeOf(secret) })).status).toBe(403)
    expect((await keys.send("create", { ...name, proof: PASSPHRASE, proofCode: codeOf(secret) })).status).toBe(200)
    expect(fieldIn(question, "name")).toBe("Sensitive")
  })

  test("after the second factor is removed on the server, the passphrase alone is enough", async () => {
    const member = await memberWithFactor()
    expect(await removeSecondFactor(sql, member.personId)).toBe(true)
    expect((await newBrowser().send("/sign-in", signInOf(member))).headers.get("location")).toBe("/app")
  })
})
