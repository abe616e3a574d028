import { describe, expect, setDefaultTimeout } from "bun:test"
import { createCode } from "../../src/access/sign-in/code.ts"
import { freshDatabase } from "../database.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { openService } from "../service.ts"
import { type Sharing, sharing } from "../sharing/share-scene.ts"
import { chromiumBinary, openTab, type Tab } from "./browser.ts"

setDefaultTimeout(120_000)

const binary = chromiumBinary()

describe.skipIf(binary === null)("/app in a browser", () => {
  let server: ReturnType<typeof Bun.serve>
  let tab: Tab
  let tea: Sharing
  let at: (path: string) => string

  beforeSlow(async () => {
    const sql = await freshDatabase()
    const service = openService({ sql })
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => service.app.fetch(request, "127.0.0.1") })
    at = (path) => `${server.url.origin}${path}`
    tea = await sharing(service, { name: "Tea", keywords: ["tea", "green tea"] })
    for (const [day, rank] of [
      [2, 9],
      [1, 6],
      [0, 4],
    ] as const)
      await tea.measure("tea", day, rank)
    tab = await openTab(binary as string)
    await tab.show(1_280, 900)
    await tab.open(at(`/sign-in?code=${await createCode(sql, tea.writer.workspace)}`))
    await tab.leave("document.querySelector('main button').click()")
  })
  afterSlow(async () => {
    await tab.close()
    await server.stop(true)
  })

  const path = () => tab.value<string>("location.pathname + location.search")

  slow("the sign-in link leads to the app's rank in two clicks", async () => {
    expect(await path()).toBe("/app")
    await tab.leave(`document.querySelector('.apps a[href$="${tea.app}"]').click()`)
    expect(await path()).toBe(`/app/apps/${tea.app}`)
    expect(await tab.value("document.querySelector('tbody .rank').textContent")).toBe("4")
  })

  slow("the dashboard works by keyboard, with a visible focus and without a keyboard trap", async () => {
    await tab.open(at(`/app/apps/${tea.app}`))
    // a selected row shows the toolbar
    await tab.value("document.querySelector('[name=terms]').click()")
    await tab.value("document.activeElement.blur()")
    const stops: string[] = []
    for (let press = 0; press < 60; press++) {
      await tab.press("Tab")
      const stop = await tab.value<string>(`(() => {
        const focused = document.activeElement
        if (focused === document.body) return ""
        const isOutlined = (part) => getComputedStyle(focused, part).outlineStyle !== "none"
        const text = (focused.textContent || focused.name).replace(/\\s+/g, " ")
        const label = focused.tagName + " " + text.trim().slice(0, 20)
        return (isOutlined() || isOutlined("::after") ? "" : "unseen ") + label
      })()`)
      if (stop === "") break
      stops.push(stop)
    }
    expect(stops.filter((stop) => stop.startsWith("unseen"))).toEqual([])
    expect(stops[0]).toBe("A Skip to the text")
    for (const stop of ["A Reviews", "SELECT All Up or enteredDown", "A 4", "BUTTON Compare"])
      expect(stops.map((text) => text.slice(0, 27))).toContain(stop.slice(0, 27))
    await tab.value("document.querySelector('tbody .rank').focus()")
    await tab.press("Enter")
    expect(await path()).toBe(`/app/apps/${tea.app}/evidence?term=tea&at=us-ios`)
  })

  slow("the keyword filter works while typing, and through its address when scripts are disabled", async () => {
    await tab.open(at(`/app/apps/${tea.app}`))
    const countVisible = "[...document.querySelectorAll('#keywords tbody tr')].filter((row) => !row.hidden).length"
    expect(await tab.value<number>(countVisible)).toBe(2)
    const type =
      "const field = document.querySelector('[name=find]'); field.value = 'green'; " +
      "field.dispatchEvent(new Event('input'))"
    await tab.value(`(() => { ${type} })()`)
    expect(await tab.value<number>(countVisible)).toBe(1)
    await tab.scripts(false)
    await tab.open(at(`/app/apps/${tea.app}?find=green`))
    expect(await tab.value<number>(countVisible)).toBe(1)
    await tab.scripts(true)
  })

  slow("the dashboard requests no other host and logs no errors", async () => {
    for (const page of ["/app", "/app/alerts", `/app/apps/${tea.app}/ranks?terms=tea`, "/app/sample"])
      await tab.open(at(page))
    expect(
      tab.requests.filter((url) => !url.startsWith(server.url.origin) && !/^(?:data:|about:|chrome)/.test(url)),
    ).toEqual([])
    expect(tab.complaints).toEqual([])
  })
})
