import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { loadDemo } from "../../../src/demo/demo.ts"
import { STOREFRONTS } from "../../../src/lib/storefronts.ts"
import { auditState, beginScan } from "../../../src/listings/audits/storefront-audits.ts"
import { recording } from "../../../src/recording.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { trackOwn } from "../../world/tracked.ts"
import { type Audited, audited, OWN_APP, otherStorefronts, TEXTS } from "./audited.ts"

setDefaultTimeout(60_000)

let sql: Sql
let scene: Audited

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  scene = await audited(sql)
})

const used = async () => (await scene.service.call("/v1/account", { key: scene.key })).body.credits.used
const storeApp = async () => (await sql<{ id: number }[]>`select id from store_app where store_id = ${OWN_APP}`)[0]!.id
/** Runs a scan that finds the app only in these storefronts. */
const scanned = async (pages: Parameters<Audited["says"]>[0]) => {
  expect((await scene.ask("?refresh=true")).status).toBe(202)
  await scene.says(pages)
  await scene.fails(otherStorefronts(...Object.keys(pages)))
  return await scene.ask()
}

describe("app that was never scanned", () => {
  test("an app that was never scanned is unmeasured", async () => {
    const { status, body } = await scene.ask()
    expect(status).toBe(200)
    expect(body).toEqual({
      measured: false,
      running: false,
      startedAt: null,
      finishedAt: null,
      nextRefreshAt: null,
      summary: null,
      rows: [],
      locked: 0,
    })
    expect([await scene.scans(), await scene.due()]).toEqual([[], []])
  })

  test("refresh starts a scan of all 175 storefronts, and calls during the scan get 202 with an eta", async () => {
    const first = await scene.ask("?refresh=true")
    expect(first.status).toBe(202)
    expect(first.body).toMatchObject({ measured: false, running: true, summary: null, rows: [] })
    // If the upstream has no pace yet, one second per page is assumed.
    expect(first.body.eta).toBeWithin(175, 180)
    expect(await scene.due()).toEqual([...STOREFRONTS])
    const meanwhile = await scene.ask()
    expect([meanwhile.status, meanwhile.body.running]).toEqual([202, true])
    expect(await used()).toBe(2)
  })

  test("a scan of a Google Play app or a demo app fails with not_measured and costs nothing", async () => {
    const { workspaceId } = scene
    const track = (rest: object) => ({ workspaceId, countries: ["us"], keywords: [], origin: "own", ...rest })
    scene.appId = await trackOwn(sql, track({ androidPkg: "com.example.tea" }))
    for (const query of ["", "?refresh=true"]) {
      const { status, body } = await scene.service.call(`/v1/apps/${scene.appId}/storefront-audit${query}`, {
        key: scene.key,
      })
      expect([status, body.error]).toEqual([404, "not_measured"])
      expect(body.detail).toContain("not on the App Store")
    }
    const demo = (await loadDemo(recording, sql, workspaceId, "")).apps[0]!.id
    const path = `/v1/apps/${demo}/storefront-audit`
    expect((await scene.service.call(path, { key: scene.key })).body.measured).toBe(false)
    const { status, body } = await scene.service.call(`${path}?refresh=true`, { key: scene.key })
    expect([status, body.error, body.detail]).toEqual([404, "not_measured", "This instance does not read it."])
    await beginScan(sql, demo)
    expect(await scene.scans()).toEqual([])
    expect(await used()).toBe(1)
  })

  test("if this instance reads no pages, a scan fails with not_measured and does not start", async () => {
    scene = await audited(sql, async () => ({ state: "failed", why: "off" }))
    const { status, body } = await scene.ask("?refresh=true")
    expect([status, body.error, body.detail]).toEqual([404, "not_measured", "This instance does not read it."])
    expect([await scene.scans(), await used()]).toEqual([[], 0])
  })
})

describe("running storefront audit", () => {
  slow("concurrent requests of several workspaces start only one scan", async () => {
    const otherWorkspace = await scene.service.workspace()
    const otherKey = await scene.service.key(otherWorkspace)
    const otherApp = await trackOwn(sql, { workspaceId: otherWorkspace, iosId: OWN_APP, countries: ["de"] })
    const paths = [scene.appId, otherApp].map((id) => `/v1/apps/${id}/storefront-audit?refresh=true`) as [
      string,
      string,
    ]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 ? scene.service.call(paths[0], { key: scene.key }) : scene.service.call(paths[1], { key: otherKey }),
      ),
    )
    for (const { status, body } of answers) expect([status, body.running, body.eta > 0]).toEqual([202, true, true])
    expect(await scene.scans()).toEqual([{ running: true, failed: false }])
    expect(await scene.due()).toEqual([...STOREFRONTS])
  })

  slow("a scan waits for every storefront and estimates the remaining time", async () => {
    await scene.ask("?refresh=true")
    await sql`
      insert into pace (upstream, egress, base_gap_ms, gap_ms)
      values ('apps.apple.com', 'a', 1000, 4000), ('apps.apple.com', 'b', 1000, 4000)`
    await scene.says({ us: {}, de: {} })
    await scene.fails(otherStorefronts("us", "de", "fr", "jp"))
    await scene.fails(["jp"], "blocked")
    const { status, body } = await scene.ask()
    // Each of two addresses requests a page every four seconds; the duration of one reading is added.
    expect([status, body.eta]).toEqual([202, 2 * 2 + 2])
    await sql`update pace set next_at = now() + interval '100 seconds'`
    expect((await scene.ask()).body.eta).toBeWithin(100, 107)
    await sql`
      update due
      set failures = 1, failure = 'blocked', failed_at = now(), next_at = now() + interval '300 seconds'
      where storefront = 'jp'`
    expect((await scene.ask()).body.eta).toBeWithin(298, 301)
    await scene.says({ fr: {}, jp: {} })
    expect((await scene.ask()).status).toBe(200)
  })

  test("after a scan only pages of tracked storefronts are due", async () => {
    await sql`insert into due (kind, platform, storefront, subject) values ('listing', 'ios', 'us', ${OWN_APP})`
    const { status } = await scanned({ us: {}, de: {} })
    expect(status).toBe(200)
    expect(await scene.due()).toEqual(["us"])
  })
})

describe("end of a storefront audit", () => {
  test("a scan ends at the time when its last storefront was read", async () => {
    const { body } = await scanned({ us: {}, de: {} })
    expect(body).toMatchObject({ measured: true, running: false, summary: { sold: 2, notSold: 173, notRead: 0 } })
    expect(body).not.toHaveProperty("eta")
    const finished = Date.parse(body.finishedAt)
    expect(finished).toBeWithin(Date.parse(body.startedAt), Date.now() + 1)
    expect(Date.parse(body.nextRefreshAt) - finished).toBe(12 * 3_600_000)
    await Bun.sleep(30)
    expect((await scene.ask()).body).toEqual(body)
  })

  test("a scan with at most a tenth of the storefronts unread ends after exactly 60 minutes", async () => {
    await scene.ask("?refresh=true")
    const missing = STOREFRONTS.slice(0, 17)
    await scene.says({ us: {} })
    await scene.fails(otherStorefronts("us", ...missing))
    await scene.fails(missing, "blocked")
    await scene.ages("59 minutes 50 seconds")
    const late = await scene.ask()
    expect([late.status, late.body.eta <= 10]).toEqual([202, true])
    await scene.ages("10 seconds")
    const { status, body } = await scene.ask()
    expect([status, body.summary.notRead, body.summary.notSold]).toEqual([200, 17, 157])
    expect(Date.parse(body.finishedAt) - Date.parse(body.startedAt)).toBe(3_600_000)
    const states = body.rows.filter((row: { state: string }) => row.state === "not_read")
    expect(states.map((row: { country: string }) => row.country)).toEqual([...missing])
    expect(states[0]).toMatchObject({ readAt: null, localised: null, ratings: null, findings: ["not_read"] })
  })

  slow("a scan with over a tenth of the storefronts unread fails with audit_failed and is free", async () => {
    await scene.ask("?refresh=true")
    await scene.fails(otherStorefronts(...STOREFRONTS.slice(0, 18)))
    await scene.fails(STOREFRONTS.slice(0, 18), "blocked")
    await scene.ages("60 minutes")
    const spent = await used()
    for (let attempt = 0; attempt < 2; attempt++) {
      const { status, body } = await scene.ask()
      expect([status, body.error]).toEqual([502, "audit_failed"])
    }
    expect(await used()).toBe(spent)
    expect(await scene.due()).toEqual(["us"])
    expect((await auditState(sql, await storeApp())).last).toBe(null)
    expect((await scene.ask("?refresh=true")).status).toBe(202)
    expect((await scene.ask()).status).toBe(202)
    // Readings of the last hour count for the new scan too.
    expect(await scene.due()).toEqual([...STOREFRONTS.slice(0, 18), "us"])
    await scene.fails(STOREFRONTS.slice(0, 18))
    expect((await scene.ask()).body).toMatchObject({
      measured: true,
      summary: { sold: 0, notSold: 175, ratings: null },
    })
    expect(await scene.scans()).toEqual([{ running: false, failed: false }])
  })

  slow("concurrent calls end a scan only once", async () => {
    await scene.ask("?refresh=true")
    await scene.says({ us: {} })
    await scene.fails(otherStorefronts("us"))
    const answers = await Promise.all(Array.from({ length: 20 }, () => scene.ask()))
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]!.body])
    expect(await scene.scans()).toEqual([{ running: false, failed: false }])
  })

  test("a finished scan does not change when a page changes later", async () => {
    const { body } = await scanned({ us: {} })
    await scene.says({ us: { name: "Another name" }, de: {} })
    expect((await scene.ask()).body).toEqual(body)
    const { last: audit } = await auditState(sql, await storeApp())
    expect(audit?.rows).toHaveLength(175)
    expect(audit?.rows.find(({ country }) => country === "us")).toMatchObject({ state: "sold", writtenIn: "en" })
  })
})

describe("refresh of a storefront audit", () => {
  test("refresh returns the last scan for twelve hours, and afterwards starts a new scan", async () => {
    const { body } = await scanned({ us: {} })
    await scene.ages("13 hours")
    await sql`update storefront_audit set finished_at = now() - interval '11 hours 59 minutes 50 seconds'`
    const young = await scene.ask("?refresh=true")
    expect([young.status, young.body.rows]).toEqual([200, body.rows])
    expect(await scene.scans()).toHaveLength(1)
    await scene.ages("10 seconds")
    const old = await scene.ask("?refresh=true")
    expect(old.status).toBe(202)
    expect(old.body).toMatchObject({ measured: true, running: true, nextRefreshAt: null, summary: { sold: 1 } })
    const plain = await scene.ask()
    expect([plain.status, plain.body.running, plain.body.eta > 0]).toEqual([200, true, true])
    expect(await scene.scans()).toHaveLength(2)
  })

  test("refresh accepts only true and false", async () => {
    for (const query of ["?refresh=yes", "?refresh=true&refresh=true", "?refresh=1"]) {
      const { status, body } = await scene.ask(query)
      expect([query, status, body.error, body.field]).toEqual([query, 400, "invalid_arguments", "refresh"])
    }
    expect((await scene.ask("?refresh=false")).status).toBe(200)
    expect(await scene.scans()).toEqual([])
  })
})

describe("table of a storefront audit", () => {
  test("the table has the page of each storefront, most ratings first", async () => {
    const { body } = await scanned({
      de: { description: TEXTS.de, language: "de-DE", ratings: 50, rating: 4.25, price: 3.49, currency: "EUR" },
      jp: { ratings: 70, screenshots: { phone: ["https://is1-ssl.mzstatic.com/p1.png/1290x2796bb.jpg"] } },
      us: { ratings: 900, subtitle: undefined, name: "Tea" },
      gb: { ratings: undefined, rating: undefined, ratingsByStar: undefined },
      fr: { ratings: 0, rating: 0, ratingsByStar: [0, 0, 0, 0, 0], subtitle: "Court" },
    })
    expect(body.rows.slice(0, 6).map((row: { country: string }) => row.country)).toEqual([
      ...["us", "jp", "de", "fr", "gb", "ae"],
    ])
    const [us, jp, de, fr, gb, ae] = body.rows
    expect(us).toMatchObject({
      name: "United States",
      state: "sold",
      localised: true,
      textLanguage: "en",
      sameTextAs: null,
      appName: "Tea",
      nameLength: 3,
      subtitle: null,
      subtitleLength: null,
      findings: ["subtitle_missing", "name_short"],
    })
    expect(jp).toMatchObject({
      localised: false,
      textLanguage: "en",
      sameTextAs: "gb",
      screenshotsPhone: 1,
      screenshotsPad: null,
      findings: ["not_localised", "screenshots_few"],
    })
    expect(de).toMatchObject({
      localised: true,
      textLanguage: "de",
      pageLanguage: "de-DE",
      locales: ["de-DE", "en-GB"],
      sameTextAs: null,
      rating: 4.25,
      ratings: 50,
      price: 3.49,
      currency: "EUR",
      nameLength: 25,
      findings: [],
    })
    expect(fr).toMatchObject({ ratings: 0, findings: ["not_localised", "subtitle_short", "no_ratings"] })
    expect(gb).toMatchObject({ ratings: null, localised: true, sameTextAs: "jp" })
    expect(ae).toMatchObject({ state: "not_sold", appName: null, localised: null, findings: ["not_sold"] })
    expect(Date.now() - Date.parse(ae.readAt)).toBeLessThan(60_000)
    expect(body.summary).toEqual({
      storefronts: 175,
      sold: 5,
      notSold: 170,
      notRead: 0,
      localised: 3,
      notLocalised: 2,
      localisedUnknown: 0,
      ratings: 1_020,
      ratingsNotLocalised: 70,
      languages: [
        { language: "en", storefronts: 4 },
        { language: "de", storefronts: 1 },
      ],
    })
    expect([body.rows.length, body.locked]).toEqual([175, 0])
  })

  test("the table has the latest state of a storefront where the app disappeared or appeared", async () => {
    await scene.ask("?refresh=true")
    await scene.fails(otherStorefronts("us", "de"))
    await scene.says({ us: {} }, 2)
    await scene.fails(["us"], "not_found", 1)
    await scene.fails(["de"], "not_found", 2)
    await scene.says({ de: {} }, 1)
    const { body } = await scene.ask()
    expect(body.rows[0]).toMatchObject({ country: "de", state: "sold" })
    expect(body.summary.sold).toBe(1)
  })

  slow("on the Free plan the table has five rows, no data of the other rows, and the whole summary", async () => {
    const names = ["us", "gb", "de", "fr", "jp", "it", "es"]
    const { body: full } = await scanned(
      Object.fromEntries(
        names.map((storefront, i) => [storefront, { ratings: 100 - i, name: `Tea Timer of ${storefront} alone` }]),
      ),
    )
    const free = await scene.service.workspace({ plan: "free" })
    const appId = await trackOwn(sql, { workspaceId: free, iosId: OWN_APP })
    const key = await scene.service.key(free)
    const { body, result } = await scene.service.tool("get_storefront_audit", { appId }, { key })
    expect(body.rows).toEqual(full.rows.slice(0, 5))
    expect(body.locked).toBe(170)
    expect(body.summary).toEqual(full.summary)
    const text = JSON.stringify(result)
    for (const hidden of ["Tea Timer of it", "Tea Timer of es", "Italy", "Zimbabwe"]) expect(text).not.toContain(hidden)
  })
})

describe("access to a storefront audit", () => {
  test("a storefront audit needs apps:read and an app that the key may access, and costs one credit", async () => {
    const poor = await scene.service.key(scene.workspaceId, { scopes: ["hive:read"] })
    expect((await scene.ask("", poor)).body.error).toBe("scope_required")
    const other = { workspaceId: scene.workspaceId, iosId: "20001", countries: ["us"], keywords: [], origin: "own" }
    const limited = await scene.service.key(scene.workspaceId, { appList: [await trackOwn(sql, other)] })
    expect((await scene.ask("?refresh=true", limited)).body.error).toBe("app_not_allowed")
    expect([await scene.scans(), await used()]).toEqual([[], 0])
    await scene.ask()
    expect(await used()).toBe(1)
  })

  test("a test key gets the sandbox's audit and starts no scan", async () => {
    const testKey = await scene.service.key(scene.workspaceId, { kind: "test" })
    const path = "/v1/apps/app_lumenjournal/storefront-audit?refresh=true"
    const { status, body } = await scene.service.call(path, { key: testKey })
    expect([status, body.measured, body.rows.length + body.locked]).toEqual([200, true, 175])
    expect(await scene.scans()).toEqual([])
  })
})
