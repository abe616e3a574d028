import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { manualAddresses } from "../../src/documents/manual.ts"
import { freshDatabase } from "../database.ts"
import { openHouse } from "../house.ts"
import { sharing } from "../links/share-scene.ts"
import { LONG } from "../long.ts"
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
    tab = await openTab(binary as string)
  })
  afterAll(async () => {
    await tab.close()
    await server.stop(true)
  })

  test("breaks no rule of WCAG 2.2 A and AA that a program can check, nor scrolls sideways", async () => {
    const found: unknown[] = []
    for (const [width, height] of SIZES)
      for (const colours of COLOURS) {
        // in short each width and each colours once: rules of colour ask for no width, and those of width for no colour
        if (!LONG && (width === NARROW) === (colours === "light")) continue
        await tab.show(width, height, colours)
        // the manual's other pages are made like its first two: at length they are opened on the narrowest
        const more = LONG && width === NARROW && colours === "light" ? manual.slice(2) : []
        // and so is each page of /app: in short it is looked at in one of the two ways
        const shown = pages.filter(
          (page, at) => LONG || !page.startsWith("/app") || (at % 2 === 0) === (width === NARROW),
        )
        for (const page of [...shown, ...more]) {
          await tab.open(`${server.url.origin}${page}`)
          const broken = await tab.value<string[]>(`(async () => {
            ${axe}
            const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] })
            return violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(" | "))
          })()`)
          const wide = await tab.value<number>("document.documentElement.scrollWidth")
          if (broken.length > 0 || wide > width) found.push({ page, width, colours, broken, wide })
        }
      }
    expect(found).toEqual([])
  })
})
