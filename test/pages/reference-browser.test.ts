import { describe, expect } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import { prepareSandbox } from "../../src/http/sandbox.ts"
import { freshDatabase } from "../database.ts"
import { afterSlow, beforeSlow, cases, long, slow } from "../long.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { chromiumBinary, openTab, type Tab } from "./browser.ts"

const binary = chromiumBinary()
const { samples } = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), PUBLIC_URL)
const reads = catalog.filter(({ method }) => method === "GET")

// without a browser these tests cannot run
if (binary === null)
  slow("the reference is not tested in a browser, because Chromium is not installed", () => expect(binary).toBeNull())
else
  describe("the reference in a browser", () => {
    let service: Service
    let server: ReturnType<typeof Bun.serve>
    let tab: Tab
    let origin: string

    beforeSlow(async () => {
      service = openService({ sql: await freshDatabase() })
      server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: (request) => service.app.fetch(request, "127.0.0.1"),
      })
      origin = `http://127.0.0.1:${server.port}`
      tab = await openTab(binary)
      await tab.show(1_200, 900)
      await tab.open(`${origin}/docs`)
    })

    afterSlow(async () => {
      await tab.close()
      await server.stop(true)
    })

    slow("the form of every GET operation shows the sandbox's response", async () => {
      for (const { id } of reads.filter((_, at) => at % cases(12, 1) === 0)) {
        await openPageOf(id)
        const { summary, body } = await sent(id)
        expect(summary).toStartWith("200, answered /v1/sandbox/")
        const [headers = "", json = ""] = body.split("\n\n")
        for (const name of ["used", "limit", "remaining"]) expect(headers).toContain(`x-credits-${name}: 0`)
        expect(JSON.stringify(JSON.parse(json))).toBe(JSON.stringify(samples.get(id)?.answer))
      }
    })

    slow("every read operation has a form on the page of its toolset", async () => {
      for (const toolset of new Set(reads.map(({ toolset }) => toolset))) {
        await tab.open(`${origin}/docs/${toolset}`)
        const forms = await tab.value<string[]>(
          `[...document.querySelectorAll("form[data-path]")].map((form) => form.closest("section").id)`,
        )
        expect(forms).toEqual(reads.filter((read) => read.toolset === toolset).map(({ id }) => id))
      }
    })

    slow("a form sends its values encoded and shows the error code of a refused call", async () => {
      await openPageOf("list_keyword_ranks")
      await fill("list_keyword_ranks", "[data-path=appId]", "a/b c&d")
      expect((await sent("list_keyword_ranks")).summary).toBe("404, refused /v1/sandbox/apps/a%2Fb%20c%26d/keywords")
      await fill("list_keyword_ranks", "[data-path=appId]", "app_lumenjournal")
      await fill("list_keyword_ranks", "[data-name=country]", "zz")
      const { summary, body } = await sent("list_keyword_ranks")
      expect(summary).toBe("400, refused /v1/sandbox/apps/app_lumenjournal/keywords?country=zz")
      expect(body).toContain('"error": "bad_country"')
      // the browser itself logs a refused call; any other message is an error
      expect(tab.complaints.splice(0).every((line) => /status of 40[04]/.test(line))).toBe(true)
    })

    slow("markup in a form field is not executed", async () => {
      await openPageOf("search")
      await fill("search", "[name=q]", `<img src=x onerror="document.title='run'">`)
      expect((await sent("search")).summary).toStartWith("200, ")
      expect(await tab.value<string>("document.title")).toBe("Account and search: API reference · Appmeter")
      expect(await tab.value<number>("document.querySelectorAll('img').length")).toBe(0)
    })

    slow("the search shows matches as links while typing, and Escape removes them", async () => {
      await tab.open(`${origin}/docs/errors`)
      await tab.open(`${origin}/docs`)
      await fill(null, "#query", "REVIEWS search")
      const first = `document.querySelector("#found a")`
      await until(`${first} !== null`)
      expect(await tab.value<string>(`${first}.getAttribute("href")`)).toBe("/docs/reviews#search_reviews")
      expect(await tab.value<string>(`document.querySelector("#found p").textContent`)).toMatch(/^\d+ match/)
      await fill(null, "#query", "<b>nothing of the sort</b>")
      await until(`document.querySelector("#found p")?.textContent === "Nothing found"`)
      await tab.value(`document.querySelector("#query")
        .dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }))`)
      await until(`document.querySelector("#found").childElementCount === 0`)
      expect(await tab.value<string>(`document.querySelector("#query").value`)).toBe("")
    })

    slow("the search form leads to a page with the matches", async () => {
      await tab.open(`${origin}/docs/keywords`)
      await fill(null, "#query", "bad_country")
      await tab.leave(`document.querySelector("form.search button").click()`)
      expect(await tab.value<string>("location.pathname + location.search")).toBe("/docs/search?q=bad_country")
      expect(await tab.value<string>(`document.querySelector("main li a").getAttribute("href")`)).toBe(
        "/docs/errors#bad_country",
      )
    })

    slow(
      "an anchor of the former single page opens the new page, and an anchor of a field opens its table",
      async () => {
        await tab.open(`${origin}/docs#list_alerts`)
        await until(`location.href === ${JSON.stringify(`${origin}/docs/account#list_alerts`)}`)
        await tab.open(`${origin}/docs/errors`)
        await tab.open(`${origin}/docs/account#list_alerts.out.alerts.id`)
        expect(await tab.value<boolean>(`document.querySelector("#list_alerts .fields").open`)).toBe(true)
      },
    )

    slow("a form with a key calls this instance, and the key is stored nowhere", async () => {
      const secret = await service.key(await service.workspace())
      await openPageOf("whoami")
      await fill(null, "#key", secret)
      const { summary, body } = await sent("whoami")
      expect(summary).toBe("200, answered /v1/account")
      expect(body).toContain('"plan"')
      await tab.value(`document.querySelector("#asking [value=sandbox]").click()`)
      expect((await sent("whoami")).summary).toBe("200, answered /v1/sandbox/account")
      await fill(null, "#key", "")
      await tab.value(`document.querySelector("#asking [value=live]").click()`)
      await tab.value(`document.querySelector("#whoami form").querySelector("button").click()`)
      expect(await tab.value<string>("document.getElementById('asking-status').textContent")).toContain("Enter a key")
      await tab.value(`document.querySelector("#asking [value=sandbox]").click()`)
      expect(await tab.value<number>("localStorage.length + sessionStorage.length")).toBe(0)
      expect(tab.requests.filter((url) => url.includes(secret))).toEqual([])
    })

    long("every control has a name for screen readers, and the result of a call has the role status", async () => {
      await openPageOf("list_alerts")
      const forms = reads.filter(({ toolset }) => toolset === "account")
      for (const { id } of forms) await sent(id)
      const roles = await tab.roles()
      const controls = roles.filter(({ role }) => ["textbox", "combobox", "searchbox", "button", "link"].includes(role))
      expect(controls.length).toBeGreaterThan(forms.length * 2)
      expect(controls.filter(({ name }) => name.trim() === "")).toEqual([])
      expect(roles.filter(({ role }) => role === "status").length).toBeGreaterThanOrEqual(forms.length)
      expect(roles.some(({ role, name }) => role === "navigation" && name === "Contents")).toBe(true)
    })

    slow("on a phone, the reference with all sections open does not scroll sideways", async () => {
      await tab.show(360, 740)
      for (const path of ["/docs", "/docs/keywords", "/docs/writes", "/docs/search?q=rank", "/docs/errors"]) {
        await tab.open(`${origin}${path}`)
        await tab.value(`for (const part of document.querySelectorAll("details")) part.open = true`)
        expect([path, await tab.value<number>("document.documentElement.scrollWidth")]).toEqual([path, 360])
      }
      await tab.show(1_200, 900)
    })

    slow("selecting a programming language in one example selects it in all examples", async () => {
      const open = () =>
        tab.value<string[]>(
          `[...new Set([...document.querySelectorAll(".lines details[open] summary")].map((s) => s.textContent))]`,
        )
      await tab.open(`${origin}/docs/account`)
      expect(await open()).toEqual(["curl"])
      await tab.value(`document.querySelector("#search .lines details:last-child summary").click()`)
      expect(await open()).toEqual(["Python"])
    })

    slow("on a phone, the text starts near the top and the product name fits on one line", async () => {
      await tab.show(390, 800)
      await tab.open(`${origin}/docs`)
      expect(await tab.value<number>("document.querySelector('h1').getBoundingClientRect().top")).toBeLessThan(160)
      const brand = "document.querySelector('header .home').getBoundingClientRect()"
      expect(await tab.value<number>(`${brand}.height`)).toBeLessThan(32)
      await tab.show(1_200, 900)
      await tab.open(`${origin}/docs`)
    })

    slow("the reference requests no other host, logs no errors and sets no cookie", async () => {
      expect(tab.requests.length).toBeGreaterThan(reads.length / cases(4, 1))
      const beyond = tab.requests.filter(
        (url) => !url.startsWith(`${origin}/docs`) && !url.startsWith("data:") && !url.startsWith(`${origin}/v1/`),
      )
      expect(beyond).toEqual([])
      expect(tab.complaints).toEqual([])
      expect(await tab.cookies()).toEqual([])
    })

    /** Opens the page with an operation, with all details open. */
    async function openPageOf(id: string): Promise<void> {
      const { toolset } = catalog.find((operation) => operation.id === id)!
      await tab.open(`${origin}/docs/${toolset}`)
      await tab.value(`for (const part of document.querySelectorAll("details")) part.open = true`)
    }

    async function until(condition: string): Promise<void> {
      for (let tries = 0; tries < 200; tries++) {
        if (await tab.value<boolean>(condition)) return
        await Bun.sleep(20)
      }
      throw new Error(`never true: ${condition}`)
    }

    async function fill(id: string | null, field: string, text: string): Promise<void> {
      const selector = JSON.stringify(id === null ? field : `#${id} form ${field}`)
      await tab.value(`{
        const field = document.querySelector(${selector})
        field.value = ${JSON.stringify(text)}
        field.dispatchEvent(new Event("input", { bubbles: true }))
      }`)
    }

    /** Presses the button of an operation's form. Returns the text that the page shows then. */
    async function sent(id: string): Promise<{ summary: string; body: string }> {
      const form = `document.querySelector("#${id} form")`
      await tab.value(`${form}.querySelector("button").click()`)
      for (let tries = 0; tries < 200; tries++) {
        const [summary = "", body = ""] = await tab.value<string[]>(
          `[...${form}.nextElementSibling.children].map((part) => part.textContent)`,
        )
        if (!summary.startsWith("Calling ")) return { summary, body }
        await Bun.sleep(20)
      }
      throw new Error(`${id} showed no answer`)
    }
  })
