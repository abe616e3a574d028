import { describe, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { createInvitation, invitationLinkOf } from "../../src/access/people/invitations.ts"
import { scopesOf } from "../../src/access/people/roles.ts"
import { createCode } from "../../src/access/sign-in/code.ts"
import { manualAddresses } from "../../src/docs/manual.ts"
import { pkce, queryOf, register } from "../access/oauth/scene.ts"
import { freshDatabase } from "../database.ts"
import { afterSlow, beforeSlow, cases, LONG, slow } from "../long.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { record } from "../record.ts"
import { openService } from "../service.ts"
import { sharing } from "../sharing/share-scene.ts"
import { appPages, OWN_PAGES, ownerOf, SAMPLE_PAGES, settingsPages } from "./app-scene.ts"
import { chromiumBinary, openTab, type Tab } from "./browser.ts"
import { NO_PORTS } from "./settings/ports.ts"

setDefaultTimeout(600_000)

const binary = chromiumBinary()
const axe = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dirname), "utf8")

interface View {
  width: number
  height: number
  colours: readonly ("light" | "dark")[]
}

/**
 * The short run opens each width and each colour scheme once: rules about colour do not depend on the width, and rules
 * about width do not depend on colour.
 */
const VIEWS: readonly View[] = [
  { width: 1_280, height: 900, colours: LONG ? ["light", "dark"] : ["light"] },
  { width: 390, height: 800, colours: LONG ? ["dark", "light"] : ["dark"] },
]
/** The reference has 3,600 rows in 69 tables of the same structure. This keeps the first row of each table there. */
const CUT = `if (document.querySelectorAll("tr").length > 1_000)
  for (const { rows } of document.querySelectorAll("tbody"))
    for (const row of [...rows].slice(${cases(4, 8)})) row.remove()`
/** axe's rules about colours. The tag that selects them includes an AAA rule, which is turned off otherwise. */
const OF_COLOUR = ["color-contrast", "link-in-text-block"]
/**
 * Finding the background of texts takes four fifths of axe's time, and texts with the same style have the same contrast
 * on every page. So this function marks three elements of each new style and returns those styles.
 */
const NEW_LOOKS = (read: ReadonlySet<number>) => `(() => {
  const [knownLooks, looks, lookOf] = [new Set(${JSON.stringify([...read])}), new Map(), new Map()]
  for (const element of document.querySelectorAll("*")) {
    const { color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight } = getComputedStyle(element)
    const style = [element.tagName, color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight]
    const words = [lookOf.get(element.parentElement), ...style].join()
    let look = 7
    for (let at = 0; at < words.length; at++) look = (look * 31 + words.charCodeAt(at)) % 9007199254740
    lookOf.set(element, look)
    const isNew = !knownLooks.has(look) && element.checkVisibility()
    if (isNew) looks.set(look, (looks.get(look) ?? 0) + 1)
    element.toggleAttribute("data-look", isNew && looks.get(look) <= 3)
  }
  return [...looks.keys()]
})()`
const SELECTED = `axe.configure({ rules: [{ id: "color-contrast", selector: "[data-look]" }] })`
const manual = manualAddresses().map(({ address }) => address)

describe.skipIf(binary === null)("every page, light and dark, on a desktop and on a phone", () => {
  let server: ReturnType<typeof Bun.serve>
  let tab: Tab
  let pages: string[]
  /** The pages of the sample, except its first. */
  const sample = [
    ...SAMPLE_PAGES.slice(1).map((page) => `/app/sample${page}`),
    ...appPages("/app/sample", "app_lumenjournal", "journal"),
  ]
  /** Pages of a signed-in owner, which have waiting writes, forms and refusals. */
  let owners: string[]
  let app: string
  let signIn: () => Promise<void>

  beforeSlow(async () => {
    const service = openService({ sql: await freshDatabase(), settingsPorts: NO_PORTS })
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => service.app.fetch(request, "127.0.0.1") })
    const scene = await sharing(service, { name: "Tea", keywords: ["tea", "green tea"] })
    await scene.measure("tea", 1, 12)
    await scene.measure("tea", 0, 0)
    const [{ storeId }] = await service.sql<[{ storeId: string }]>`
      select s.store_id as "storeId" from tracked_app t join store_app s on s.id = t.ios_app where t.id = ${scene.app}`
    const review = { id: "1", title: "Good", at: new Date(Date.now() - 3_600_000) }
    await record(service.sql, [reviewed(new Date().toISOString(), [review], { storeId })])
    pages = [
      "/docs",
      "/docs/keywords",
      "/docs/writes",
      "/docs/search?q=rank",
      "/docs/errors",
      ...manual.slice(0, 2),
      "/nowhere",
      (await scene.share()).path,
      (await scene.share({ password: "open sesame" })).path,
      "/share/none",
      "/sign-in",
      "/approve/sample",
      "/app/sample",
    ]
    const { workspace } = scene.writer
    await service.sql`update workspace set approve_outside = '{all}' where id = ${workspace}`
    await scene.writer.token("add_keywords", { appId: scene.app, keywords: ["oolong"] })
    const [{ id }] = await service.sql<[{ id: string }]>`select id from approval where workspace_id = ${workspace}`
    const invitation = {
      workspaceId: workspace,
      name: "Bo",
      scopes: scopesOf("viewer"),
      appList: null,
      invitedBy: null,
    }
    const authorize = `/oauth/authorize?${queryOf(await register(service), pkce().challenge)}`
    owners = [
      authorize,
      "/oauth/authorize?client_id=nobody",
      "/approve",
      `/approve/${id}`,
      "/approve/none",
      "/sign-in",
      ...OWN_PAGES.filter((page) => !page.startsWith("/settings")).map((page) => `/app${page}`),
      ...(await settingsPages(await ownerOf(service, workspace))),
      ...["channels", "rules?type=rank_drop", "accounts?add=app-store-connect", "accounts?add=apple-ads"].map(
        (page) => `/app/settings/${page}`,
      ),
      ...appPages("/app", scene.app, "tea"),
      "/app/add?app=ios%3A1234567890",
      "/app/nowhere",
      "/sign-in/passphrase",
      invitationLinkOf("", await createInvitation(service.sql, invitation)),
    ]
    tab = await openTab(binary as string)
    signIn = async () => {
      await tab.open(`${server.url.origin}/sign-in?code=${await createCode(service.sql, workspace)}`)
      await tab.leave("document.querySelector('main button').click()")
    }
    app = scene.app
  })
  afterSlow(async () => {
    await tab.close()
    await server.stop(true)
  })

  const looksRead = new Set<number>()

  /**
   * Returns the problems that axe finds on the open page, and whether the page is wider than the window. Checks all
   * rules, or for new styles only.
   */
  async function problemsOn(width: number, which: "all" | "new looks"): Promise<{ broken: string[]; wide: boolean }> {
    const wide = (await tab.value<number>("document.documentElement.scrollWidth")) > width
    await tab.value(CUT)
    const looks = await tab.value<number[]>(NEW_LOOKS(looksRead))
    for (const look of looks) looksRead.add(look)
    if (looks.length === 0 && which === "new looks") return { broken: [], wide }
    const options = JSON.stringify({
      resultTypes: ["violations"],
      ...(which === "new looks" && { runOnly: OF_COLOUR }),
    })
    const broken = await tab.value<string[]>(`(async () => {
      if (!globalThis.axe) { ${axe}; ${SELECTED} }
      const { violations } = await globalThis.axe.run(document, ${options})
      const excerpts = (nodes) => nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(" | ")
      return violations.map(({ id, nodes }) => id + ": " + excerpts(nodes))
    })()`)
    return { broken, wide }
  }

  /**
   * Checks the open page at its size. Colours follow the reader's setting without a reload, and only rules about colour
   * depend on them.
   */
  async function problemsHere(page: string, { width, height, colours }: View): Promise<unknown[]> {
    const found: unknown[] = []
    for (const [at, colour] of colours.entries()) {
      await tab.show(width, height, colour)
      const { broken, wide } = await problemsOn(width, at === 0 ? "all" : "new looks")
      if (broken.length > 0 || wide) found.push({ page, width, colour, broken, wide })
    }
    return found
  }

  /**
   * Opens each page again for each size, because a script may read the width. The short run opens a third of the pages,
   * and every other one of those on a phone.
   */
  async function problemsOf(list: readonly string[], open = openPage, views = VIEWS): Promise<unknown[]> {
    const found: unknown[] = []
    for (const [at, page] of list.filter((_, at) => at % cases(3, 1) === 0).entries())
      for (const view of LONG ? views : [views[at % views.length]!]) {
        await tab.show(view.width, view.height, view.colours[0])
        await open(page)
        found.push(...(await problemsHere(page, view)))
      }
    return found
  }

  const openPage = (page: string) => tab.open(`${server.url.origin}${page}`)

  slow("no public page scrolls sideways or violates an automatically testable rule of WCAG 2.2 A or AA", async () => {
    expect(await problemsOf(pages)).toEqual([])
    // an owner's pages have the same parts and more forms, so the short run opens them instead of these pages; the long
    // run opens each page at one of the sizes
    for (const [nth, view] of LONG ? VIEWS.entries() : [])
      expect(
        await problemsOf(
          sample.filter((_, at) => at % VIEWS.length === nth),
          openPage,
          [view],
        ),
      ).toEqual([])
    // the manual's other pages have the structure of its first two; the long run opens them at the narrowest size
    const narrow = { ...VIEWS[1]!, colours: ["light"] as const }
    expect(await problemsOf(LONG ? manual.slice(2) : [], openPage, [narrow])).toEqual([])
  })

  slow(
    "no page of an owner, including previews, violates an automatically testable rule of WCAG 2.2 A or AA",
    async () => {
      await signIn()
      const found = await problemsOf(owners)
      const pressed = await problemsOf(
        ["edit", "summary", "draft", "ideas", "shots", "localize", "reply?review=1"],
        async (page) => {
          await openPage(`/app/apps/${app}/${page}`)
          if (page !== "edit")
            return await tab.leave("document.querySelector('main form[method=post]').requestSubmit()")
          await tab.value("document.querySelector('[name=more]').value = 'Germany'")
          await tab.leave("document.querySelector('[name=more]').form.requestSubmit()")
          expect(await tab.value("document.querySelector('h1').textContent")).toBe("Change storefronts")
        },
      )
      expect([...found, ...pressed]).toEqual([])
    },
  )
})
