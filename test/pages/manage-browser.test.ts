import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { createCode } from "../../src/access/sign-in/code.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { LONG } from "../long.ts"
import { answerSearches, lookupAnswer, type ShownApp, someApps } from "../measuring/store-pages.ts"
import { type LiveStores, liveStores } from "../world/stores.ts"
import { chromiumBinary, openTab, type Tab } from "./browser.ts"

setDefaultTimeout(240_000)

const binary = chromiumBinary()

const TIDE: ShownApp = { id: "1200000002", name: "Tide <Clock>", ratings: 4_321 }
const RIVAL: ShownApp = { id: "1200000003", name: "Moon Phase", ratings: 99 }

/** One width runs in the short run. */
const WIDTHS = LONG ? [390, 1_280] : [390]

describe.skipIf(binary === null)("the work of a new workspace, without the terminal", () => {
  let sql: Sql
  let on: LiveStores
  let server: ReturnType<typeof Bun.serve>
  let tab: Tab

  beforeAll(async () => {
    sql = await freshDatabase()
    on = await liveStores(sql)
    answerSearches(on.stores, { apps: [RIVAL, TIDE, ...someApps(20)], suggests: ["tide times"] })
    on.stores.on("itunes.apple.com", "/search", () => lookupAnswer([TIDE, RIVAL]))
    server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => on.house.app.fetch(request, "127.0.0.1"),
    })
    tab = await openTab(binary as string)
  })
  afterAll(async () => {
    await tab.close()
    await server.stop(true)
    await on[Symbol.asyncDispose]()
  })

  const path = () => tab.value<string>("location.pathname")
  const text = () => tab.value<string>("document.querySelector('main').innerText")
  const click = (selector: string) => tab.leave(`document.querySelector(${JSON.stringify(selector)}).click()`)
  const press = (name: string) => {
    const buttons = `[...document.querySelectorAll("main button, main a")]`
    return tab.leave(`${buttons}.find((one) => one.textContent.trim() === ${JSON.stringify(name)}).click()`)
  }
  const fill = (name: string, value: string) =>
    tab.value(`document.querySelector('main [name="${name}"]:not([type=checkbox])').value = ${JSON.stringify(value)}`)
  const tick = (name: string) => tab.value(`document.querySelector('main [name="${name}"]').click()`)

  for (const width of WIDTHS)
    test(`at ${width} pixels, an app is added by name, edited with undo, and removed`, async () => {
      await tab.show(width, 900)
      const workspace = await on.house.workspace({ plan: "pro" })
      await tab.open(`${server.url.origin}/sign-in?code=${await createCode(sql, workspace)}`)
      await click("main button")
      expect(await text()).toContain("No app is tracked yet")

      await fill("q", "Tide Clock")
      await press("Find app")
      expect(await text()).toContain("Tide <Clock>")
      expect(await text()).toContain("Maker of Tide <Clock>")
      await press("Choose")
      await fill("keywords", "tide times\nhigh water, tides")
      await press("Preview")
      expect(await text()).toContain("Keywords")
      expect(await text()).toContain("tide times, high water, tides")
      await press("Add app")
      expect(await text()).toContain("App added.")

      const app = (await path()).split("/").at(-1) as string
      const page = `${server.url.origin}/app/apps/${app}`
      const until = Date.now() + 60_000
      const isReading = () => tab.value<boolean>("document.querySelector('[data-reading]') !== null")
      while ((await isReading()) && Date.now() < until) await tab.open(page)
      expect(await tab.value<string>("document.querySelector('tbody .rank').textContent")).toBe("2")

      await tick("terms")
      expect(await tab.value<boolean>("document.querySelector('.picked').checkVisibility()")).toBe(true)
      await fill("tag", "core")
      await press("Add tag")
      expect(await text()).toContain("Tag “core” added to 1 keyword.")
      const count = () => tab.value<number>("document.querySelectorAll('tbody tr').length")
      await tick("terms")
      await press("Remove")
      expect([(await text()).includes("1 keyword removed."), await count()]).toEqual([true, 2])
      await press("Undo")
      expect([(await text()).includes("Undone."), await count()]).toEqual([true, 3])

      await tab.open(`${page}/rivals`)
      await fill("rivals", `https://apps.apple.com/us/app/moon-phase/id${RIVAL.id}`)
      await press("Add rivals")
      expect(await text()).toContain("1 rival added.")
      expect(await text()).toContain("added by you")

      await sql`update workspace set approve_outside = '{all}' where id = ${workspace}`
      const key = await on.house.key(workspace)
      const body = { action: "add_keywords", args: { appId: app, keywords: ["spring tide"] } }
      await on.house.call("/v1/actions", { key, method: "POST", body })
      await tab.open(`${server.url.origin}/app/changes`)
      expect(await text()).toContain("spring tide")
      await press("Approve")
      expect(await text()).toContain("Nothing is waiting")

      await sql`update workspace set approve_outside = '{}' where id = ${workspace}`
      await tab.open(`${page}/edit`)
      await press("Remove app")
      await press("Remove app")
      expect(await text()).toContain("App removed.")
      expect(tab.complaints).toEqual([])
      await tab.forget()
    })
})
