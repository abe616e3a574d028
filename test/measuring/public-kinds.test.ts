import { describe, expect, test } from "bun:test"
import { chartNamed } from "../../src/charts/kinds/chart.ts"
import { slow } from "../long.ts"
import { chartFeed, HARBOR } from "./public-pages.ts"
import { publicScene } from "./public-scene.ts"
import { captchaPage, lookupAnswer } from "./store-pages.ts"

const scene = publicScene()
const requestPaths = () => scene.stores.requests.map(({ url }) => `${url.pathname}${url.search}`)
const attempts = async () => [...(await scene.sql`select kind, subject, source, outcome from attempt order by id`)]

describe("an app's page", () => {
  test("an app's page is read once a day and stored with its lists of similar apps and developer apps", async () => {
    await scene.track()
    expect(await scene.read("listing")).toBe(1)
    expect(requestPaths()).toEqual([`/us/app/id${HARBOR.id}`])
    const sections = await scene.sql`select section from listing_run order by section`
    expect(sections.map(({ section }) => section)).toEqual(["developer", "page", "similar"])
    const [due] = await scene.due("listing")
    expect(due).toMatchObject({ subject: HARBOR.id, failures: 0, measured: true })
    expect(due!.hours).toBeWithin(0, 29)
  })

  test("a missing app's page is a failed read that changes nothing", async () => {
    await scene.track()
    await scene.read("listing")
    const before = await scene.facts()
    scene.stores.on("apps.apple.com", "/us/app", () => new Response("no such page", { status: 404 }))
    await scene.read("listing", { days: 1 })
    expect(await scene.facts()).toEqual(before)
    expect(await scene.due("listing")).toMatchObject([{ failures: 1, failure: "not_found" }])
    expect(await attempts()).toEqual([
      { kind: "listing", subject: HARBOR.id, source: "apple-app-page", outcome: "not_found" },
    ])
  })

  test("an app's page is not requested while its look-up shows the app as unavailable", async () => {
    await scene.track()
    scene.stores.on("itunes.apple.com", "/lookup", () => lookupAnswer([]))
    await scene.read("app")
    await scene.read("listing")
    expect(requestPaths().filter((path) => path.includes("/app/"))).toEqual([])
    expect(await scene.due("listing")).toMatchObject([{ failures: 0, measured: true }])
    scene.stores.on("itunes.apple.com", "/lookup", () => lookupAnswer([HARBOR]))
    await scene.read("app", { days: 1 })
    await scene.read("listing")
    expect(requestPaths().filter((path) => path.includes("/app/"))).toHaveLength(1)
  })

  test("an app's page with a CAPTCHA fails as blocked and changes nothing", async () => {
    await scene.track()
    scene.stores.on("apps.apple.com", "/us/app", () => captchaPage())
    const before = await scene.facts()
    await scene.read("listing")
    expect(await scene.facts()).toEqual(before)
    expect(await scene.due("listing")).toMatchObject([{ failures: 1, failure: "blocked" }])
  })
})

describe("a chart", () => {
  const only = (subject: string) => scene.sql`delete from due where kind = 'chart' and subject <> ${subject}`

  slow("a chart is stored with all the places of the response", async () => {
    await scene.track()
    await only("ipad grossing 36")
    await scene.read("chart")
    expect(requestPaths()).toEqual(["/us/rss/topgrossingipadapplications/limit=200/json"])
    const [chart] = await scene.sql`
      select device, chart, genre, depth, cardinality(app_ids) as apps
      from chart
      join chart_results on chart_id = id`
    expect(chart).toEqual({ device: "ipad", chart: "grossing", genre: "36", depth: 100, apps: 100 })
  })

  slow("an empty chart is stored as a complete reading", async () => {
    await scene.track()
    await only("iphone paid 36")
    scene.stores.on("itunes.apple.com", "/us/rss/top", ({ url }) => chartFeed(url, []))
    await scene.read("chart")
    expect([...(await scene.sql`select depth, complete from chart_results`)]).toEqual([{ depth: 0, complete: true }])
  })

  test("a chart request answered with 404 or with another chart changes no stored data", async () => {
    await scene.track()
    await only("iphone free 36")
    const before = await scene.facts()
    scene.stores.on("itunes.apple.com", "/us/rss/top", () => new Response("", { status: 404 }))
    await scene.read("chart")
    scene.stores.on("itunes.apple.com", "/us/rss/top", () =>
      chartFeed(new URL("https://itunes.apple.com/us/rss/toppaidapplications/limit=200/json"), [HARBOR]),
    )
    await scene.read("chart", { days: 1 })
    expect(await scene.facts()).toEqual(before)
    expect((await attempts()).map(({ subject, outcome }) => [subject, outcome])).toEqual([
      ["iphone free 36", "not_found"],
      ["iphone free 36", "mismatched"],
    ])
    expect(await scene.due("chart")).toMatchObject([{ failures: 2, failure: "mismatched", measured: false }])
  })

  test.each(["iphone free", "iphone free 36 x", "phone free 36", "iphone top 36", ""])(
    "the subject %p of a chart reading throws RangeError",
    (subject) => {
      expect(() => chartNamed({ storefront: "us" }, subject)).toThrow(RangeError)
    },
  )
})

describe("genres", () => {
  test("the genres of a storefront are read every thirty days", async () => {
    await scene.track()
    await scene.read("genres")
    expect(requestPaths()).toEqual(["/WebObjects/MZStoreServices.woa/ws/genres?id=36&cc=us"])
    expect(await scene.count("genre")).toBeGreaterThan(5)
    expect((await scene.due("genres"))[0]!.hours).toBeWithin(28 * 24, 31 * 24)
  })

  test("a response with the genres of another storefront changes no stored data", async () => {
    await scene.track({ iosId: HARBOR.id, countries: ["de"] })
    await scene.read("genres")
    expect(await scene.count("genre")).toBe(0)
    expect(await scene.due("genres")).toMatchObject([{ storefront: "de", failure: "mismatched" }])
  })
})

describe("a developer's page", () => {
  slow("a developer's page is read every week after a look-up has found the developer", async () => {
    await scene.track()
    expect(await scene.read("developer")).toBe(0)
    await scene.read("app")
    expect(await scene.read("developer")).toBe(1)
    expect([...(await scene.sql`select developer_id, complete from developer_shelf`)]).toEqual([
      { developer_id: "1500000011", complete: true },
    ])
    expect((await scene.due("developer"))[0]!.hours).toBeWithin(6 * 24 - 1, 8 * 24)
  })

  test("a developer's page without data keeps the stored one, and does not fail the source", async () => {
    await scene.track()
    await scene.read("app")
    await scene.read("developer")
    const before = await scene.facts()
    scene.stores.on("itunes.apple.com", "/lookup", () => lookupAnswer([]))
    await scene.read("developer", { days: 7 })
    expect(await scene.facts()).toEqual(before)
    expect(await scene.due("developer")).toMatchObject([{ failures: 0, measured: true }])
    const [state] = await scene.sql`select failures from source_state where source = 'itunes-developer'`
    expect(state).toEqual({ failures: 0 })
  })
})
