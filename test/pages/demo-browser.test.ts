import { describe, expect, setDefaultTimeout } from "bun:test"
import { createCode } from "../../src/access/sign-in/code.ts"
import type { Sql } from "../../src/database/types.ts"
import { listDemoApps } from "../../src/demo/demo.ts"
import { INVENTED_APP } from "../../src/demo/invented/world.ts"
import { loadDemoOnce, loadRestOnce } from "../../src/demo/load-at-start.ts"
import { recording } from "../../src/recording.ts"
import { freshDatabase } from "../database.ts"
import { afterSlow, beforeSlow, isLeftOut, long, slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { APP_TABS, OWN_PAGES, ownerOf } from "./app-scene.ts"
import { chromiumBinary, openTab, type Tab } from "./browser.ts"

setDefaultTimeout(240_000)

const binary = chromiumBinary()

/** A review of the sample, which no demo app has. */
const NO_REVIEW = "/reply?review=9990000731"
/** Pages that the demo cannot fill for real store apps, because no store page was read, and the text that they show. */
const TEACHING: Record<string, string> = {
  "/page": "The page is read once a day.",
  [NO_REVIEW]: "This review is not stored here",
}

interface SeenForm {
  /** One form of each kind is sent. Forms are of the same kind if they have the same target and fields. */
  kind: string
  /** Whether a person can send the form: it has an enabled button. */
  isSendable: boolean
}

interface PageContents {
  address: string
  status: number
  heading: string
  /** Cells, entries, charts and forms outside empty states. */
  count: number
  /** Texts of the empty states. */
  empty: string
  links: string[]
  forms: SeenForm[]
}

const SEE = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)]
  const to = (form) => new URL(form.getAttribute("action") ?? "", location.href).pathname
  const actionOf = (form) => form.querySelector("[type=hidden][name=action]")?.value ?? ""
  const namesOf = (form) => [...form.elements].map(({ name }) => name)
  const kind = (form) => [form.method, to(form), actionOf(form), ...namesOf(form)].join(" ")
  // forms that wait for a selected row, or to be opened
  for (const details of all("main details")) details.open = true
  for (const form of all("main form:has(.picked)")) form.querySelector("[type=checkbox]:not(:checked)")?.click()
  const isVisibleSubmit = (button) => button.type === "submit" && button.getClientRects().length > 0
  return {
    address: location.pathname + location.search,
    status: performance.getEntriesByType("navigation")[0].responseStatus,
    heading: document.querySelector("main h1")?.textContent ?? "",
    count: all("main :is(td, li, dd, svg, form, .inside p)").filter((node) => !node.closest(".empty, nav")).length,
    empty: all("main .empty").map((element) => element.textContent).join(" "),
    links: all("a[href]").filter(({ target }) => target !== "_blank").map(({ href }) => href.replace(/#.*/, "")),
    forms: all("main form").map((form) => ({
      kind: kind(form),
      isSendable: [...form.querySelectorAll("button")].some(isVisibleSubmit),
    })),
  }
})()`

/** Values that a person types into empty fields. */
const TYPED = {
  app: "310633997",
  tag: "core",
  keywords: "tea",
  rivals: "310633997",
  countries: "us",
  q: "ads",
  find: "photo",
}

/** Types values into the form with this index, and presses its button. */
const send = (place: number) => `(() => {
  const form = document.querySelectorAll("main form")[${place}]
  for (const [name, value] of Object.entries(${JSON.stringify(TYPED)})) {
    const field = form.querySelector("[name=" + name + "]:not([type=hidden])")
    if (field && field.value === "") field.value = value
  }
  const row = form.querySelector("[type=checkbox][name=terms]")
  if (row) row.checked = true
  form.querySelector("button").click()
})()`

describe.skipIf(binary === null)("the demo's first start, in a browser that runs no script", () => {
  let sql: Sql
  let service: Service
  let workspace: number
  let server: ReturnType<typeof Bun.serve>
  let tab: Tab
  let apps: string[]
  let ownPages: string[]
  let invented: string

  beforeSlow(async () => {
    sql = await freshDatabase()
    service = openService({ sql, now: () => new Date() })
    workspace = await service.workspace({ plan: "enterprise", explorer: true })
    await loadDemoOnce(recording, sql, workspace)
    await loadRestOnce(recording, sql, { days: isLeftOut ? 10 : 30 })
    const listed = await listDemoApps(sql, workspace)
    apps = listed.map(({ id }) => id)
    invented = listed.find(({ iosId }) => iosId === INVENTED_APP.id)!.id
    const tabs = APP_TABS.filter((page) => !page.includes("?"))
    ownPages = [
      // the market's pages are opened with an app of the demo instead of one of the sample
      ...OWN_PAGES.map((page) => `/app${page.replace("9990000102", INVENTED_APP.id)}`),
      // short runs open every other page of the invented app, and the remaining ones of a store app
      ...apps.flatMap((id, of) =>
        tabs
          .filter((_, at) => !isLeftOut || (id === invented ? at % 2 === 0 : of === 1 && at % 2 === 1))
          .map((page) => `/app/apps/${id}${page}`),
      ),
    ]
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => service.app.fetch(request, "127.0.0.1") })
    tab = await openTab(binary as string)
    await tab.show(1_280, 900)
    await tab.scripts(false)
    await tab.open(`${server.url.origin}/sign-in?code=${await createCode(sql, workspace)}`)
    await tab.leave("document.querySelector('main button').click()")
  })
  afterSlow(async () => {
    await tab.close()
    await server.stop(true)
  })

  const see = async (page: string) => {
    await tab.open(`${server.url.origin}${page}`)
    return await tab.value<PageContents>(SEE)
  }

  /** The heading that the page of a form must have. Pages that are not about an app have other headings. */
  const headingOf = async (page: string) => {
    if (page === "/app/alerts") return "Alerts"
    if (page === "/app/add") return "Add an app"
    const app = (await listDemoApps(sql, workspace)).find(({ id }) => page.startsWith(`/app/apps/${id}`))
    return app?.name ?? expect.stringMatching(/\S/)
  }

  slow("every demo page shows data or explains what it would show", async () => {
    for (const page of ownPages) {
      const { status, heading, count, empty } = await see(page)
      expect([page, status, heading === "" || heading === "Page not found"]).toEqual([page, 200, false])
      const tabPath = page.replace(/^\/app\/apps\/[^/]+/, "")
      const isFilled = page.startsWith(`/app/apps/${invented}/`) && tabPath !== NO_REVIEW
      const teaching = isFilled ? undefined : TEACHING[tabPath]
      if (teaching === undefined) expect([page, count > 0]).toEqual([page, true])
      else expect([page, empty]).toEqual([page, expect.stringContaining(teaching)])
    }
  })

  long("every demo page links only to existing pages", async () => {
    const { origin } = server.url
    const owner = await ownerOf(service, workspace)
    const found = new Set<string>()
    for (const page of ownPages) for (const link of (await see(page)).links) found.add(link)
    const inside = [...found].flatMap((link) => (link.startsWith(`${origin}/app`) ? link.slice(origin.length) : []))
    expect(inside.length).toBeGreaterThan(200)
    // other tests cover the settings, because they need more ports
    for (const link of inside.filter((path) => !path.startsWith("/app/settings")))
      expect([link, (await owner.open(link)).status]).toEqual([link, 200])
  })

  long("every form on the demo pages has a button, and sending the form opens a page", async () => {
    const sent = new Set<string>()
    // other tests cover the settings
    const isSent = (page: string) => page.startsWith(`/app/apps/${apps[1]}`) || !/^\/app\/(?:apps|settings)/.test(page)
    for (const page of ownPages.filter(isSent)) {
      const { forms } = await see(page)
      for (const { kind, isSendable } of forms) {
        expect([page, kind, isSendable]).toEqual([page, kind, true])
        if (sent.has(kind)) continue
        sent.add(kind)
        // a form that was sent may have removed another, such as the one that marks everything as seen
        const place = (await see(page)).forms.findIndex((form) => form.kind === kind)
        if (place < 0) continue
        await tab.leave(send(place))
        const { address, status, heading } = await tab.value<PageContents>(SEE)
        const to = kind.split(" ")[1]!
        expect([kind, status, heading === ""]).toEqual([kind, 200, false])
        // a form that makes its change at once leads back to its page; other forms lead to a preview
        if (to === "/app/write" || kind.includes(" back ")) continue
        expect([kind, address.startsWith(to), heading]).toEqual([kind, true, await headingOf(to)])
      }
    }
    expect(sent.size).toBeGreaterThan(8)
  })

  slow("the demo's reviews are marked as invented, and can be searched and summarised", async () => {
    const text = () => tab.value<string>("document.querySelector('main').textContent")
    for (const app of isLeftOut ? apps.slice(0, 2) : apps) {
      await tab.open(`${server.url.origin}/app/apps/${app}/reviews`)
      expect(await text()).toContain("The demo made up these reviews.")
      await tab.value("document.querySelector('main [name=q]').value = 'crash'")
      await tab.leave("document.querySelector('main [name=q]').form.querySelector('button').click()")
      expect(await text()).toContain("Invented: crashes")
      expect(await text()).not.toContain("Invented: too many ads")
    }
    await tab.open(`${server.url.origin}/app/apps/${apps[1]}/summary`)
    await tab.leave("document.querySelector('main form button').click()")
    expect(await text()).toContain("The demo made up these reviews.")
    expect(await text()).toContain("Of 28 reviews with a text")
  })
})
