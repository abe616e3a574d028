import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type Browser, fieldIn, type Page } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { type House, openHouse } from "../house.ts"
import { type Sharing, sharing } from "../sharing/share-scene.ts"
import { tellAlerts } from "../writes/told-alerts.ts"
import { ownerOf } from "./app-scene.ts"

setDefaultTimeout(60_000)

let house: House
let tea: Sharing
let owner: Browser
let base: string

beforeAll(async () => {
  house = openHouse({ sql: await freshDatabase() })
  tea = await sharing(house, { name: "Tea <Timer>", keywords: ["tea"] })
  owner = await ownerOf(house, tea.writer.workspace)
  base = `/app/apps/${tea.app}`
})

/** Sends a page's form. Returns the page of the preview. */
async function previewOf(on: string, action: string, fields: Record<string, string>): Promise<Page> {
  const form = fieldIn(await owner.open(on), "form") as string
  return await owner.send("/app/write", { form, action, back: on, ...fields })
}

async function confirmOf(preview: Page): Promise<Page> {
  const fields = ["form", "back", "confirmToken"].map((name) => [name, fieldIn(preview, name) as string])
  return await owner.send("/app/write", Object.fromEntries(fields))
}

const tracked = async () =>
  (await house.sql<{ term: string }[]>`select term from tracked_term where app_id = ${tea.app} order by position`).map(
    ({ term }) => term,
  )

describe("a write from a page", () => {
  test("a write is previewed, and confirmed once by the preview's own form only", async () => {
    const preview = await previewOf(`${base}/edit`, "add_keywords", {
      appId: tea.app,
      keywords: "green tea\r\n oolong ,tea",
    })
    expect([preview.status, preview.text.includes("Make this change?")]).toEqual([200, true])
    expect(preview.text).toContain("green tea")
    expect(await tracked()).toEqual(["tea"])
    const done = await confirmOf(preview)
    expect([done.status, done.headers.get("location")]).toEqual([303, `${base}/edit`])
    expect(await tracked()).toEqual(["tea", "green tea", "oolong"])
    const again = await confirmOf(preview)
    expect([again.status, again.text.includes("<h1>Not here</h1>")]).toEqual([400, true])
  })

  test("pages can remove keywords, add an app by its link, and share a page with an address shown once", async () => {
    const away = await previewOf(`${base}/edit`, "remove_keywords", { appId: tea.app, keywords: "oolong" })
    expect(away.text).toContain("takes something away")
    await confirmOf(away)
    expect(await tracked()).toEqual(["tea", "green tea"])
    const shared = await confirmOf(
      await previewOf(`${base}/edit`, "create_share_link", { appId: tea.app, country: "us", days: "3", password: "" }),
    )
    const [, path] = /href="[^"]*(\/share\/[^"]+)"/.exec(shared.text) ?? []
    expect([(await owner.open(path as string)).status, shared.text.includes("not shown again")]).toEqual([200, true])
    const app = await confirmOf(
      await previewOf("/app/add", "add_app", {
        app: "https://play.google.com/store/apps/details?id=com.example.kettle&hl=en",
        countries: "us, gb",
        keywords: "",
      }),
    )
    expect(app.headers.get("location")).toMatch(/^\/app\/apps\/app_\w+$/)
    const { text } = await owner.open(app.headers.get("location") as string)
    expect(text).toContain("com.example.kettle")
  })

  test("pages can mark alerts as read, and create and delete delivery rules", async () => {
    const page = await owner.open("/app/alerts")
    expect(page.text).not.toContain("Mark all as read")
    await tellAlerts(house.sql, [{ workspace: tea.writer.workspace, app: tea.app }])
    expect((await owner.open("/app/alerts")).text).toContain("Mark all as read")
    const made = await confirmOf(
      await previewOf("/app/alerts", "create_alert_rule", {
        type: "rank_drop",
        dropBy: "7",
        keywordScope: "tagged",
        rivalScope: "",
      }),
    )
    expect(made.headers.get("location")).toBe("/app/alerts")
    expect((await owner.open("/app/alerts")).text).toContain("falls of 7 places or more · tagged keywords alone")
    const wrong = await previewOf("/app/alerts", "create_alert_rule", {
      type: "rank_drop",
      dropBy: "",
      keywordScope: "",
      rivalScope: "manual",
    })
    expect([wrong.status, wrong.text.includes("takes no rivalScope")]).toEqual([400, true])
    await confirmOf(await previewOf("/app/alerts", "delete_alert_rule", { type: "rank_drop" }))
    expect((await owner.open("/app/alerts")).text).toContain("Nothing is delivered")
    const marked = await confirmOf(await previewOf("/app/alerts", "mark_alerts_read", {}))
    expect(marked.status).toBe(303)
    expect((await owner.open("/app/alerts")).text).not.toContain("Mark all as read")
  })
})

describe("limits of writes from pages", () => {
  test("a forged or unoffered write is refused, and a foreign return address is replaced", async () => {
    const form = fieldIn(await owner.open(`${base}/edit`), "form") as string
    const fields = { action: "add_keywords", appId: tea.app, keywords: "stolen", back: "/app" }
    expect((await owner.send("/app/write", { ...fields, form: "guessed" })).status).toBe(403)
    expect((await owner.send("/app/write", fields)).status).toBe(403)
    expect((await owner.send("/app/write", { ...fields, form, action: "pause_campaign" })).status).toBe(400)
    for (const back of ["https://evil.example/", "//evil.example", "/sign-in", "/application"])
      expect(fieldIn(await owner.send("/app/write", { ...fields, form, back }), "back")).toBe("/app")
    expect(await tracked()).not.toContain("stolen")
  })

  test("a write cannot reach another workspace's app or confirm another workspace's token", async () => {
    const coffee = await sharing(house, { name: "Coffee", keywords: ["espresso"] })
    const preview = await previewOf(`${base}/edit`, "add_keywords", { appId: coffee.app, keywords: "mine" })
    expect([preview.status, preview.text.includes("Coffee")]).toEqual([404, false])
    const form = fieldIn(await owner.open(`${base}/edit`), "form") as string
    const confirmToken = await coffee.writer.token("add_keywords", { appId: coffee.app, keywords: ["latte"] })
    const stolen = await owner.send("/app/write", { form, confirmToken, back: "/app" })
    expect(stolen.status).toBe(400)
  })

  test("the sample offers no write", async () => {
    for (const page of ["/app/sample/alerts", "/app/sample/apps/app_lumenjournal/edit", "/app/sample/add"])
      expect((await owner.open(page)).text).not.toContain('method="post"')
  })
})
