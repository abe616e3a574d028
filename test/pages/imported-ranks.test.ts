import { beforeAll, expect, test } from "bun:test"
import { storeImportedRanks } from "../../src/keywords/store/imported-ranks.ts"
import { freshDatabase } from "../database.ts"
import { record } from "../record.ts"
import { openService } from "../service.ts"
import { dayAgo, daysAgo } from "../world/clock.ts"
import { searchReading } from "../world/readings.ts"
import { trackOwn } from "../world/tracked.ts"
import { ownerOf } from "./app-scene.ts"

const STORE_ID = "1200000001"

let page: (path: string) => Promise<string>
let app: string

beforeAll(async () => {
  const sql = await freshDatabase()
  const service = openService({ sql, now: () => new Date() })
  const workspaceId = await service.workspace({ plan: "pro" })
  app = await trackOwn(sql, { workspaceId, iosId: STORE_ID, keywords: ["tides", "surf"] })
  const { recorded } = await record(sql, [searchReading("tides", daysAgo(1), ["1200000002", STORE_ID])])
  expect(recorded).toBe(1)
  const source = { appId: app, platform: "ios" as const, tool: "App<b>Tweak", file: "ranks.csv", now: new Date() }
  const ranks = ["tides", "surf"].flatMap((term) =>
    [9, 8, 1].map((ago) => ({ storefront: "us", term, day: dayAgo(ago), rank: 40 + ago })),
  )
  await storeImportedRanks(sql, source, ranks)
  const browser = await ownerOf(service, workspaceId)
  page = async (path) => (await browser.open(path)).text
})

test("a keyword's page draws imported ranks as a separate line beside this instance's readings", async () => {
  const text = await page(`/app/apps/${app}/ranks?terms=tides&at=us-ios`)
  expect(text).toContain("<bdi>tides, imported from App&lt;b&gt;Tweak</bdi>")
  const row = new RegExp(`<tr><th scope="row"><time datetime="${dayAgo(1)}".*?</tr>`, "s").exec(text)?.[0] ?? ""
  expect(row).toContain(">2<")
  expect(row).toContain("41")
  expect(text).toContain("Imported ranks were measured by another tool")
})

test("a keyword with only imported ranks has their line on its page, but no rank in the keyword list", async () => {
  expect(await page(`/app/apps/${app}/ranks?terms=surf&at=us-ios`)).toContain("surf, imported from App&lt;b&gt;Tweak")
  expect(await page(`/app/apps/${app}`)).not.toContain("Tweak")
})
