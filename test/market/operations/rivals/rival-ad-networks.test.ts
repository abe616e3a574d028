import { afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../../src/database/types.ts"
import type { AppAdsObservation } from "../../../../src/listings/kinds/app-ads.ts"
import { freshDatabase } from "../../../database.ts"
import { slow } from "../../../long.ts"
import { page } from "../../../outbound/site.ts"
import { record } from "../../../record.ts"
import { answersLookUps, type Live, live } from "../../../world/stores.ts"

setDefaultTimeout(60_000)

const RIVAL = "1600000101"
const DAY_MS = 86_400_000
let sql: Sql
let scene: Live

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  scene = await live(sql, [`ios:${RIVAL}`, "android:com.example.rival"])
})

afterEach(() => scene[Symbol.asyncDispose]())

const path = (rivalId = RIVAL, query = "") => `/v1/apps/${scene.appId}/rivals/${rivalId}/adnetworks${query}`
const used = async () => (await scene.service.call("/v1/account", { key: scene.key })).body.credits.used

function look(agoMs: number, rest: Partial<AppAdsObservation>): AppAdsObservation {
  return {
    kind: "app_ads",
    source: "app-ads-txt",
    platform: "ios",
    id: RIVAL,
    domain: "maker.test",
    variables: {},
    seenAt: new Date(Date.now() - agoMs),
    parser: 1,
    origin: "own",
    sha256: new Uint8Array(32),
    state: "records",
    records: [],
    ...rest,
  } as AppAdsObservation
}

const row = (system: string, relation: "DIRECT" | "RESELLER", publisherId: string) => ({
  system,
  relation,
  publisherId,
})

describe("stored ad networks", () => {
  test("each ad system is listed once per relation, DIRECT first, with its accounts and known name", async () => {
    const records = [
      row("pubmatic.com", "RESELLER", "1"),
      row("google.com", "RESELLER", "pub-1"),
      row("google.com", "DIRECT", "pub-1"),
      row("ads.example.net", "DIRECT", "2"),
      row("pubmatic.com", "RESELLER", "2"),
      row("ads.example.net", "DIRECT", "3"),
    ]
    const newest = look(DAY_MS, { records })
    await record(sql, [look(3 * DAY_MS, { state: "no_file" }), newest])
    const { status, body, credits } = await scene.service.call(path(), { key: scene.key })
    expect([status, credits.used]).toEqual([200, 1])
    expect(body).toEqual({
      platform: "ios",
      id: RIVAL,
      name: RIVAL,
      state: "records",
      domain: "maker.test",
      direct: 2,
      reseller: 2,
      networks: [
        { system: "ads.example.net", name: null, relation: "DIRECT", accounts: 2 },
        { system: "google.com", name: "Google", relation: "DIRECT", accounts: 1 },
        { system: "pubmatic.com", name: "PubMatic", relation: "RESELLER", accounts: 2 },
        { system: "google.com", name: "Google", relation: "RESELLER", accounts: 1 },
      ],
      measuredAt: newest.seenAt.toISOString(),
    })
    expect(scene.stores.requests).toEqual([])
  })

  test("a missing file gives zero ad networks, and an unknown file gives null", async () => {
    const none = { direct: 0, reseller: 0, networks: [] }
    const unknown = { direct: null, reseller: null, networks: null }
    const cases: [Partial<AppAdsObservation>, object][] = [
      [{ state: "no_file" }, { state: "no_file", domain: "maker.test", ...none }],
      [
        { state: "no_site", domain: null },
        { state: "no_site", domain: null, ...unknown },
      ],
      [{ state: "unreachable" }, { state: "unreachable", domain: "maker.test", ...unknown }],
    ]
    for (const [observed, expected] of cases) {
      await sql`delete from app_ads`
      await record(sql, [look(DAY_MS, observed)])
      expect((await scene.service.call(path(), { key: scene.key })).body).toMatchObject(expected)
    }
  })

  slow("a reading that is almost 14 days old is used, and an older one is read again", async () => {
    answersLookUps(scene.stores, { [RIVAL]: { sellerUrl: "https://www.maker.test/app" } })
    await record(sql, [look(14 * DAY_MS - 60_000, { records: [row("google.com", "DIRECT", "1")] })])
    expect((await scene.service.call(path(), { key: scene.key })).body.state).toBe("records")
    expect(scene.hostnames).toEqual([])
    await sql`update app_ads set seen_at = seen_at - interval '2 minutes'`
    const { status, body } = await scene.settled(path())
    expect([status, body.state]).toEqual([200, "no_file"])
    expect(scene.hostnames[0]).toBe("maker.test")
  })
})

describe("reading of ad networks on request", () => {
  slow("a request reads the developer's site from the store and the file from the site", async () => {
    answersLookUps(scene.stores, { [RIVAL]: { sellerUrl: "https://www.maker.test/app" } })
    scene.says.site = page("google.com, pub-1, DIRECT, f08c47fec0942fa0\nunity.com, 7, reseller\n")
    const { status, body, pending } = await scene.settled(path())
    for (const answer of pending) {
      expect(answer.body).toMatchObject({ state: "measuring", networks: null, direct: null, measuredAt: null })
      expect(answer.body.eta).toBeWithin(1, 120)
    }
    expect(status).toBe(200)
    expect(body).toMatchObject({
      state: "records",
      domain: "maker.test",
      name: `App ${RIVAL}`,
      direct: 1,
      reseller: 1,
    })
    expect(body).not.toHaveProperty("eta")
    expect(Date.now() - Date.parse(body.measuredAt)).toBeLessThan(60_000)
    const requests = [scene.stores.requests.length, scene.hostnames.length]
    expect((await scene.service.call(path(), { key: scene.key })).body).toEqual(body)
    expect([scene.stores.requests.length, scene.hostnames.length]).toEqual(requests)
  })

  slow("50 concurrent callers cause one reading", async () => {
    answersLookUps(scene.stores, { [RIVAL]: { sellerUrl: "https://maker.test" } }, 1_000)
    Object.assign(scene.says, { site: page("google.com, pub-1, DIRECT\n"), holdMs: 1_000 })
    const answers = await Promise.all(Array.from({ length: 50 }, () => scene.settled(path())))
    for (const { status, body } of answers) expect([status, body.state]).toEqual([200, "records"])
    expect([scene.stores.requests.map(({ url }) => String(url)), scene.hostnames]).toEqual([
      [expect.any(String)],
      ["maker.test"],
    ])
  })

  slow("a slow reading returns 202 until the result is ready, and each call is charged", async () => {
    answersLookUps(scene.stores, { [RIVAL]: { sellerUrl: "https://maker.test" } })
    Object.assign(scene.says, { site: page("google.com, pub-1, DIRECT\n"), holdMs: 4_500 })
    const { status, body, credits, pending } = await scene.settled(path())
    expect(pending.length).toBeGreaterThan(0)
    expect([status, body.state, credits.used]).toEqual([200, "records", 1 + pending.length])
  })

  slow("a request waits for the store and then for the site without exceeding its deadline", async () => {
    answersLookUps(scene.stores, { [RIVAL]: { sellerUrl: "https://maker.test" } }, 2_400)
    Object.assign(scene.says, { site: page("google.com, pub-1, DIRECT\n"), holdMs: 2_400 })
    const { status, body } = await scene.service.call(path(), { key: scene.key })
    // on a busy machine the second wait may time out
    expect(["200 records", "202 measuring"]).toContain(`${status} ${body.state}`)
  })

  slow("a listing without a site and an unreachable site have different states", async () => {
    answersLookUps(scene.stores, { [RIVAL]: {} })
    expect((await scene.settled(path())).body).toMatchObject({ state: "no_site", domain: null, networks: null })
    await sql`delete from app_ads`
    await sql`delete from app_storefront`
    answersLookUps(scene.stores, { [RIVAL]: { sellerUrl: "https://nowhere.example" } })
    expect((await scene.settled(path())).body).toMatchObject({ state: "unreachable", networks: null })
  })

  test("a missing app fails with not_measured, and a refusal by the store with measure_busy for free", async () => {
    answersLookUps(scene.stores, {})
    const missing = await scene.settled(path())
    expect([missing.status, missing.body.error]).toEqual([404, "not_measured"])
    await sql`delete from app_storefront`
    scene.stores.on("itunes.apple.com", "/lookup", () => new Response("no", { status: 403 }))
    const spent = await used()
    const { status, body, headers } = await scene.service.call(path(), { key: scene.key })
    expect([status, body.error, headers.get("retry-after")]).toEqual([503, "measure_busy", "60"])
    expect(await used()).toBe(spent)
    expect(await sql`select from app_ads`).toHaveLength(0)
  })

  test("a source that this instance does not read fails with not_measured", async () => {
    await scene.service.call("/v1/account", { key: scene.key })
    await sql`update tracked_app set countries = '{de}'`
    const { status, body } = await scene.service.call(path("com.example.rival", "?platform=android"), {
      key: scene.key,
    })
    expect([status, body.error, body.detail]).toEqual([404, "not_measured", "This instance does not read it."])
  })
})

test("an app that is no rival fails with not_found, and a key needs the scope and access to the app", async () => {
  expect((await scene.service.call(path("10099"), { key: scene.key })).body.error).toBe("not_found")
  expect((await scene.service.call(path("x"), { key: scene.key })).body).toMatchObject({
    error: "bad_app_id",
    field: "rivalId",
  })
  const limitedKey = await scene.service.key(scene.workspaceId, { scopes: ["hive:read"] })
  expect((await scene.service.call(path(), { key: limitedKey })).body.error).toBe("scope_required")
  const otherPath = path().replace(scene.appId, "app_other")
  const limited = await scene.service.key(scene.workspaceId, { appList: [scene.appId] })
  expect((await scene.service.call(otherPath, { key: limited })).body.error).toBe("app_not_allowed")
  expect(await used()).toBe(0)
})
