import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { openPlay } from "../../../src/consoles/play/client.ts"
import { serviceAccountIn } from "../../../src/consoles/play/service-account.ts"
import { findAccount, rotateKey, testAccount } from "../../../src/consoles/register.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { GOOGLE_STORAGE_HOST, PLAY_PUBLISHER_HOST } from "../../../src/lib/upstreams.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { trackOwn } from "../../world/tracked.ts"
import { reachOf } from "../scene.ts"
import { type PlayScene, playScene, TEA_PACKAGE } from "./scene.ts"
import { googleRefusal } from "./stand-in.ts"

let sql: Sql
let scene: PlayScene
beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  scene = await playScene(sql)
})
afterEach(() => scene.standIn.stop())

const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: Error) => `${error.name}: ${error.message}`,
  )

test("adding a service account stores its rights and the apps of the bucket, and shows no secret", async () => {
  const { standIn } = scene
  standIn.put(`stats/installs/installs_com.example.coffee_pot_202601_overview.csv`, "")
  standIn.put(`stats/installs/installs_not a package_202601_overview.csv`, "")
  standIn.put("sales/salesreport_202610.zip", "")
  const key = standIn.key()
  const account = await scene.add({ key, part: `gs://${standIn.bucket}/stats/installs/` })
  expect(account).toMatchObject({ kind: "google-play-console", state: "ok", part: standIn.bucket })
  expect(account.shown).toBe(`key …c0de of ${key.email}`)
  expect(account.rights.map(({ name, state }) => [name, state])).toEqual([
    ["financial", "ok"],
    ["replies", "unknown"],
    ["reviews", "ok"],
    ["statistics", "ok"],
  ])
  expect(account.apps).toMatchObject([
    { outsideId: "com.example.coffee_pot", appId: null },
    { outsideId: TEA_PACKAGE, appId: scene.appId },
  ])
  const [row] = await sql`select sealed from connected_account where id = ${account.id}`
  expect(row!.sealed).not.toContain("PRIVATE KEY")
  expect(standIn.requests.every((path) => path.startsWith("GET "))).toBe(true)
})

test("a missing right does not affect other rights, and the reason names the missing permission", async () => {
  const { standIn } = scene
  standIn.put("sales/salesreport_202610.zip", "")
  standIn.may = { statistics: true, financial: false, reviews: false, replies: false }
  const { id, rights, state } = await scene.add()
  expect(state).toBe("ok")
  const whyOf = (name: string) => rights.find((right) => right.name === name)
  expect(whyOf("financial")).toMatchObject({ state: "denied", why: expect.stringContaining("view financial data") })
  expect(whyOf("reviews")).toMatchObject({ state: "denied", why: expect.stringContaining("reply to reviews") })
  standIn.may.statistics = false
  const limited = await testAccount(scene.register, scene.workspaceId, id)
  expect(limited).toMatchObject({ state: "limited", why: expect.stringContaining("download bulk reports") })
  standIn.may = { statistics: true, financial: true, reviews: true, replies: true }
  standIn.isApiDisabled = true
  const disabled = await testAccount(scene.register, scene.workspaceId, id)
  expect(disabled.rights.find(({ name }) => name === "reviews")?.why).toContain("Android Developer API to be enabled")
  expect(disabled.state).toBe("ok")
})

test("an account with an unknown bucket is limited; the reason says where to find the bucket's name", async () => {
  const { state, why } = await scene.add({ part: "pubsite_prod_12345" })
  expect(state).toBe("limited")
  expect(why).toContain("there is no bucket pubsite_prod_12345; Play Console shows its name")
})

describe("a file that is not the key of a service account is refused before any request", () => {
  const good = () => JSON.parse(scene.standIn.key().json)
  const pem = () => good().private_key as string
  const CASES: [string, () => string, RegExp][] = [
    ["an OAuth client", () => JSON.stringify({ installed: { client_id: "x" } }), /an OAuth client, which acts for/],
    ["a person's credentials", () => JSON.stringify({ type: "authorized_user" }), /credentials of a person, as gcloud/],
    [
      "a file of workload identity federation",
      () => JSON.stringify({ type: "external_account" }),
      /workload identity federation/,
    ],
    ["an API key", () => "AIzaSyA-0123456789", /an API key, which gives access to no account/],
    ["the private key alone", pem, /the private key alone, without the rest/],
    ["a key file that is cut off", () => scene.standIn.key().json.slice(0, 900), /this JSON is cut off or damaged/],
    ["a P12 file", () => "\u0030\u0082\u0009", /the P12 format is not supported/],
    [
      "a private key without its end",
      () => JSON.stringify({ ...good(), private_key: pem().slice(0, 700) }),
      /cut off, because/,
    ],
    [
      "a private key with a missing line",
      () => JSON.stringify({ ...good(), private_key: pem().replace(/\n.{64}\n/, "\n") }),
      /its private_key is damaged/,
    ],
    [
      "an address that is not of a service account",
      () => JSON.stringify({ ...good(), client_email: "me@example.com" }),
      /not the address of a serv/,
    ],
  ]
  for (const [name, file, message] of CASES)
    test(name, async () => {
      const problem = await problemOf(scene.add({ key: { ...scene.standIn.key(), json: file() } }))
      expect(problem).toStartWith("AccessProblem: ")
      expect(problem).toMatch(message)
      expect(problem).toContain("Use the JSON key of a service account: Google Cloud")
      expect(problem).not.toMatch(/[A-Za-z0-9+/=]{40}/)
      expect(scene.standIn.tokensIssued).toBe(0)
    })

  slow("a bucket whose name has another format is refused before any request", async () => {
    for (const part of ["my-bucket", "gs://my-bucket/x", "pubsite_prod_rev_", `${scene.standIn.bucket}/../other`, ""])
      expect(await problemOf(scene.add({ part }))).toStartWith(
        "AccessProblem: a bucket is pubsite_prod_rev_ and a number",
      )
    expect(scene.standIn.tokensIssued).toBe(0)
  })
})

test("the URLs in a service account's key file are ignored", async () => {
  const { json } = scene.standIn.key()
  expect(json).toContain('"token_uri": "https://attacker.example/token"')
  expect(Object.keys(serviceAccountIn(json)).sort()).toEqual(["email", "keyId", "privateKey"])
  const hosts: string[] = []
  const reach = reachOf(scene.standIn.url)
  const to: typeof reach.to = (host) => {
    hosts.push(host)
    return reach.to(host)
  }
  const play = await openPlay({ serviceAccount: json }, { ...reach, to })
  await play.document(GOOGLE_STORAGE_HOST, `/storage/v1/b/${scene.standIn.bucket}/o`)
  expect(hosts).toEqual(["oauth2.googleapis.com", "storage.googleapis.com"])
})

describe("the client of Google Play", () => {
  const LIST = () => `/storage/v1/b/${scene.standIn.bucket}/o`
  const REVIEWS = `/androidpublisher/v3/applications/${TEA_PACKAGE}/reviews`
  const open = async (key = scene.standIn.key()) =>
    await openPlay({ serviceAccount: key.json }, reachOf(scene.standIn.url))

  test("a token is reused, and a rejected token is renewed once", async () => {
    const play = await open()
    await play.document(GOOGLE_STORAGE_HOST, LIST())
    await play.document(PLAY_PUBLISHER_HOST, REVIEWS)
    expect(scene.standIn.tokensIssued).toBe(1)
    scene.standIn.forgetTokens()
    await play.document(GOOGLE_STORAGE_HOST, LIST())
    expect(scene.standIn.tokensIssued).toBe(2)
    scene.standIn.before = (path) => (path === "/token" ? null : googleRefusal(401, "authError", "Invalid Credentials"))
    expect(await problemOf(play.get(GOOGLE_STORAGE_HOST, LIST()))).toBe(
      "ConsoleProblem: Google refuses the access token",
    )
    expect(scene.standIn.tokensIssued).toBe(3)
  })

  test("a deleted key, a disabled account, a deleted account and a wrong clock give different problems", async () => {
    const { standIn } = scene
    const key = standIn.key()
    const ask = async () => {
      const play = await open(key)
      return await play.get(GOOGLE_STORAGE_HOST, LIST()).catch((error) => error)
    }
    standIn.aheadS = 7_200
    expect(await ask()).toMatchObject({
      trouble: "unavailable",
      message: expect.stringMatching(/clock is 2 hours beh/),
    })
    standIn.aheadS = 0
    standIn.accounts.set(key.email, "disabled")
    expect(await ask()).toMatchObject({
      trouble: "unauthorized",
      message: expect.stringMatching(/disabled; enable it/),
    })
    standIn.accounts.set(key.email, "deleted")
    expect(await ask()).toMatchObject({
      trouble: "unauthorized",
      message: expect.stringMatching(/account was deleted/),
    })
    standIn.accounts.clear()
    standIn.revoke(key.keyId)
    expect(await ask()).toMatchObject({ trouble: "unauthorized", message: expect.stringMatching(/create a new key/) })
    standIn.before = () => new Response("{}", { status: 503 })
    expect(await ask()).toMatchObject({ trouble: "unavailable", message: "Google answers 503" })
  })

  test("used-up quotas, missing permissions and failures of Google give different problems", async () => {
    const play = await open()
    const CASES: [Response, object][] = [
      [
        new Response("", { status: 429, headers: { "retry-after": "30" } }),
        { trouble: "limited", retryAfterMs: 30_000 },
      ],
      [googleRefusal(403, "userRateLimitExceeded", "slow"), { trouble: "limited" }],
      [googleRefusal(403, "forbidden", "no"), { trouble: "forbidden" }],
      [googleRefusal(401, "permissionDenied", "no"), { trouble: "forbidden" }],
      [
        googleRefusal(400, "invalid", "Bad\u0007page"),
        { trouble: "refused", message: "Google answers 400 (Bad page)" },
      ],
      [new Response("<html>", { status: 502 }), { trouble: "unavailable", message: "Google answers 502" }],
    ]
    await play.get(GOOGLE_STORAGE_HOST, LIST())
    for (const [answer, problem] of CASES) {
      scene.standIn.before = (path) => (path === "/token" ? null : answer.clone())
      expect(await play.get(GOOGLE_STORAGE_HOST, LIST()).catch((error) => error)).toMatchObject(problem)
    }
  })

  test("a change is sent once, and its response is returned whatever its status", async () => {
    const sent: unknown[] = []
    scene.standIn.publisher = ({ method, pathname, body }) => {
      sent.push([method, pathname, body])
      return googleRefusal(400, "replyTooLong", "Reply is too long.")
    }
    const play = await open()
    const path = `${REVIEWS}/gp%3A1:reply`
    expect((await play.post(PLAY_PUBLISHER_HOST, path, { replyText: "Thanks" })).status).toBe(400)
    scene.standIn.forgetTokens()
    expect((await play.post(PLAY_PUBLISHER_HOST, path, { replyText: "Thanks" })).status).toBe(401)
    expect(sent).toEqual([["POST", path, { replyText: "Thanks" }]])
  })
})

test("an account whose key is refused for ten minutes is revoked, and a new key file restores it", async () => {
  const key = scene.standIn.key()
  const { id } = await scene.add({ key })
  scene.standIn.revoke(key.keyId)
  await sql`
    update connected_account
    set next_at = case when id = ${id} then now() end, checked_at = null, refused_since = now() - interval '11 minutes'`
  const parts = { sql, sealer, log: silentLog, reach: scene.register.reach, gapMs: 0 }
  await createAccountReading({ recording, ...parts }).runOnce()
  const revoked = await findAccount(sql, scene.workspaceId, id)
  expect(revoked).toMatchObject({ state: "revoked", why: expect.stringContaining("rotate it here") })
  const fresh = { serviceAccount: scene.standIn.key().json }
  expect((await rotateKey(scene.register, scene.workspaceId, id, fresh)).state).toBe("ok")
})

test("an app that is only in the App Store is not mapped to an Android package of the same name", async () => {
  const tracked = { name: "Both", iosId: "777000777", countries: ["us"], keywords: [], origin: "own" as const }
  await trackOwn(sql, { workspaceId: scene.workspaceId, ...tracked })
  await sql`update store_app set bundle_id = 'com.example.both' where store_id = ${tracked.iosId}`
  scene.standIn.put("stats/installs/installs_com.example.both_202610_overview.csv", "")
  const { apps } = await scene.add()
  expect(apps.find(({ outsideId }) => outsideId === "com.example.both")?.appId).toBeNull()
})
