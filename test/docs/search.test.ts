import { beforeAll, describe, expect, test } from "bun:test"
import { actions, catalog } from "../../src/catalog.ts"
import { documentSearch, MAX_MATCHES, type Match } from "../../src/docs/search.ts"
import { MAX_QUERY } from "../../src/docs/search-box.ts"
import { FAULT_CODES } from "../../src/lib/faults.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { readMarkup } from "../pages/markup.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { manual } from "./pages.ts"

const search = documentSearch({ catalog, actions, manual })

let service: Service

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
})

describe("the search of the documentation", () => {
  test("the exact name of an operation, a write or an error is the first match", () => {
    for (const name of [...catalog.map(({ id }) => id), ...actions.map(({ name }) => name), ...FAULT_CODES])
      expect(search(name)[0]?.title).toBe(name)
    expect(search("Get Rank History")[0]?.title).toBe("get_rank_history")
  })

  test("every word must occur, in any order and case", () => {
    const titles = (query: string) => search(query).map(({ title }) => title)
    expect(titles("summary REVIEW")).toContain("summarize_reviews")
    expect(titles("review summary")).toContain("summarize_reviews")
    expect(titles("summarize_reviews zebra")).toEqual([])
    expect(titles("   ")).toEqual([])
  })

  test("parameters, fields, settings and sections of the manual are found", () => {
    const addresses = (query: string) => search(query).map(({ address }) => address)
    expect(addresses("get_rank_history: days")).toContain("/docs/keywords#get_rank_history.in.days")
    expect(addresses("alerts[].withdrawnAt")).toContain("/docs/account#list_alerts.out.alerts.withdrawnAt")
    expect(addresses("RAW_DAYS")).toContain("/docs/operate/settings#retention")
    expect(addresses("backup restore")).toContain("/docs/operate/data#backup-and-restore")
  })

  test("a query has at most the best 50 matches", () => {
    expect(search("the")).toHaveLength(MAX_MATCHES)
  })

  slow("every match leads to an existing anchor of an existing page", async () => {
    const queries = ["rank", "key", "data", "price", "app", "postgres", "country", "null", "confirm", "review"]
    const addresses = new Set(queries.flatMap((query) => search(query).map(({ address }) => address)))
    const pages = new Map<string, readonly string[]>()
    for (const address of addresses) {
      const [path = "", anchor] = address.split("#")
      if (!pages.has(path)) {
        const { status, text } = await service.call(path)
        expect([path, status]).toEqual([path, 200])
        pages.set(path, readMarkup(text.replace(/<script>[\s\S]*?<\/script>/g, "")).ids)
      }
      if (anchor !== undefined) expect([address, pages.get(path)?.includes(anchor)]).toEqual([address, true])
    }
  })
})

/** Returns the matches as the script of the pages gets them. */
async function matchesOf(query: string): Promise<Match[]> {
  const response = await service.app.fetch(new Request(`${PUBLIC_URL}/docs/search.json${query}`), null)
  expect(response.status).toBe(200)
  return (await response.json()).matches
}

describe("the search page", () => {
  test("the search page shows the same matches as the JSON answer", async () => {
    const matches = await matchesOf("?q=bad_country")
    expect(matches[0]).toEqual({
      kind: "Error",
      title: "bad_country",
      text: expect.stringContaining("400: "),
      address: "/docs/errors#bad_country",
    })
    const { status, headers, text } = await service.call("/docs/search?q=bad_country")
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    for (const { title, address } of matches) expect(text).toContain(`<a href="${address}">${title}</a>`)
    expect(text).toContain('value="bad_country"')
  })

  test("a query is shown as text, and a query beyond the maximum length is shortened", async () => {
    const markup = `"><script>alert(1)</script>${"x".repeat(200)}`
    const { text } = await service.call(`/docs/search?q=${encodeURIComponent(markup)}`)
    expect(text).not.toContain("<script>alert")
    expect(text).toContain("<p>Nothing found.")
    const [, fieldValue = ""] = /name="q" type="search" value="([^"]*)"/.exec(text) ?? []
    expect(fieldValue.replaceAll(/&\w+;|&#\d+;/g, "_")).toHaveLength(MAX_QUERY)
  })

  test("without a query the page has only the form", async () => {
    const { status, text } = await service.call("/docs/search")
    expect([status, text.includes("<p>Nothing found")]).toEqual([200, false])
    expect(await matchesOf("")).toEqual([])
  })

  test("reference, errors and manual have the search form", async () => {
    for (const path of ["/docs", "/docs/keywords", "/docs/errors", "/docs/operate", "/docs/operate/data"])
      expect((await service.call(path)).text).toContain('<form class="search" role="search" action="/docs/search">')
  })
})
