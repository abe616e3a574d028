import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import type { WeeklySummary } from "../../../src/alerts/alert.ts"
import { addChannel } from "../../../src/alerts/delivery/channels.ts"
import { createSummaries } from "../../../src/alerts/delivery/weekly.ts"
import { weekToTell } from "../../../src/alerts/weekly.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { freshDatabase } from "../../database.ts"
import { appsReading, reading } from "../../measuring/record/measured.ts"
import { reviewedOnPlay } from "../../measuring/record/reviewed.ts"
import { openService } from "../../service.ts"
import { listOf, OWN, readAlerts, storeAll, trackNew } from "../derived-alerts.ts"
import { type Receiver, receiver } from "./receiver.ts"
import { createScene, deliveryOf, hook, rule, type Scene } from "./scene.ts"

let sql: Sql
let standIn: Receiver
beforeAll(async () => {
  sql = await freshDatabase()
  standIn = receiver()
  await storeAll(sql, [
    appsReading("2025-11-01T10:00:00Z", [{ id: OWN, name: "Tea Timer" }]),
    ...[reading("tea", "2025-11-04T10:00:00Z", listOf(20, 60)), reading("tea", "2025-11-05T10:00:00Z", listOf(9, 60))],
    ...[reading("tea", "2025-11-12T10:00:00Z", listOf(40, 60)), reading("tea", "2025-11-14T10:00:00Z", listOf(3, 60))],
    ...[
      reading("mate", "2025-11-09T10:00:00Z", listOf(4, 60)),
      reading("mate", "2025-11-16T23:59:00Z", listOf(null, 50)),
    ],
    // too shallow to compare: it does not reach the earlier rank
    ...[
      reading("cola", "2025-11-05T10:00:00Z", listOf(30, 40)),
      reading("cola", "2025-11-16T10:00:00Z", listOf(null, 20)),
    ],
    ...[
      reading("malt", "2025-11-05T10:00:00Z", listOf(null, 60)),
      reading("malt", "2025-11-10T00:00:00Z", listOf(50, 60)),
    ],
    // measured this week, but not in the week before
    ...[reading("chai", "2025-11-02T10:00:00Z", listOf(1, 60)), reading("chai", "2025-11-12T10:00:00Z", listOf(7, 60))],
    // measured after the week
    ...[
      reading("cocoa", "2025-11-09T10:00:00Z", listOf(5, 60)),
      reading("cocoa", "2025-11-17T00:00:00Z", listOf(50, 60)),
    ],
  ])
})
beforeEach(async () => {
  standIn.requests.length = 0
  await sql`delete from channel`
  await sql`delete from tracked_app`
})
afterAll(() => standIn.stop())

const MONDAY = new Date("2025-11-17T08:00:00Z")
const summaries = (now = MONDAY) => createSummaries({ sql, log: silentLog, now: () => now })
const TERMS = ["tea", "mate", "cola", "malt", "chai", "cocoa", "never"]

async function app(): Promise<Scene> {
  const scene = await createScene(sql)
  await sql`delete from tracked_app where id = ${scene.appId}`
  return { ...scene, appId: await trackNew(sql, TERMS, { workspaceId: scene.workspaceId, name: "Tea <b>" }) }
}

describe("a week", () => {
  test.each([
    ["2025-11-17T07:59:59.999Z", null],
    ["2025-11-17T08:00:00Z", "2025-11-10 to 2025-11-16"],
    ["2025-11-20T07:59:59Z", "2025-11-10 to 2025-11-16"],
    ["2025-11-20T08:00:00Z", null],
    ["2025-11-23T23:00:00Z", null],
    ["2026-01-05T08:00:00Z", "2025-12-29 to 2026-01-04"],
  ])("at %p the weekly summary that is due covers %p", (now, week) => {
    const found = weekToTell(new Date(now))
    expect(found && `${found.from} to ${found.to}`).toBe(week)
    if (found) expect(found.tellAt.toISOString().slice(11)).toBe("08:00:00.000Z")
  })

  test("a weekly summary compares the last measured ranks of the week with those of the week before", async () => {
    await app()
    expect(await summaries().runOnce()).toBe(1)
    const [row] = (await readAlerts(sql, "weekly")) as unknown as WeeklySummary[]
    expect(row).toMatchObject({ subject: "", day: "2025-11-16", storefront: null, at: MONDAY })
    const place = { platform: "ios", country: "us" } as const
    expect(row!.facts).toEqual({
      from: "2025-11-10",
      to: "2025-11-16",
      keywords: { tracked: 7, measured: 5, up: 1, down: 0, entered: 1, dropped: 1, same: 0 },
      best: [
        { ...place, term: "malt", was: null, rank: 50, against: "2025-11-05", day: "2025-11-10" },
        { ...place, term: "tea", was: 9, rank: 3, against: "2025-11-05", day: "2025-11-14" },
      ],
      worst: [{ ...place, term: "mate", was: 4, rank: null, against: "2025-11-09", day: "2025-11-16" }],
      ratings: [],
      reviews: [],
      changes: 0,
      alerts: {},
    })
  })

  test("a weekly summary counts Google Play reviews in each language of the tracked storefronts", async () => {
    const scene = await createScene(sql)
    const storeId = "com.example.tea"
    await trackNew(sql, ["tea"], {
      workspaceId: scene.workspaceId,
      iosId: undefined,
      androidPkg: storeId,
      countries: ["us", "in"],
    })
    const first = { id: "0", stars: 5, at: new Date("2025-11-01T08:00:00Z") }
    const review = (id: string, stars: number) => ({ id, stars, at: new Date("2025-11-12T08:00:00Z") })
    const complete = { storeId, end: { pages: 1, complete: true, empty: false } }
    await storeAll(sql, [
      reviewedOnPlay("2025-11-17T02:00:00Z", [first, review("1", 5)], complete),
      reviewedOnPlay("2025-11-17T02:00:00Z", [first, review("2", 1)], {
        ...complete,
        storefront: "in",
        language: "hi",
      }),
      {
        ...reading("tea", "2025-11-12T10:00:00Z", listOf(null, 20)),
        platform: "android",
        source: "play-search",
        results: [{ id: "com.example.other", name: "Other" }],
      } as never,
    ])
    await summaries().runOnce()
    const rows = (await readAlerts(sql, "weekly")) as unknown as WeeklySummary[]
    expect(rows.map(({ facts }) => facts.reviews).find((reviews) => reviews.length > 0)).toEqual([
      { platform: "android", feed: "en", count: 1, low: 0 },
      { platform: "android", feed: "hi", count: 1, low: 1 },
    ])
  })

  test("a weekly summary is added once, however many processes and runs write it", async () => {
    await app()
    const added = await Promise.all(Array.from({ length: 6 }, () => summaries().runOnce()))
    expect(added.reduce((sum, count) => sum + count)).toBe(1)
    expect(await summaries(new Date("2025-11-18T12:00:00Z")).runOnce()).toBe(0)
    expect(await readAlerts(sql, "weekly")).toHaveLength(1)
  })

  test("no weekly summary is added for a week without measurements or before the app was tracked", async () => {
    const { workspaceId, appId } = await createScene(sql)
    await sql`delete from tracked_app where id = ${appId}`
    await trackNew(sql, ["never"], { workspaceId, iosId: "30001" })
    await trackNew(sql, TERMS, { workspaceId, since: "2025-11-17" })
    expect(await summaries().runOnce()).toBe(0)
    expect(await readAlerts(sql, "weekly")).toEqual([])
  })
})

test("a rule for weekly summaries sends figures to webhooks and lines of text to chats", async () => {
  const target = await app()
  await rule(target, "weekly", { channels: ["webhook", "slack"] })
  await hook(target, `${standIn.url}/hook`)
  await addChannel(target.register, target.workspaceId, "slack", { url: `${standIn.url}/slack` })
  await sql`update alert_rule set created_at = '2025-11-01'`
  await summaries().runOnce()
  await deliveryOf(sql).runOnce()
  const [request] = standIn.at("/hook")
  const { type, timestamp, data } = JSON.parse(request!.body)
  expect([type, timestamp]).toEqual(["alert.weekly", "2025-11-17T08:00:00.000Z"])
  expect(data).toMatchObject({ platform: null, country: null, appName: "Tea <b>", week: { keywords: { up: 1 } } })
  expect(data.sentence).toBe(
    "Week 2025-11-10 to 2025-11-16: 5 of 7 keywords measured, 1 rose, 0 fell, 1 entered, 1 dropped out, 0 stayed; " +
      '"malt" from absent to 50 in the US App Store; "mate" from 4 to absent in the US App Store',
  )
  expect(JSON.parse(standIn.at("/slack")[0]!.body).text.split("\n")).toEqual([
    "Tea &lt;b&gt;: Week 2025-11-10 to 2025-11-16",
    "Keywords: 5 of 7 keywords measured, 1 rose, 0 fell, 1 entered, 1 dropped out, 0 stayed",
    '  + "malt" from absent to 50 in the US App Store',
    '  + "tea" from 9 to 3 in the US App Store',
    '  - "mate" from 4 to absent in the US App Store',
    "Store page changes: 0",
  ])
})

test("the feed includes a weekly summary for a key that may see the app", async () => {
  const target = await app()
  await summaries().runOnce()
  const service = openService({ sql })
  const workspaceId = await service.workspace()
  await sql`update tracked_app set workspace_id = ${workspaceId} where id = ${target.appId}`
  await sql`update alert set workspace_id = ${workspaceId} where app_id = ${target.appId}`
  const { body } = await service.call("/v1/alerts", {
    key: await service.key(workspaceId, { appList: [target.appId] }),
  })
  expect(body.alerts).toMatchObject([
    { type: "weekly", appId: target.appId, week: { from: "2025-11-10" }, deliveries: [] },
  ])
  const { body: tool } = await service.tool("list_alerts", {}, { key: await service.key(workspaceId) })
  expect(tool.alerts).toEqual(body.alerts)
})
