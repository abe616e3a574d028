import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { createPrivateKey, generateKeyPairSync } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { openAds } from "../../../src/consoles/ads/client.ts"
import { queryAll } from "../../../src/consoles/ads/pages.ts"
import type { AdsProblem } from "../../../src/consoles/ads/problem.ts"
import { findAccount, rotateKey, testAccount } from "../../../src/consoles/register.ts"
import { campaignsQuery } from "../../../src/consoles/sources/ads/requests.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { ACCOUNT_HOSTS } from "../../../src/lib/upstreams.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { reachOf, TEA } from "../scene.ts"
import { AD_ACCOUNT, type AdsScene, adsScene, campaign } from "./scene.ts"
import { refusal } from "./stand-in.ts"

let sql: Sql
let scene: AdsScene
beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  scene = await adsScene(sql)
})
afterEach(() => scene.standIn.stop())

const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: Error) => `${error.name}: ${error.message}`,
  )

test("adding a key with one ad account stores its rights, time zone, currency and app", async () => {
  const account = await scene.add()
  expect(account).toMatchObject({ kind: "apple-ads", state: "ok", part: String(AD_ACCOUNT.id) })
  expect(account.rights.map(({ name, state }) => [name, state])).toEqual([
    ["campaigns", "ok"],
    ["changes", "ok"],
    ["popularity", "ok"],
    ["reports", "ok"],
    ["writes", "ok"],
  ])
  expect(account.apps).toMatchObject([{ outsideId: TEA.id, appId: scene.appId }])
  const [row] = await sql`select zone, currency, sealed from connected_account where id = ${account.id}`
  expect(row).toMatchObject({ zone: "Europe/Berlin", currency: "EUR" })
  expect(row!.sealed).not.toContain("SEARCHADS")
})

test("adding a key with several ad accounts lists them, and stores nothing unless one is selected", async () => {
  scene.standIn.accounts.push({ ...AD_ACCOUNT, id: 2, name: "Coffee" })
  const error = await scene.add().catch((problem) => problem)
  expect(error).toMatchObject({
    name: "SeveralParts",
    parts: [
      { id: String(AD_ACCOUNT.id), name: "Tea Service" },
      { id: "2", name: "Coffee" },
    ],
  })
  expect((await scene.add({ part: "2" })).part).toBe("2")
})

test("a read-only role is denied writes, and the reason names the roles that may write", async () => {
  scene.standIn.accounts[0]!.roles = ["LIMITED_ACCESS_API_READ_ONLY"]
  const { rights, state } = await scene.add()
  expect(state).toBe("ok")
  expect(rights.find(({ name }) => name === "writes")).toEqual({
    name: "writes",
    state: "denied",
    why: "needs the role API Account Manager, or Limited Access: API Read & Write",
  })
})

test("an ad account that the key cannot open is limited, and is ok once the key is invited to it", async () => {
  scene.standIn.accounts.push({ ...AD_ACCOUNT, id: 3, name: "Away" })
  const account = await scene.add({ part: "3" })
  scene.standIn.accounts.pop()
  for (let times = 0; times < 2; times++) {
    const tested = await testAccount(scene.register, scene.workspaceId, account.id)
    expect(tested).toMatchObject({ state: "limited", why: expect.stringContaining("invited to the ad account 3") })
  }
  scene.standIn.accounts.push({ ...AD_ACCOUNT, id: 3, name: "Away" })
  await testAccount(scene.register, scene.workspaceId, account.id)
  const alerts = await sql`select kind, ended_at is not null as over from instance_alert where subject = ${account.id}`
  expect([...alerts]).toEqual([{ kind: "account_limited", over: true }])
})

test("a key that Apple rejects is unauthorized, and invalid ids are refused before any request", async () => {
  const key = scene.standIn.key()
  scene.standIn.revoke(key.keyId)
  expect(await problemOf(scene.add({ key }))).toStartWith("AdsProblem: Apple refuses the key")
  expect(scene.standIn.requests).toEqual([])
  const good = scene.standIn.key()
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export({ type: "pkcs8", format: "pem" })
  for (const invalid of [{ clientId: "me" }, { teamId: "SEARCHADS.1" }, { keyId: "../x" }, { pem: p384 as string }])
    expect(await problemOf(scene.add({ key: { ...good, ...invalid } }))).toStartWith("AccessProblem: ")
  expect(await problemOf(scene.add({ key: good, part: "1;2" }))).toStartWith("AccessProblem: an ad account is a number")
  expect(scene.standIn.tokensIssued).toBe(0)
})

test("a key can be rotated to a new key in OpenSSL's SEC1 format", async () => {
  const { id } = await scene.add()
  const { keyId, clientId, teamId, pem } = scene.standIn.key()
  const sec1 = createPrivateKey(pem).export({ type: "sec1", format: "pem" }) as string
  expect(sec1).toStartWith("-----BEGIN EC PRIVATE KEY-----")
  const fresh = { keyId, clientId, teamId, privateKey: sec1 }
  const rotated = await rotateKey(scene.register, scene.workspaceId, id, fresh)
  expect(rotated).toMatchObject({ state: "ok", shown: `key …${keyId.slice(-4)}` })
})

function raise(): never {
  throw new Error("it was not refused")
}

describe("the Apple Ads client", () => {
  const open = async (adAccount: string | null = String(AD_ACCOUNT.id)) => {
    const { pem: privateKey, ...ids } = scene.standIn.key()
    return await openAds({ ...ids, privateKey }, adAccount, reachOf(scene.standIn.url))
  }

  test("an access token is reused, and renewed once if rejected; a campaign request needs an ad account", async () => {
    const ads = await open()
    for (const path of ["/v1/me", "/v1/acls"]) await ads.get(path)
    await ads.get(`/v1/campaigns/${campaign().id}`)
    expect(scene.standIn.tokensIssued).toBe(1)
    scene.standIn.forgetTokens()
    await ads.get("/v1/me")
    expect(scene.standIn.tokensIssued).toBe(2)
    scene.standIn.before = () => refusal(401, "UNAUTHORIZED", "no")
    expect(await problemOf(ads.get("/v1/me"))).toStartWith("AdsProblem: Apple Ads refuses the access token")
    expect(scene.standIn.requests.slice(-2)).toEqual(["GET /v1/me", "GET /v1/me"])
    const bare = await open(null)
    scene.standIn.before = () => null
    expect(await problemOf(bare.get("/v1/campaigns/1"))).toMatch(/needs an ad account/)
  })

  test("all pages of a list are read, and an unreadable list is an error", async () => {
    scene.standIn.campaigns = Array.from({ length: 2_500 }, (_, i) => campaign({ id: i + 1 }))
    scene.standIn.campaigns.push(campaign({ id: 9, promotedObjectType: "BUSINESS_BRAND" }))
    const ads = await open()
    const { rows, left, resetMs } = await queryAll(ads, campaignsQuery())
    expect([rows.length, left, resetMs]).toEqual([2_500, 597, 60_000])
    scene.standIn.before = () => Response.json({ result: { rows: "many" } })
    expect(await problemOf(queryAll(ads, campaignsQuery()))).toMatch(/cannot be read/)
  })

  test("an error has the reason, the waiting time of a rate limit, and whether the change was sent", async () => {
    const ads = await open()
    const problemFrom = (work: Promise<unknown>): Promise<AdsProblem> => work.then(raise, (error) => error)
    const error = { errors: [{ code: "VALIDATION_ERROR", message: "Na\u0000me\u202e taken" }] }
    scene.standIn.before = () => Response.json({ result: null, error }, { status: 200 })
    expect(await problemFrom(ads.send("POST", "/v1/keywords", {}))).toMatchObject({
      trouble: "refused",
      status: 200,
      isSent: true,
      refusals: [{ code: "VALIDATION_ERROR", message: "Na me  taken", field: null }],
    })
    scene.standIn.before = () => refusal(400, "INVALID_VALUE", "too high", "bid")
    expect((await problemFrom(ads.send("PUT", "/v1/keywords/1", {}))).refusals).toEqual([
      { code: "INVALID_VALUE", message: "too high", field: "bid" },
    ])
    scene.standIn.before = () => null
    scene.standIn.remaining = 0
    expect(await problemFrom(ads.get("/v1/me"))).toMatchObject({ trouble: "limited", retryAfterMs: 60_000 })
    scene.standIn.before = () => new Response("<html>", { status: 502 })
    expect(await problemFrom(ads.get("/v1/me"))).toMatchObject({ trouble: "unavailable", status: 502 })
    scene.standIn.before = () => new Response("<html>")
    expect(await problemFrom(ads.send("PUT", "/v1/keywords/1", {}))).toMatchObject({
      trouble: "unavailable",
      isSent: true,
    })
    await scene.standIn.stop()
    expect(await problemFrom(ads.send("PUT", "/v1/keywords/1", {}))).toMatchObject({
      trouble: "unavailable",
      isSent: false,
    })
  })

  test("a change is sent once and is not repeated if its token is rejected", async () => {
    const ads = await open()
    await ads.get("/v1/me")
    scene.standIn.forgetTokens()
    expect(await problemOf(ads.send("PUT", "/v1/campaigns/444555666", { status: "PAUSED" }))).toMatch(
      /refuses the access token/,
    )
    expect(scene.standIn.sent).toHaveLength(1)
    await ads.get("/v1/me")
    await ads.send("PUT", "/v1/campaigns/444555666", { status: "PAUSED" })
    expect([scene.standIn.sent.length, scene.standIn.campaigns[0]!.status]).toEqual([2, "PAUSED"])
    expect(scene.standIn.changes).toMatchObject([{ userType: "CUSTOMER_API", changes: [{ newValues: ["PAUSED"] }] }])
  })
})

slow("a worker rechecks stale rights, and revokes an account after ten minutes of rejected keys", async () => {
  const { id } = await scene.add()
  const readOnce = () => {
    const parts = { sql, sealer, log: silentLog, reach: scene.register.reach, gapMs: 0 }
    return createAccountReading({ recording, ...parts }).runOnce()
  }
  await sql`update connected_account set next_at = case when id = ${id} then now() end, checked_at = null`
  expect(await readOnce()).toBe(1)
  scene.standIn.before = () => refusal(401, "UNAUTHORIZED", "no")
  await sql`
    update connected_account set next_at = now(), checked_at = null, refused_since = now() - interval '11 minutes'
    where id = ${id}`
  await readOnce()
  expect((await findAccount(sql, scene.workspaceId, id)).state).toBe("revoked")
})

test("Apple Ads requests go only to the host of API v1, and no source file mentions the host of v5", () => {
  const hosts: readonly string[] = ACCOUNT_HOSTS
  expect(hosts.filter((host) => /ads/.test(host))).toEqual(["api.ads.apple.com"])
  const sources = [...new Bun.Glob("**/*.ts").scanSync(join(import.meta.dirname, "../../../src"))]
  expect(sources.length).toBeGreaterThan(500)
  const text = sources.map((file) => readFileSync(join(import.meta.dirname, "../../../src", file), "utf8")).join("")
  expect(text).toContain("api.ads.apple.com")
  expect(text).not.toMatch(/api\.searchads|\/api\/v5/)
})
