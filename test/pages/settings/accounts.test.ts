import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type AccountRow, listAccounts } from "../../../src/consoles/register.ts"
import { type Browser, fieldIn } from "../../access/sign-in/browser.ts"
import { SECRET_KEY } from "../../alerts/delivery/scene.ts"
import { AD_ACCOUNT } from "../../consoles/ads/scene.ts"
import { adsStandIn } from "../../consoles/ads/stand-in.ts"
import { playStandIn } from "../../consoles/play/stand-in.ts"
import { reachOf, TEA } from "../../consoles/scene.ts"
import { type StandIn, startStandIn } from "../../consoles/stand-in.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { ownerOf } from "../app-scene.ts"
import { NO_PORTS } from "./ports.ts"
import { settingsBrowser } from "./settings-browser.ts"

setDefaultTimeout(60_000)

const ACCOUNTS = "/app/settings/accounts"
const ADD = `${ACCOUNTS}?add=app-store-connect`

let service: Service
let standIn: StandIn
let owner: Browser
let workspaceId: number
let settings: ReturnType<typeof settingsBrowser>
const forgotten: string[] = []

beforeAll(async () => {
  standIn = startStandIn()
  standIn.apps.push(TEA)
  const settingsPorts = {
    ...NO_PORTS,
    reach: reachOf(standIn.url),
    forgetBodies: async (id: string) => void forgotten.push(id),
  }
  service = openService({ sql: await freshDatabase(), settingsPorts })
  workspaceId = await service.workspace()
  await trackOwn(service.sql, {
    workspaceId,
    name: TEA.name,
    iosId: TEA.id,
    countries: ["us"],
    keywords: ["tea"],
    origin: "own",
  })
  owner = await ownerOf(service, workspaceId)
  settings = settingsBrowser(owner, ACCOUNTS)
})
afterAll(() => standIn.stop())

const accounts = async (): Promise<AccountRow[]> => await listAccounts(service.sql, workspaceId)
const keyFields = () => {
  const { keyId, pem } = standIn.key("ADMIN")
  return {
    kind: "app-store-connect",
    issuer: standIn.issuer,
    keyId,
    privateKey: pem,
    part: standIn.vendor,
  }
}

describe("connected accounts in the settings", () => {
  test("every type of account has a form", async () => {
    const { text } = await owner.open(ACCOUNTS)
    const kinds = [...text.matchAll(/accounts\?add=([a-z-]+)"/g)].map(([, kind]) => kind as string)
    expect(kinds.length).toBeGreaterThan(6)
    for (const kind of kinds) expect((await owner.open(`${ACCOUNTS}?add=${kind}`)).text).toContain('value="add"')
  })

  test("a refused key is not stored, and the form is shown again with every value but the key", async () => {
    const fields = keyFields()
    const page = await settings.send("add", { ...fields, issuer: "not <a> uuid" }, ADD)
    expect([page.status, page.text.includes('id="add-issuer-error"')]).toEqual([400, true])
    expect(page.text).toContain('value="not &lt;a&gt; uuid"')
    expect(page.text).toContain(`value="${fields.keyId}"`)
    expect(page.text).not.toContain("PRIVATE KEY")
    const broken = await settings.send("add", { ...fields, privateKey: "no key" }, ADD)
    expect(broken.text).toContain('id="add-privateKey-error"')
    const missing = await settings.send("add", { ...fields, privateKey: "", part: "" }, ADD)
    expect(missing.text).toContain('id="add-privateKey-error"')
    standIn.revoke(fields.keyId)
    expect((await settings.send("add", fields, ADD)).text).toContain("The console refuses the key")
    expect(await accounts()).toEqual([])
  })

  test("an account is added with a key file, and its rights are listed without showing the key", async () => {
    const { privateKey, ...fields } = keyFields()
    const form = new FormData()
    const token = fieldIn(await owner.open(ADD), "form") as string
    for (const [name, value] of Object.entries({ form: token, do: "add", privateKey: "", ...fields }))
      form.set(name, value)
    form.set("privateKeyFile", new File([privateKey], "AuthKey.p8"))
    const request = new Request("http://x/", { method: "POST", body: form })
    // reading the body removes the header
    const contentType = request.headers.get("content-type") as string
    const page = await owner.sendBody(ADD, await request.text(), contentType)
    expect([page.status, page.headers.get("location")]).toEqual([303, `${ACCOUNTS}?done=added`])
    const [account] = await accounts()
    expect(account).toMatchObject({ state: "ok", part: standIn.vendor })
    const { text } = await owner.open(ACCOUNTS)
    for (const right of ["Sales", "Analytics", "Reviews", "Prices"])
      expect(text).toContain(`<th scope="row">${right}</th>`)
    expect(text).toContain(TEA.name)
    for (const hidden of ["PRIVATE KEY", standIn.issuer, SECRET_KEY]) expect(text).not.toContain(hidden)
  })

  test("analytics reports are requested by the account's key, or by an Admin key that is not stored", async () => {
    const [{ id } = { id: "" }] = await accounts()
    const at = `${ACCOUNTS}?account=${id}&change=analytics`
    const weak = standIn.key("SALES")
    const refused = await settings.send("analytics", { id, app: TEA.id, keyId: weak.keyId, privateKey: weak.pem }, at)
    expect([refused.status, refused.text.includes(`id="analytics-${id}-keyId-error"`)]).toEqual([400, true])
    expect([refused.text.includes("PRIVATE KEY"), standIn.analytics.posted]).toEqual([false, []])
    const requested = await settings.send("analytics", { id, app: TEA.id, keyId: "", privateKey: "" }, at)
    expect([requested.headers.get("location"), standIn.analytics.posted]).toEqual([
      `${ACCOUNTS}?done=requested`,
      [TEA.id],
    ])
    const repeated = await settings.send("analytics", { id, app: TEA.id }, at)
    expect(repeated.headers.get("location")).toBe(`${ACCOUNTS}?done=running`)
  })

  test("testing an account shows a missing right, and a key with the right removes the warning", async () => {
    const [{ id } = { id: "" }] = await accounts()
    const weak = standIn.key("MARKETING")
    const change = `${ACCOUNTS}?account=${id}&change=rotate`
    await settings.send("rotate", { id, keyId: weak.keyId, privateKey: weak.pem }, change)
    expect((await accounts())[0]).toMatchObject({ state: "limited" })
    expect((await settings.send("test", { id })).headers.get("location")).toBe(`${ACCOUNTS}?done=tested`)
    expect((await owner.open(ACCOUNTS)).text).toContain("needs the role Sales")
    const strong = standIn.key("ADMIN")
    await settings.send("rotate", { id, keyId: strong.keyId, privateKey: strong.pem }, change)
    expect((await accounts())[0]).toMatchObject({ state: "ok", shown: `key …${strong.keyId.slice(-4)}` })
  })

  test("an account's writes are off until the owner allows them with a daily limit", async () => {
    const [{ id } = { id: "" }] = await accounts()
    const change = `${ACCOUNTS}?account=${id}&change=writes`
    const wrong = await settings.send("writes", { id, writes: "on", writesADay: "many" }, change)
    expect([wrong.status, (await accounts())[0]?.writes]).toEqual([400, false])
    await settings.send("writes", { id, writes: "on", writesADay: "5" }, change)
    expect((await accounts())[0]).toMatchObject({ writes: true, writeLimits: { writesADay: 5 } })
    await settings.send("writes", { id, writesADay: "5" }, change)
    expect((await accounts())[0]?.writes).toBe(false)
  })

  test("reading an account can be paused and resumed, and disconnecting asks for confirmation", async () => {
    const [{ id } = { id: "" }] = await accounts()
    await settings.send("pause", { id })
    expect((await accounts())[0]?.state).toBe("paused")
    await settings.send("resume", { id })
    expect((await accounts())[0]?.state).toBe("connecting")
    expect((await settings.send("remove", { id })).text).toContain("Disconnect App Store Connect?")
    await settings.send("removed", { id })
    expect([(await accounts())[0]?.state, forgotten]).toEqual(["removed", []])
    await settings.send("removed", { id, forget: "on" })
    expect([await accounts(), forgotten]).toEqual([[], [id]])
  })

  test("a key pair for Apple Ads is created on the page, and its private key is never shown", async () => {
    const ads = adsStandIn()
    ads.accounts.push({ ...AD_ACCOUNT })
    const settingsPorts = { ...NO_PORTS, reach: reachOf(ads.url) }
    const adsService = openService({ sql: service.sql, settingsPorts })
    const adsWorkspace = await adsService.workspace()
    const adsOwner = settingsBrowser(await ownerOf(adsService, adsWorkspace), ACCOUNTS)
    const at = `${ACCOUNTS}?add=apple-ads`
    const generated = await adsOwner.send("keygen", { kind: "apple-ads" }, at)
    const [, publicKey = ""] = /<textarea[^>]*>\n([^<]+)<\/textarea>/.exec(generated.text) ?? []
    expect([publicKey.startsWith("-----BEGIN PUBLIC KEY-----"), generated.text.includes("PRIVATE")]).toEqual([
      true,
      false,
    ])
    const fields = { kind: "apple-ads", publicKey, sealedKey: fieldIn(generated, "sealedKey") as string, part: "" }
    const ids = ads.register(publicKey)
    const wrong = await adsOwner.send("add", { ...fields, ...ids, clientId: "nobody" }, at)
    expect([wrong.status, fieldIn(wrong, "sealedKey")]).toEqual([400, fields.sealedKey])
    expect((await settings.send("add", { ...fields, ...ids }, at)).status).toBe(400)
    const done = await adsOwner.send("add", { ...fields, ...ids }, at)
    expect(done.headers.get("location")).toBe(`${ACCOUNTS}?done=added`)
    const [account] = await listAccounts(service.sql, adsWorkspace)
    expect(account).toMatchObject({ state: "ok", part: String(AD_ACCOUNT.id) })
    const change = `${ACCOUNTS}?account=${account?.id}&change=rotate`
    const next = await adsOwner.send("keygen", { id: account!.id, kind: "apple-ads" }, change)
    const [, nextKey = ""] = /<textarea[^>]*>\n([^<]+)<\/textarea>/.exec(next.text) ?? []
    const { keyId } = ads.register(nextKey)
    const sealedKey = fieldIn(next, "sealedKey") as string
    const rotated = await adsOwner.send("rotate", { id: account!.id, sealedKey, publicKey: nextKey, keyId }, change)
    // the console knows the new key under other ids
    expect([rotated.status, fieldIn(rotated, "sealedKey")]).toEqual([400, sealedKey])
    ads.stop()
  })

  slow("Google Play Console is added with a pasted key and the address of its bucket", async () => {
    const play = playStandIn()
    play.put("stats/installs/installs_com.example.tea_202610_overview.csv", "")
    const settingsPorts = { ...NO_PORTS, reach: reachOf(play.url) }
    const playService = openService({ sql: service.sql, settingsPorts })
    const playWorkspace = await playService.workspace()
    const playOwner = settingsBrowser(await ownerOf(playService, playWorkspace), ACCOUNTS)
    const at = `${ACCOUNTS}?add=google-play-console`
    const { json, email } = play.key()
    const fields = { kind: "google-play-console", serviceAccount: json, part: `gs://${play.bucket}/stats/` }
    const client = await playOwner.send("add", { ...fields, serviceAccount: '{"web": {}}' }, at)
    expect([client.status, client.text.includes('id="add-serviceAccount-error"')]).toEqual([400, true])
    expect(client.text).toContain("OAuth client, which acts for a person")
    const otherBucket = await playOwner.send("add", { ...fields, part: "gs://my-bucket" }, at)
    expect([otherBucket.status, otherBucket.text.includes('id="add-part-error"')]).toEqual([400, true])
    expect(otherBucket.text).not.toContain("PRIVATE KEY")
    expect((await playOwner.send("add", fields, at)).headers.get("location")).toBe(`${ACCOUNTS}?done=added`)
    const [account] = await listAccounts(service.sql, playWorkspace)
    expect(account).toMatchObject({ state: "ok", part: play.bucket, shown: expect.stringContaining(email) })
    play.stop()
  })

  test("adding a service that sends webhooks shows the address to enter in that service", async () => {
    await settings.send(
      "add",
      { kind: "superwall", secret: "whsec_0123456789abcdef", part: TEA.id },
      `${ACCOUNTS}?add=superwall`,
    )
    const [{ id } = { id: "" }] = await accounts()
    const { text } = await owner.open(ACCOUNTS)
    expect([text.includes(`/in/${id}`), text.includes("whsec_0123")]).toEqual([true, false])
  })
})

describe("attacks on connected accounts", () => {
  test("a key encrypted for another form is refused", async () => {
    const page = await settings.send(
      "add",
      { kind: "apple-ads", sealedKey: "v1.a.b.c", part: "1" },
      `${ACCOUNTS}?add=apple-ads`,
    )
    expect(page.status).toBe(400)
  })
})
