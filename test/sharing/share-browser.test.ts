import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { hash } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { chromiumBinary, openTab, type Tab } from "../pages/browser.ts"
import { openService, type Service } from "../service.ts"
import { readPage, type Sharing, sharing } from "./share-scene.ts"

setDefaultTimeout(60_000)

const binary = chromiumBinary()

// without a browser these tests cannot run
if (binary) inBrowser(binary)
else
  test("shared pages are not tested in a browser, because Chromium is not installed", () => expect(binary).toBeNull())

function inBrowser(binary: string) {
  describe("in a browser", () => {
    let sql: Sql
    let service: Service
    let server: Bun.Server<undefined>
    let tab: Tab
    let scene: Sharing

    beforeSlow(async () => {
      sql = await freshDatabase()
      service = openService({ sql })
      server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: (request) => service.app.fetch(request, "127.0.0.1"),
      })
      scene = await sharing(service, {
        name: 'Tea "Timer" <i>',
        keywords: ["tea", "green tea", "a long keyword ".repeat(9).trim()],
      })
      for (const [ago, rank] of [
        [9, 30],
        [8, 20],
        [6, 12],
        [1, 0],
        [0, 4],
      ] as const)
        await scene.measure("tea", ago, rank)
      await scene.measure("green tea", 0, 0)
      await readPage(service, scene.iosId)
      tab = await openTab(binary)
    })
    afterSlow(async () => {
      await tab.close()
      await server.stop(true)
    })
    // at most five tries per minute and address are allowed, so earlier tries are deleted
    beforeEach(async () => {
      await sql`delete from secret_try`
    })

    const at = (path: string) => `${server.url.origin}${path}`
    const text = () => tab.value<string>("document.body.innerText")
    const type = (password: string) =>
      tab.leave(
        `document.querySelector("input").value = ${JSON.stringify(password)}; ` +
          `document.querySelector("form").requestSubmit()`,
      )

    slow("a wrong password is reported, and the right password opens the page only in that browser", async () => {
      const { path } = await scene.share({ password: "open sesame" })
      await tab.show(1_000, 800)
      await tab.open(at(path))
      expect(await text()).toContain("This page has a password")
      await type("wrong")
      expect(await text()).toContain("That is not the password.")
      expect(await text()).not.toContain("Timer")
      await type("open sesame")
      expect(await text()).toContain('Tea "Timer" <i>')
      expect(await tab.value<number>("document.querySelectorAll('svg.chart').length")).toBe(2)
      expect(await tab.cookies()).toMatchObject([{ name: "unlocked", path, httpOnly: true }])
      await tab.open(at(path))
      expect(await text()).toContain('Tea "Timer" <i>')
      await tab.forget()
      await tab.open(at(path))
      expect(await text()).toContain("This page has a password")
      for (let i = 0; i < 5; i++) {
        await tab.open(at(path))
        await type("wrong again")
      }
      await tab.open(at(path))
      await type("open sesame")
      expect(await text()).toContain("Too many passwords were tried")
    })

    slow("an expired link shows that nothing is shared", async () => {
      const { path, token } = await scene.share()
      await tab.open(at(path))
      expect(await text()).toContain("App Store")
      await sql`
        update share_link
        set expires_at = now(), created_at = now() - interval '1 day'
        where sha256 = ${hash("sha256", token, "buffer")}`
      await tab.open(at(path))
      expect(await text()).toContain("Nothing is shared here")
    })

    slow("a shared page stays unchanged after a new rank was measured", async () => {
      const ownScene = await sharing(service, { keywords: ["white tea"] })
      await ownScene.measure("white tea", 1, 5)
      const { path } = await ownScene.share()
      await tab.open(at(path))
      const before = await text()
      expect(before).toMatch(/white tea\s+5/)
      await ownScene.measure("white tea", 0, 1)
      await tab.open(at(path))
      expect(await text()).toBe(before)
    })

    slow("a shared page fits a phone and a wide screen, and has enough contrast in light and dark mode", async () => {
      const { path } = await scene.share()
      const colours = new Set<string>()
      for (const [width, scheme] of [
        [360, "light"],
        [360, "dark"],
        [1_280, "light"],
      ] as const) {
        await tab.show(width, 800, scheme)
        await tab.open(at(path))
        expect(await tab.value<number>("document.documentElement.scrollWidth")).toBe(width)
        const [background, ink] = await tab.value<[string, string]>(
          "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]",
        )
        expect(contrast(background, ink)).toBeGreaterThan(7)
        colours.add(background)
        const quiet = await tab.value<string>("getComputedStyle(document.querySelector('caption')).color")
        expect(contrast(background, quiet)).toBeGreaterThan(4.5)
      }
      expect(colours.size).toBe(2)
    })

    slow("on a phone, the table's column headings stay on one line even with long keywords", async () => {
      const ownScene = await sharing(service, { keywords: ["a long keyword ".repeat(9).trim(), "x".repeat(60)] })
      const { path } = await ownScene.share()
      await tab.show(360, 800)
      await tab.open(at(path))
      expect(await text()).toContain("Not measured")
      const heights = await tab.value<number[]>(
        "[...document.querySelectorAll('thead th')].map((word) => word.getBoundingClientRect().height)",
      )
      expect(heights).toHaveLength(3)
      expect(Math.max(...heights)).toBeLessThan(40)
      expect(await tab.value<number>("document.documentElement.scrollWidth")).toBe(360)
    })

    slow("a screen reader gets landmarks, headings, table headers and descriptions of the charts", async () => {
      const { path } = await scene.share()
      await tab.open(at(path))
      const roles = await tab.roles()
      const named = (of: string) => roles.filter(({ role }) => role === of).map(({ name }) => name)
      for (const landmark of ["banner", "main", "contentinfo"])
        expect([landmark, named(landmark).length]).toEqual([landmark, 1])
      expect(named("heading")).toEqual([
        'Tea "Timer" <i>',
        "App Store",
        "Ranks",
        "Ranks over time",
        "Page on App Store",
      ])
      expect(named("columnheader").slice(0, 3)).toEqual(["Keyword", "Rank", "Change"])
      expect(named("rowheader")).toContain("green tea")
      expect(named("table")[0]).toStartWith("App Store: rank of each keyword.")
      expect(named("image")[0]).toContain(
        "Rank of “tea” over time Measured on 5 of 14 days, absent on 1; ranks 4 to 30.",
      )
    })

    slow("shared pages load nothing from other hosts and cause no errors", async () => {
      expect(tab.requests.length).toBeGreaterThan(10)
      expect(tab.requests.filter((url) => !url.startsWith(server.url.origin) && !url.startsWith("data:"))).toEqual([])
      expect(await tab.cookies()).toEqual([])
      // browsers log every response with an error status
      const status = /^error: Failed to load resource: the server responded with a status of (403|404|429) /
      expect(tab.complaints.filter((text) => !status.test(text))).toEqual([])
    })

    slow("the content security policy blocks an injected script, remote picture and inline style", async () => {
      const before = tab.requests.length
      await tab.value(`
        const injected = '<img src="https://example.com/a.png"><p id="p" style="color: red">p</p>';
        document.body.insertAdjacentHTML("beforeend", injected);
        const script = document.createElement("script");
        script.textContent = "globalThis.ran = true";
        document.body.append(script)`)
      await Bun.sleep(200)
      expect(await tab.value("globalThis.ran === undefined")).toBe(true)
      expect(await tab.value("getComputedStyle(document.getElementById('p')).color")).not.toBe("rgb(255, 0, 0)")
      expect(tab.requests.slice(before)).toEqual([])
    })
  })
}

/** Returns the WCAG 2.2 contrast of two colours such as "rgb(1, 2, 3)". */
function contrast(color: string, background: string): number {
  const [low, high] = [luminance(color), luminance(background)].sort((a, b) => a - b) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

function luminance(colour: string): number {
  const [red, green, blue] = [...colour.matchAll(/\d+/g)].map(([value]) => {
    const part = Number(value) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
