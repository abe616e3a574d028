import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { manualAddresses } from "../../src/documents/manual.ts"
import { createCode } from "../../src/sign-in/code.ts"
import { freshDatabase } from "../database.ts"
import { openHouse } from "../house.ts"
import { sharing } from "../links/share-scene.ts"
import { LONG } from "../long.ts"
import { pkce, queryOf, register } from "../oauth/scene.ts"
import { appPages, WORKSPACE_PAGES } from "./app-scene.ts"
import { chromiumBinary, openTab, type Tab } from "./browser.ts"

setDefaultTimeout(600_000)

const binary = chromiumBinary()
const axe = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dirname), "utf8")

const NARROW = 390
const SIZES = [
  [1_280, 900],
  [NARROW, 800],
] as const
const COLOURS = ["light", "dark"] as const
const manual = manualAddresses().map(({ address }) => address)

describe.skipIf(binary === null)("every page, light and dark, on a desk and on a phone", () => {
  let server: ReturnType<typeof Bun.serve>
  let tab: Tab
  let pages: string[]
  /** Of whoever is signed in: they hold what others' pages do not, waiting writes, forms and refusals. */
  let owners: string[]
  let app: string
  let signIn: () => Promise<void>

  beforeAll(async () => {
    const house = openHouse({ sql: await freshDatabase() })
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => house.app.fetch(request, "127.0.0.1") })
    const on = await sharing(house, { name: "Tea", keywords: ["tea", "green tea"] })
    await on.measure("tea", 1, 12)
    await on.measure("tea", 0, 0)
    pages = [
      "/docs",
      "/docs/errors",
      ...manual.slice(0, 2),
      "/nowhere",
      (await on.share()).path,
      (await on.share({ password: "open sesame" })).path,
      "/share/none",
      "/sign-in",
      ...WORKSPACE_PAGES.map((page) => `/app/sample${page}`),
      ...appPages("/app/sample", "app_lumenjournal", "journal"),
    ]
    const { workspace } = on.writer
    await house.sql`update workspace set approve_outside = '{all}' where id = ${workspace}`
    await on.writer.token("add_keywords", { appId: on.app, keywords: ["oolong"] })
    const [{ id }] = await house.sql<[{ id: string }]>`select id from approval where workspace_id = ${workspace}`
    const authorize = `/oauth/authorize?${queryOf(await register(house), pkce().challenge)}`
    owners = [
      authorize,
      "/oauth/authorize?client_id=nobody",
      "/approve",
      `/approve/${id}`,
      "/approve/none",
      "/sign-in",
      ...WORKSPACE_PAGES.map((page) => `/app${page}`),
      ...appPages("/app", on.app, "tea"),
      "/app/nowhere",
    ]
    tab = await openTab(binary as string)
    signIn = async () => {
      await tab.open(`${server.url.origin}/sign-in?code=${await createCode(house.sql, workspace)}`)
      await tab.leave("document.querySelector('main button').click()")
    }
    app = on.app
  })
  afterAll(async () => {
    await tab.close()
    await server.stop(true)
  })

  /** What axe finds on the page that is open, and whether it is wider than the window. */
  async function problemsOn(width: number): Promise<{ broken: string[]; wide: boolean }> {
    const broken = await tab.value<string[]>(`(async () => {
      ${axe}
      const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] })
      return violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(" | "))
    })()`)
    return { broken, wide: (await tab.value<number>("document.documentElement.scrollWidth")) > width }
  }

  /** In short each width and each colours once: rules of colour ask for no width, and those of width for no colour. */
  async function* views(): AsyncGenerator<{ width: number; colours: string }> {
    for (const [width, height] of SIZES)
      for (const colours of COLOURS) {
        if (!LONG && (width === NARROW) === (colours === "light")) continue
        await tab.show(width, height, colours)
        yield { width, colours }
      }
  }

  async function problemsOf(list: (view: { width: number; colours: string }) => readonly string[]): Promise<unknown[]> {
    const found: unknown[] = []
    for await (const view of views())
      for (const page of list(view)) {
        await tab.open(`${server.url.origin}${page}`)
        const { broken, wide } = await problemsOn(view.width)
        if (broken.length > 0 || wide) found.push({ page, ...view, broken, wide })
      }
    return found
  }

  test("breaks no rule of WCAG 2.2 A and AA that a program can check, nor scrolls sideways", async () => {
    const found = await problemsOf(({ width, colours }) => [
      // each page of /app is in short looked at in one of the two ways
      ...pages.filter((page, at) => LONG || !page.startsWith("/app") || (at % 2 === 0) === (width === NARROW)),
      // the manual's other pages are made like its first two: at length they are opened on the narrowest
      ...(LONG && width === NARROW && colours === "light" ? manual.slice(2) : []),
    ])
    expect(found).toEqual([])
  })

  test("nor does any that only its owner sees, the preview of a write and the answers of its buttons among them", async () => {
    await signIn()
    const found = await problemsOf(({ width }) =>
      owners.filter((page, at) => LONG || !page.startsWith("/app") || (at % 2 === 0) === (width === NARROW)),
    )
    for await (const view of views()) {
      await tab.open(`${server.url.origin}/app/apps/${app}/edit`)
      await tab.value("document.querySelector('textarea').value = 'white tea'")
      await tab.leave("document.querySelector('textarea').form.requestSubmit()")
      expect(await tab.value("document.querySelector('h1').textContent")).toBe("Make this change?")
      const { broken, wide } = await problemsOn(view.width)
      if (broken.length > 0 || wide) found.push({ page: "a preview", ...view, broken, wide })
      for (const page of ["summary", "draft", "reply?review=1"]) {
        await tab.open(`${server.url.origin}/app/apps/${app}/${page}`)
        await tab.leave("document.querySelector('main form[method=post]').requestSubmit()")
        const { broken, wide } = await problemsOn(view.width)
        if (broken.length > 0 || wide) found.push({ page: `${page}, pressed`, ...view, broken, wide })
      }
    }
    expect(found).toEqual([])
  })
})
