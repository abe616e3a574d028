import { beforeAll, describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { catalog } from "../../src/catalog.ts"
import { assertOpenFiles } from "../../src/commands/process/open-files.ts"
import { priceRange } from "../../src/core/operation.ts"
import { versionOf } from "../../src/database/assets.ts"
import { MANUAL_FOLDER, MANUAL_PAGES, manualAddresses } from "../../src/docs/manual.ts"
import { SOURCE_NAMES, type Upstream } from "../../src/lib/upstreams.ts"
import { BASE_GAPS_MS } from "../../src/measuring/pace.ts"
import { isSourceList } from "../../src/settings/kinds.ts"
import { describedSettings } from "../../src/settings/settings.ts"
import { SCHEME_SCRIPT } from "../../src/ui/scheme.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { readMarkup } from "../pages/markup.ts"
import { parseLine } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { cells, manual, pageOf } from "./pages.ts"

const digestOf = (text: string) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`

const addresses = manualAddresses().map(({ address }) => address)
let service: Service

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
})

describe("the manual", () => {
  test("every file of the manual's folder has a page, and every page a file", () => {
    const files = readdirSync(join(import.meta.dirname, "../..", MANUAL_FOLDER))
    expect(files.sort()).toEqual(["index", ...MANUAL_PAGES].map((page) => `${page}.md`).sort())
  })

  slow("the manual is public, as a page without external resources and as Markdown", async () => {
    for (const address of addresses) {
      const page = await service.call(address)
      expect([address, page.status]).toEqual([address, 200])
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8")
      const policy = page.headers.get("content-security-policy") as string
      expect(policy).toStartWith("default-src 'none'")
      expect(policy).toContain(`; script-src ${digestOf(SCHEME_SCRIPT)}; `)
      const text = await service.call(`${address}.md`)
      expect([text.status, text.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"])
      expect(text.text).toStartWith("# ")
      expect(`${page.text}${text.text}`).not.toMatch(/\{\{|undefined/)
    }
    expect((await service.call("/docs/operate/nothing")).status).toBe(404)
  })

  slow("the manual is well-formed, has no scripts or images, and all its links and anchors resolve", async () => {
    const pages = new Map<string, ReturnType<typeof readMarkup>>()
    for (const address of addresses)
      pages.set(
        address,
        readMarkup((await service.call(address)).text.replace(`<script>${SCHEME_SCRIPT}</script>`, "")),
      )
    const led = new Set<string>()
    for (const [address, { unbalanced, bare, ids, hrefs, tags, attributes }] of pages) {
      expect([address, unbalanced, bare]).toEqual([address, [], []])
      expect(new Set(ids).size).toBe(ids.length)
      expect([...tags].filter((tag) => ["script", "img", "iframe", "form"].includes(tag))).toEqual(["form"])
      expect([...attributes].filter((name) => name.startsWith("on") || name === "style")).toEqual([])
      for (const href of hrefs) {
        const [path = "", anchor] = href.split("#")
        if (path.startsWith("data:")) continue
        if (path !== "") led.add(path)
        const target = pages.get(path || address)
        if (anchor !== undefined && anchor !== "text" && target)
          expect([address, href, target.ids.includes(anchor)]).toEqual([address, href, true])
      }
    }
    // the owner's apps require a sign-in
    for (const path of led)
      expect([path, (await service.call(path)).status]).toEqual([path, path === "/app" ? 303 : 200])
    expect([...led]).toEqual(expect.arrayContaining(["/docs", "/docs/errors", "/llms.txt", ...addresses]))
  })

  slow("the Markdown of the manual links from page to page too", async () => {
    for (const [page, text] of manual)
      for (const [, target = ""] of text.matchAll(/\]\(([^)#]+)/g))
        expect([page, target, (await service.call(target)).status]).toEqual([page, target, 200])
    for (const address of addresses.slice(1)) expect(pageOf("index")).toContain(`](${address}.md): `)
  })

  test("the reference and the guide for assistants link to the manual", async () => {
    expect(readMarkup((await service.call("/docs")).text).hrefs).toContain("/docs/operate")
    expect((await service.call("/llms.txt")).text).toContain("/docs/operate.md)")
  })

  test("the manual lists the settings of the code, each with default and meaning", () => {
    const rows = cells(pageOf("settings")).filter(([name]) => name?.startsWith("`"))
    const plain = (text: string) => text.replaceAll(/[`\s\\]+/g, " ").trim()
    expect(rows.map((row) => plain(row.join(" ")))).toEqual(
      describedSettings().map(({ name, fallback, meaning }) => plain(`${name} ${fallback} ${meaning}`)),
    )
  })

  test("the changelog begins with the version of the program", () => {
    const [, newest] = /^## (\S+)$/m.exec(pageOf("changelog")) ?? []
    expect(newest).toBe(versionOf())
  })

  test("the manual lists every call with price and plan, and no other", () => {
    const rows = cells(pageOf("plans")).slice(2)
    const built = catalog.map(({ method, path, price, plan = "free", terms }) => {
      const { min, atMost } = priceRange(price)
      const callText = `\`${method} /v1${path.replaceAll(/:(\w+)/g, "{$1}")}\``
      return [callText, min === atMost ? `${min}` : `${min} to ${atMost}`, terms ? "that of the action" : plan]
    })
    expect(rows).toEqual(built)
  })

  test("the manual states the code's figures: pace, open files, deadline and the sandbox's limit", () => {
    const flat = (page: string) => pageOf(page).replace(/\s+/g, " ")
    const gap = (host: Upstream) => BASE_GAPS_MS.get(host)
    expect(flat("measuring")).toContain(
      "one request a second, for itunes.apple.com one in three seconds, for play.google.com one in two",
    )
    expect([gap("apps.apple.com"), gap("itunes.apple.com"), gap("play.google.com")]).toEqual([1_000, 3_000, 2_000])
    expect(() => assertOpenFiles({ databaseUrl: undefined }, 1_023)).toThrow("1024 are needed")
    expect(() => assertOpenFiles({ databaseUrl: "postgres://db" }, 255)).toThrow("256 are needed")
    expect(flat("doctor")).toContain("1,024 are needed with the embedded database, 256 with a server")
    const fallback = (name: string) => describedSettings().find((row) => row.name === name)?.fallback
    expect(flat("limits")).toContain(`A call takes ${Number(fallback("REQUEST_DEADLINE_MS")) / 1_000} s`)
    expect(flat("limits")).toContain(`answers ${fallback("SANDBOX_PER_SECOND")} calls a second`)
  })

  test("the manual shows valid import lines and explains when a reading of reviews is complete", () => {
    const page = pageOf("import")
    const importLines = page.split("\n").filter((line) => line.startsWith("{"))
    const read = importLines.map((line) => parseLine(line))
    expect(read).toHaveLength(4)
    expect(read.at(-1)).toMatchObject({ observation: { kind: "reviews", end: { complete: true, empty: false } } })
    expect(page.replace(/\s+/g, " ")).toContain(
      "A reading that contains only new reviews is never complete, even if it is marked so",
    )
  })

  test("the manual names every source that is read, and no other", () => {
    const named = cells(pageOf("measuring")).flatMap(([name]) => /^`(.*)`$/.exec(name as string)?.[1] ?? [])
    // itunes-search is only read from recordings; no code requests it
    const readSources = SOURCE_NAMES.filter((name) => isSourceList([name]) && name !== "itunes-search")
    expect([...new Set(named)].sort()).toEqual(readSources.sort())
  })
})
