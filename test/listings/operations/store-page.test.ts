import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Plan } from "../../../src/access/plans.ts"
import type { Sql } from "../../../src/database/types.ts"
import { getStorePage } from "../../../src/listings/operations/store-page.ts"
import { contextOn, IOS_ID, june, PACKAGE, played, recordAll, recorded, TODAY, trackTea } from "../../core/paged.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { listed, PAGE } from "../../measuring/record/listed.ts"
import { ask, newWorkspace } from "../../measuring/record/measured.ts"
import { recordAttempt } from "../../record.ts"
import { openService } from "../../service.ts"

setDefaultTimeout(30_000)

let sql: Sql
let workspaceId: number

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
})

const page = (appId: string, { country, ...rest }: { country?: string; plan?: Plan; now?: Date } = {}) =>
  ask(getStorePage, contextOn(sql, workspaceId, rest), { appId, ...(country && { country }) })

const SLUMBER = { iosId: "1600000101", countries: ["us"] }
const AUGUST = { now: new Date("2026-08-21T00:00:00Z") }

describe("recorded store page", () => {
  test("a store page is returned part by part with times, and without the app's name or subtitle", async () => {
    const appId = await trackTea(sql, workspaceId, SLUMBER)
    const read = recorded("us", "1600000101", new Date("2026-08-12T06:00:00Z"))
    await recordAll(sql, read)
    const answer = await page(appId, AUGUST)
    const at = "2026-08-12T06:00:00.000Z"
    expect(answer).toMatchObject({
      country: "us",
      tracked: true,
      android: null,
      timeline: [],
      timelineTruncated: false,
    })
    const { listingExtras, similar, editorial, releaseNotes, icon, screenshotsPhone, screenshotsPad, ...ios } =
      answer.ios
    expect(ios).toEqual({
      storeId: "1600000101",
      url: "https://apps.apple.com/us/app/id1600000101",
      available: null,
      availableAt: null,
      measured: true,
      measuredAt: at,
      unchangedSince: at,
      source: "apple-app-page",
      language: "en-US",
      version: "4.2.1",
      versionReleasedAt: "2026-08-11T08:00:00.000Z",
      price: 0,
      currency: "USD",
      category: "Health & Fitness",
      ageRating: "4+",
      hasInAppPurchases: true,
      size: "245.3 MB",
      minimumOs: "16.4",
      eventsLive: 1,
      eventsScheduled: 1,
      similarAt: at,
      rating: 4.8,
      ratings: 105_000,
      ratingsAt: at,
    })
    const { listing } = read
    expect([icon, screenshotsPhone, screenshotsPad]).toEqual([
      listing.icon,
      listing.screenshots?.phone,
      listing.screenshots?.pad,
    ])
    expect(releaseNotes).toBe("A calmer start.\nFixes a timer that ran on.")
    expect(similar).toEqual(listing.similar?.map(({ id, name }, place) => ({ place: place + 1, id, name })))
    const period = { firstSeenAt: at, lastSeenAt: at }
    expect(editorial).toEqual([
      { kind: "collection", id: "1400000012", title: "Apps We Love Right Now", dedicated: false, ...period },
      { kind: "story", id: "1400000011", title: "Wind down for the night", dedicated: true, ...period },
    ])
    expect(listingExtras).toEqual({
      measuredAt: at,
      languageCount: 7,
      languages: listing.languages,
      stars: { "1": 1_470, "2": 630, "3": 2_100, "4": 9_450, "5": 91_350 },
      starsAt: at,
      events: [
        {
          id: "6750000001",
          title: "Northern Lights Week",
          kind: "Special Event",
          text: "Seven nights, seven skies",
          state: "live",
          startsAt: "2026-08-20T07:00:00.000Z",
          endsAt: "2026-08-27T07:00:00.000Z",
          ...period,
        },
        {
          id: "6750000002",
          title: "Harbor Choir Premiere",
          kind: "Premiere",
          text: null,
          state: "scheduled",
          startsAt: "2026-09-05T18:00:00.000Z",
          endsAt: null,
          ...period,
        },
      ],
      promotionalText: "New this month: a night on the northern sea.",
      inAppPurchases: listing.inAppPurchases,
      locked: 0,
      withheld: { events: 0, promotionalText: 0, inAppPurchases: 0 },
      lockedParts: [],
    })
    for (const hidden of [listing.name, listing.subtitle, "Fall asleep to rain"])
      expect(JSON.stringify(answer)).not.toContain(hidden as string)
  })

  slow("on the Free plan a store page has five languages, and withheld parts have only a number of items", async () => {
    const appId = await trackTea(sql, workspaceId, SLUMBER)
    await recordAll(sql, recorded("us", "1600000101", new Date("2026-08-12T06:00:00Z")))
    const [free, pro] = [await page(appId, { ...AUGUST, plan: "free" }), await page(appId, AUGUST)]
    expect(free.ios.listingExtras).toEqual({
      ...pro.ios.listingExtras,
      languages: ["English", "Arabic", "French", "German", "Japanese"],
      events: null,
      promotionalText: null,
      inAppPurchases: null,
      locked: 2,
      withheld: { events: 2, promotionalText: 1, inAppPurchases: 3 },
      lockedParts: ["languages", "events", "promotionalText", "inAppPurchases"],
    })
    const { listingExtras: _, ...shared } = free.ios
    expect(pro.ios).toMatchObject(shared)
    for (const hidden of ["Portuguese (Brazil)", "Northern Lights Week", "northern sea.", "Harbor Plus Yearly"])
      expect(JSON.stringify(free)).not.toContain(hidden)
  })

  test("missing parts of a store page are null, and an empty row of similar apps is an empty list", async () => {
    const appId = await trackTea(sql, workspaceId, { iosId: "1610000300", countries: ["de"] })
    await recordAll(sql, recorded("de", "1610000300", new Date("2026-08-12T06:00:00Z")))
    const { ios } = await page(appId, { ...AUGUST, plan: "free" })
    expect(ios).toMatchObject({
      measured: true,
      version: null,
      screenshotsPhone: null,
      screenshotsPad: [],
      eventsLive: null,
      eventsScheduled: null,
      editorial: null,
      similar: [],
      rating: null,
      ratings: 0,
      listingExtras: { languages: ["Deutsch"], stars: { "5": 0 }, promotionalText: null, locked: 0, lockedParts: [] },
    })
  })
})

describe("timeline of a store page", () => {
  slow("the timeline lists exactly the differences of two pages, without their names and descriptions", async () => {
    const appId = await trackTea(sql, workspaceId)
    const phone = ["https://is1-ssl.mzstatic.com/n1.png/1290x2796bb.jpg"]
    await recordAll(
      sql,
      listed(june(1)),
      listed(june(2), {
        name: "Brew Clock",
        subtitle: "Never bitter",
        description: "A clock.",
        version: "4.2",
        price: 0,
        promotionalText: "Now with mate.",
        screenshots: { phone, pad: PAGE.screenshots?.pad as string[] },
        events: [{ id: "6000002", title: "Tasting", startsAt: june(10, 0) }],
        editorial: [],
      }),
    )
    const { timeline } = await page(appId)
    const change = { platform: "ios", at: june(2).toISOString(), day: "2026-06-02", notYetAt: june(1).toISOString() }
    const none = { subjectKind: null, subjectId: null, title: null, startsAt: null, endsAt: null }
    const plain = { ...none, before: null, after: null, picturesBefore: null, picturesAfter: null }
    const source = "apple-app-page"
    const rows = (more: object[]) => more.map((row) => ({ ...change, ...plain, ...row, source }))
    const expectedTimeline = (plan: Plan) =>
      rows([
        { kind: "version", before: "4.1", after: "4.2" },
        { kind: "unfeatured", subjectKind: "story", subjectId: "1400000001", title: "Slow mornings" },
        { kind: "subtitle" },
        { kind: "screenshots", picturesBefore: PAGE.screenshots?.phone, picturesAfter: phone },
        plan === "free"
          ? { kind: "promotional_text" }
          : { kind: "promotional_text", before: "Now with oolong.", after: "Now with mate." },
        { kind: "price", before: "2.99 USD", after: "0 USD" },
        { kind: "name" },
        {
          kind: "event_started",
          subjectKind: "event",
          subjectId: "6000002",
          title: "Tasting",
          startsAt: june(10, 0).toISOString(),
        },
        {
          kind: "event_ended",
          subjectKind: "event",
          subjectId: "6000001",
          title: "Harvest",
          startsAt: "2026-05-20T00:00:00.000Z",
          endsAt: "2026-07-01T00:00:00.000Z",
        },
        { kind: "description" },
      ])
    expect(timeline).toEqual(expectedTimeline("pro"))
    const free = await page(appId, { plan: "free" })
    expect(free.timeline).toEqual(expectedTimeline("free"))
    const all = JSON.stringify([await page(appId), free])
    for (const hidden of ["Tea Timer", "Brew Clock", "Steep it right", "Never bitter", "A clock.", "For tea."])
      expect([hidden, all.includes(hidden)]).toEqual([hidden, false])
    expect(JSON.stringify(free)).not.toContain("oolong")
  })

  slow("the timeline covers the plan's history and one storefront", async () => {
    const appId = await trackTea(sql, workspaceId)
    const german = (n: number, version: string) => listed(june(n), { version }, { storefront: "de" })
    await recordAll(sql, listed(june(1)), listed(june(2), { version: "5" }), german(1, "4.1"), german(3, "6"))
    const days = async (plan: Plan, now: Date, country?: string) =>
      (await page(appId, { plan, now, ...(country && { country }) })).timeline.map(({ day }: { day: string }) => day)
    expect(await days("free", new Date("2026-07-01T12:00:00Z"))).toEqual(["2026-06-02"])
    expect(await days("free", new Date("2026-07-02T00:00:00Z"))).toEqual([])
    expect(await days("pro", new Date("2026-07-02T00:00:00Z"))).toEqual(["2026-06-02"])
    expect(await days("pro", new Date("2026-07-02T00:00:00Z"), "de")).toEqual(["2026-06-03"])
  })

  slow("a timeline of more than 100 changes is truncated and flagged", async () => {
    const appId = await trackTea(sql, workspaceId)
    // The page has a new version every hour.
    const hourly = (count: number) =>
      Array.from({ length: count }, (_, n) => listed(new Date(june(1).getTime() + n * 3_600_000), { version: `${n}` }))
    await recordAll(sql, ...hourly(101))
    expect(await page(appId)).toMatchObject({ timelineTruncated: false, timeline: { length: 100 } })
    await recordAll(sql, ...hourly(102))
    const { timeline, timelineTruncated } = await page(appId)
    expect([timelineTruncated, timeline.length, timeline[0].after, timeline[99].after]).toEqual([true, 100, "101", "2"])
  })

  test("a change found by iTunes lookup and by page is listed once, and earlier lookup changes remain", async () => {
    const appId = await trackTea(sql, workspaceId)
    const lookup = (n: number, version: string) => listed(june(n), { version }, { source: "itunes-lookup" })
    const versionPage = (n: number, version: string) => listed(june(n, 9), { version })
    await recordAll(
      sql,
      lookup(1, "4.0"),
      lookup(2, "4.1"),
      versionPage(3, "4.1"),
      lookup(4, "4.2"),
      versionPage(4, "4.2"),
    )
    const { timeline, ios } = await page(appId)
    expect(timeline.map(({ at, after, source }: Record<string, string>) => [at, after, source])).toEqual([
      [june(4, 9).toISOString(), "4.2", "apple-app-page"],
      [june(2).toISOString(), "4.1", "itunes-lookup"],
    ])
    expect(ios).toMatchObject({ source: "apple-app-page", measuredAt: june(4, 9).toISOString() })
  })
})

describe("unknown parts of a store page", () => {
  test("a page that was never read is returned as not measured instead of empty", async () => {
    const appId = await trackTea(sql, workspaceId, { androidPkg: PACKAGE })
    const { ios, android, timeline, tracked } = await page(appId)
    expect([tracked, timeline]).toEqual([true, []])
    for (const side of [ios, android]) {
      expect(side).toMatchObject({ measured: false, measuredAt: null, version: null, similar: null, ratings: null })
      const { storeId, url, measured, listingExtras, ...rest } = side
      expect(Object.values(rest).filter((value) => value !== null)).toEqual([])
    }
    expect(ios.listingExtras).toEqual({
      measuredAt: null,
      languageCount: null,
      languages: null,
      stars: null,
      starsAt: null,
      events: null,
      promotionalText: null,
      inAppPurchases: null,
      locked: null,
      withheld: null,
      lockedParts: [],
    })
  })

  test("an untracked storefront is not measured, even if its page was read", async () => {
    const appId = await trackTea(sql, workspaceId, { countries: ["de"] })
    await recordAll(sql, listed(june(1)), listed(june(2), { version: "5" }))
    expect(await page(appId, { country: "us" })).toMatchObject({
      country: "us",
      tracked: false,
      timeline: [],
      ios: { measured: false, version: null, ratings: null },
    })
  })

  slow("a failed read changes nothing on the store page", async () => {
    const appId = await trackTea(sql, workspaceId)
    await recordAll(sql, listed(june(1)))
    const before = await page(appId)
    await recordAttempt(sql, {
      kind: "listing",
      at: june(2),
      subject: IOS_ID,
      source: "apple-app-page",
      platform: "ios",
      storefront: "us",
      outcome: "blocked",
    })
    expect(await page(appId)).toEqual(before)
    await recordAll(sql, listed(june(3)))
    const after = await page(appId)
    expect(after.timeline).toEqual([])
    expect(after.ios).toMatchObject({ measuredAt: june(3).toISOString(), unchangedSince: june(1).toISOString() })
  })

  test("an event past its scheduled end is left out, even if the page was not read since", async () => {
    const appId = await trackTea(sql, workspaceId)
    await recordAll(sql, listed(june(1)))
    const states = async (now: string) => {
      const { ios } = await page(appId, { now: new Date(now) })
      return [ios.eventsLive, ios.eventsScheduled, ios.listingExtras.events.length]
    }
    expect(await states("2026-05-19T23:59:59Z")).toEqual([0, 1, 1])
    expect(await states("2026-05-20T00:00:00Z")).toEqual([1, 0, 1])
    expect(await states("2026-06-30T23:59:59Z")).toEqual([1, 0, 1])
    expect(await states("2026-07-01T00:00:00Z")).toEqual([0, 0, 0])
  })
})

test("on the Free plan the tools return a part of the store page, and the REST API refuses the call", async () => {
  const service = openService({ sql, now: () => TODAY })
  const id = await service.workspace({ plan: "free" })
  const key = await service.key(id)
  const appId = await trackTea(sql, id)
  await recordAll(sql, listed(june(1), { inAppPurchases: [{ name: "Oolong pack" }] }))
  const { body, isError, credits } = await service.tool("get_store_page", { appId }, { key })
  expect([isError, credits.used]).toEqual([false, 1])
  expect(body.ios.listingExtras).toMatchObject({
    languages: ["English", "French"],
    locked: 0,
    withheld: { events: 1, promotionalText: 1, inAppPurchases: 1 },
    lockedParts: ["events", "promotionalText", "inAppPurchases"],
  })
  const rest = await service.call(`/v1/apps/${appId}/page`, { key })
  expect([rest.status, rest.body.error, rest.text.includes("Oolong")]).toEqual([403, "plan_required", false])
})

describe("Google Play page of an app", () => {
  slow("the Google Play page is returned next to the App Store page, with installs and in-app prices", async () => {
    const appId = await trackTea(sql, workspaceId, { androidPkg: PACKAGE, countries: ["us"] })
    await recordAll(sql, listed(june(1)), played(june(1)), played(june(2), { version: "4.2", similar: [] }))
    const [app] = await sql`select id from store_app where platform = 'android' and store_id = ${PACKAGE}`
    await sql`
      insert into market_fact (app_id, storefront, source, day, seen_at, installs, has_in_app_purchases, in_app_least,
        in_app_most, in_app_currency, parser, origin, sha256)
      values (${app?.id}, 'us', 'play-details', '2026-06-02', ${june(2)}, 1234567, true, 0.99, 49.99, 'USD', 1, 'own',
        '\\x00')`
    const { ios, android, timeline } = await page(appId)
    expect(ios.version).toBe("4.1")
    expect(android).toMatchObject({
      storeId: PACKAGE,
      measured: true,
      measuredAt: june(2).toISOString(),
      unchangedSince: june(2).toISOString(),
      source: "play-details",
      version: "4.2",
      screenshots: PAGE.screenshots?.phone,
      similar: [],
      installs: 1_234_567,
      inAppLeast: 0.99,
      inAppMost: 49.99,
      inAppCurrency: "USD",
      marketAt: june(2).toISOString(),
      ratings: 5_000,
      stars: { "1": 200, "5": 4_000 },
    })
    expect(timeline.map(({ platform, kind }: Record<string, string>) => [platform, kind])).toEqual([
      ["android", "version"],
    ])
    for (const hidden of [PAGE.name, PAGE.subtitle, PAGE.description])
      expect(JSON.stringify({ ios, android, timeline })).not.toContain(JSON.stringify(hidden).slice(1, -1))
  })
})
