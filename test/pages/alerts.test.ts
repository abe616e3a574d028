import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type Member, memberOf } from "../access/people/scene.ts"
import { fieldIn } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"
import { readCsv } from "../sharing/read-csv.ts"
import { newStoreId, trackOwn } from "../world/app.ts"
import { tellAlerts, unreadOf } from "../writes/feed-alerts.ts"
import { someWriter } from "../writes/writer.ts"

setDefaultTimeout(60_000)

let service: Service
let workspace: number
let owner: Member
let tea: string
let mate: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  workspace = (await someWriter(service)).workspace
  owner = await memberOf(service, workspace, "owner")
  const track = (name: string) =>
    trackOwn(service.sql, { workspaceId: workspace, iosId: newStoreId(), name, keywords: ["tea"] })
  tea = await track("Tea <Timer>")
  mate = await track("=Mate")
  const alert = (app: string, day: number, read = false) => {
    return { workspace, app, at: `2025-11-0${day}T10:00:00Z`, read }
  }
  await tellAlerts(service.sql, [alert(tea, 1), alert(tea, 2, true), alert(mate, 3), alert(mate, 4)])
})

const page = async (query: string) => (await owner.browser.open(`/app/alerts${query}`)).text
/** Returns the app and day of each event. */
const events = async (query: string) => {
  const items = (await page(query)).split('class="event"').slice(1)
  return items.map((item) => `${item.includes("Mate") ? "mate" : "tea"} ${/datetime="([^"]+)"/.exec(item)?.[1]}`)
}

describe("the alerts page", () => {
  test("the feed is filtered by app, type, time and read state, and invalid filters are ignored", async () => {
    const all = ["mate 2025-11-04", "mate 2025-11-03", "tea 2025-11-02", "tea 2025-11-01"]
    expect(await events("")).toEqual(all)
    expect(await events(`?app=${tea}`)).toEqual(all.slice(2))
    expect(await events("?unread=true")).toEqual([all[0]!, all[1]!, all[3]!])
    expect(await events("?since=2025-11-03")).toEqual(all.slice(0, 2))
    expect(await events("?type=entered")).toEqual(all)
    expect(await page("?type=rank_drop")).toContain("No such alert")
    expect(await events("?app=app_none&type=nothing&since=2025-02-30&unread=maybe")).toEqual(all)
  })

  test("an event links to its keyword, and names of apps are escaped", async () => {
    const text = await page(`?app=${tea}`)
    expect(text).toContain(`<a class="event" href="/app/apps/${tea}/ranks?terms=tea&amp;at=us-ios">`)
    expect(text).toContain(`<option value="${tea}" selected="">Tea &lt;Timer&gt;</option>`)
    expect(text).not.toContain("<Timer>")
  })

  test("the filtered alerts are available as CSV, and a cell that looks like a formula is neutralised", async () => {
    const { text, headers } = await owner.browser.open(`/app/alerts?app=${mate}&since=2025-11-04&as=csv`)
    expect(headers.get("content-disposition")).toContain("alerts.csv")
    const [head, ...rows] = readCsv(text.replace("\uFEFF", "")) as string[][]
    expect(head?.slice(0, 4)).toEqual(["day", "at", "appName", "type"])
    expect(rows.map((row) => row.slice(0, 4))).toEqual([
      ["2025-11-04", "2025-11-04T10:00:00.000Z", "'=Mate", "entered"],
    ])
  })

  test("older alerts are on a second page, and that page links to the newest alerts", async () => {
    const many = await trackOwn(service.sql, { workspaceId: workspace, iosId: newStoreId(), name: "Many" })
    const alert = { workspace, app: many, at: "2025-10-01T10:00:00Z", read: true }
    await tellAlerts(service.sql, Array(101).fill(alert))
    const first = await page(`?app=${many}`)
    expect(first).toContain("<summary>100 alerts</summary>")
    const older = /href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll("&amp;", "&") as string
    const { text } = await owner.browser.open(older)
    expect([text.split('class="event"').length - 1, text.includes(">Newest</a>"), text.includes('rel="next"')]).toEqual(
      [1, true, false],
    )
    const cursor = new URL(older, "http://here").searchParams.get("after")
    expect(await page(`?app=${tea}&after=${cursor}`)).toContain(">Newest</a>")
  })

  test("only the alerts of the chosen app are marked as read", async () => {
    const before = await unreadOf(service.sql, workspace)
    const formPage = await owner.browser.open(`/app/alerts?app=${mate}`)
    const names = ["form", "back", "until", "about"]
    const fields = Object.fromEntries(names.map((name) => [name, fieldIn(formPage, name) as string]))
    const { status } = await owner.browser.send("/app/write", { ...fields, action: "mark_alerts_read" })
    expect([status, before.length, (await unreadOf(service.sql, workspace)).length]).toEqual([303, 3, 1])
    expect(await events("?unread=true")).toEqual(["tea 2025-11-01"])
  })
})
