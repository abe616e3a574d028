import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { getApp, listApps } from "../../../src/overview/operations/apps.ts"
import { removeApp } from "../../../src/tracking/apps.ts"
import { addTerms, removeTerms } from "../../../src/tracking/terms.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

test("apps are listed oldest first with their keywords in order, and only the workspace's own", async () => {
  const [workspace, other] = [await newWorkspace(sql), await newWorkspace(sql)]
  const track = (workspaceId: number, iosId: string, rest: object = {}) =>
    trackOwn(sql, { workspaceId, iosId, keywords: ["tea"], ...rest })
  const first = await track(workspace, "10001", {
    name: "One",
    countries: ["DE", "us"],
    keywords: ["tea", "Mate", "tea", "a"],
  })
  const two = await track(workspace, "10002")
  await track(other, "10001")
  const { apps } = await ask(listApps, contextOf(sql, workspace))
  expect(apps.map(({ id }: { id: string }) => id)).toEqual([first, two])
  expect(apps[0]).toEqual({
    id: first,
    name: "One",
    icon: null,
    iosId: "10001",
    androidPkg: null,
    bundleId: null,
    countries: ["de", "us"],
    keywords: ["tea", "mate", "a"],
    keywordsByCountry: { de: ["tea", "mate", "a"], us: ["tea", "mate", "a"] },
    manualRivals: null,
    keywordTags: null,
    buriedKeywords: null,
    goal: null,
    tasksDone: null,
  })
  expect(apps[1].name).toBe("10002")
})

test("a workspace without apps lists none", async () => {
  expect(await ask(listApps, contextOf(sql, await newWorkspace(sql)))).toEqual({ apps: [] })
})

slow("concurrent calls each list the apps of their own key, with every change made before the call", async () => {
  const service = openService({ sql })
  const callers = await Promise.all(
    Array.from({ length: 6 }, async (_, n) => {
      const workspaceId = await service.workspace({ plan: "pro" })
      const apps: string[] = []
      for (const iosId of ["10001", "10002"]) {
        const app = { workspaceId, iosId, countries: ["us"], keywords: ["tea"], origin: "own" as const }
        apps.push(await trackOwn(sql, app))
      }
      const limited = n % 2 === 1
      const key = await service.key(workspaceId, limited ? { appList: [apps[1]!] } : {})
      return { key, apps: limited ? [apps[1]!] : apps }
    }),
  )
  await Promise.all(
    callers.map(async ({ key, apps }) => {
      for (const [at, term] of ["mate", "matcha"].entries()) {
        await sql.begin((tx) => addTerms(tx, apps[0]!, "all", [term]))
        const answers = await Promise.all([1, 2, 3].map(() => service.call("/v1/apps", { key })))
        for (const { body } of answers) {
          expect(body.apps.map(({ id }: { id: string }) => id)).toEqual(apps)
          expect(body.apps[0].keywords).toEqual(["tea", "mate", "matcha"].slice(0, at + 2))
        }
        expect(Math.max(...answers.map(({ credits }) => credits.used))).toBe(3 * (at + 1))
      }
    }),
  )
})

test("a removed keyword and a removed app disappear from the list immediately", async () => {
  const workspaceId = await newWorkspace(sql)
  const track = (iosId: string) => trackOwn(sql, { workspaceId, iosId, keywords: ["tea", "mate"] })
  const [first, second] = [await track("10001"), await track("10002")]
  const listed = async () => (await ask(listApps, contextOf(sql, workspaceId))).apps
  expect(await listed()).toMatchObject([{ keywords: ["tea", "mate"] }, { keywords: ["tea", "mate"] }])
  await sql.begin((tx) => removeTerms(tx, second, "all", ["tea"]))
  expect(await listed()).toMatchObject([{ keywords: ["tea", "mate"] }, { keywords: ["mate"] }])
  await sql.begin((tx) => removeApp(tx, first))
  expect(await listed()).toMatchObject([{ id: second, keywords: ["mate"] }])
})

test("the snapshot contains the latest day of each storefront and store, with the figures of that day", async () => {
  const workspaceId = await newWorkspace(sql)
  const appId = await trackOwn(sql, {
    workspaceId,
    iosId: "10001",
    androidPkg: "com.example.tea",
    countries: ["us", "de"],
    keywords: ["tea", "mate", "coffee", "cocoa", "milk"],
  })
  const otherIds = (count: number) => Array.from({ length: count }, (_, i) => 20_000 + i)
  await record(
    sql,
    [
      reading("milk", "2025-11-18T10:00:00Z", [10001]),
      reading("tea", "2025-11-19T10:00:00Z", [...otherIds(2), 10001]),
      reading("mate", "2025-11-19T11:00:00Z", [...otherIds(3), 10001]),
      reading("coffee", "2025-11-19T09:00:00Z", [...otherIds(10), 10001]),
      reading("cocoa", "2025-11-19T09:00:00Z", otherIds(4)),
      reading("tea", "2025-11-17T10:00:00Z", ["com.example.tea"], { platform: "android", source: "play-search" }),
    ],
    () => NOW,
  )
  const { snapshot } = await ask(getApp, contextOf(sql, workspaceId), { appId })
  const never = { day: null, measuredAt: null, tracked: 5, measured: 0, ranked: 0, top3: 0, top10: 0, best: null }
  expect(snapshot).toEqual([
    {
      country: "us",
      platform: "ios",
      day: "2025-11-19",
      measuredAt: "2025-11-19T11:00:00.000Z",
      tracked: 5,
      measured: 4,
      ranked: 3,
      top3: 1,
      top10: 2,
      best: 3,
    },
    {
      country: "us",
      platform: "android",
      day: "2025-11-17",
      measuredAt: "2025-11-17T10:00:00.000Z",
      tracked: 5,
      measured: 1,
      ranked: 1,
      top3: 1,
      top10: 1,
      best: 1,
    },
    { country: "de", platform: "ios", ...never },
    { country: "de", platform: "android", ...never },
  ])
})
