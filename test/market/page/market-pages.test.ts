import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { LiveReadState, LiveSubject, Patience } from "../../../src/lib/live-read.ts"
import { followMarket } from "../../../src/market/followed-storefronts.ts"
import { type Browser, fieldIn, type Page } from "../../access/sign-in/browser.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { charted, FINANCE } from "../../measuring/record/charted.ts"
import { ownerOf } from "../../pages/app-scene.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { newStoreId, trackOwn } from "../../world/app.ts"
import { dayAgo, daysAgo } from "../../world/clock.ts"
import { hintsReading, searchReading } from "../../world/readings.ts"

setDefaultTimeout(60_000)

const EVIL = "<b>&\"'"
const CHART = "/app/market/charts?country=us&genre=6015"

let service: Service
let owner: Browser
let workspace: number
/** The readings that pages requested, and the response that the store gives. */
let reads: { subject: LiveSubject; patience: Patience }[] = []
let state: LiveReadState

const named = (id: number, name = `App ${id}`) => ({
  id: String(id),
  name,
  developer: `Maker ${id}`,
  developerId: "77001",
})
const chartOf = (days: number, apps: ReturnType<typeof named>[], rest = {}) =>
  charted(
    daysAgo(days),
    apps.map(({ id }) => id),
    { ...FINANCE, source: "apple-charts", apps, ...rest },
  )
const textOf = ({ text }: Page) => text.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ")
const rowOf = ({ text }: Page, name: string) =>
  new RegExp(`<tr>(?:(?!</tr>)[\\s\\S])*<bdi>${name}</bdi>[\\s\\S]*?</tr>`).exec(text)?.[0] ?? ""
const followed = async () =>
  (await service.sql`select storefront, genres from market_storefront order by storefront`).map(
    ({ storefront, genres }) => [storefront, genres.join()],
  )

beforeAll(async () => {
  const measure = async (subject: LiveSubject, patience: Patience) => {
    reads.push({ subject, patience })
    return state
  }
  service = openService({ sql: await freshDatabase(), measure })
  workspace = await service.workspace({ plan: "enterprise", explorer: true })
  owner = await ownerOf(service, workspace)
  await record(service.sql, [
    chartOf(8, [named(10_001), named(10_002), named(10_003), named(10_009)]),
    chartOf(1, [named(10_002), named(10_001), named(10_003), named(10_008)]),
    chartOf(0, [named(10_002), named(10_004, EVIL), named(10_001), named(10_003)]),
  ])
})

beforeEach(() => {
  reads = []
  state = { state: "fresh", measuredAt: new Date() }
})

describe("the chart page", () => {
  test("the chart page shows each app's changes and first day, new apps and apps that left", async () => {
    const page = await owner.open(CHART)
    expect(page.status).toBe(200)
    const moves = (name: string) =>
      [...rowOf(page, name).matchAll(/<td class="num[^"]*">(.*?)<\/td>/g)].map(([, cell]) =>
        (cell ?? "").replaceAll(/<[^>]+>/g, ""),
      )
    expect(moves("App 10001")).toEqual(["3", "▼ 1", "▼ 2", "–"])
    expect(moves("App 10002")).toEqual(["1", "=", "▲ 1", "–"])
    const newcomer = rowOf(page, "&lt;b&gt;&amp;&quot;&#39;")
    expect(newcomer).toContain(">new<")
    expect(newcomer).toContain(`datetime="${dayAgo(0)}"`)
    expect(rowOf(page, "App 10003")).toContain("on the first reading")
    expect(textOf(page)).toMatch(/Newcomers 1 .*&lt;b&gt;.* ▲ 2 Leavers 1 .*App 10008 .*was 4/)
  })

  test("an earlier day is shown as it was read, and the history of an app has every measured day", async () => {
    const page = await owner.open(`${CHART}&day=${dayAgo(5)}&app=10001`)
    expect(textOf(page)).not.toContain("App 10008")
    expect(rowOf(page, "App 10009")).toContain('<span class="rank">4</span>')
    expect((await owner.open(`${CHART}&app=10001`)).text).toContain("measured on 3 days; ranks 1 to 3, the last 3.")
  })

  test("HTML in texts of a store is shown as text on every page with the app", async () => {
    for (const path of [CHART, "/app/market/app?id=10004", "/app/market/search?q=b", "/app/market/find?rankMax=9"])
      expect([path, (await owner.open(path)).text.includes(EVIL)]).toEqual([path, false])
  })

  test("the page of a chart that was not read states this and offers to follow it", async () => {
    state = { state: "failed", why: "off", because: "no worker process is running" }
    const page = await owner.open("/app/market/charts?country=jp&genre=6014")
    expect(textOf(page)).toContain("This chart of Japan was not read yet")
    expect(textOf(page)).toContain("no worker process is running")
    expect(page.text).toMatch(/<option value="6014" selected="">Games<\/option><[\s\S]*Follow daily/)
  })
})

test("the page of an app without stored facts shows its name and chart ranks, and offers to track it", async () => {
  state = { state: "failed", why: "off", because: "no worker process is running" }
  const page = await owner.open("/app/market/app?id=10001")
  expect(page.text).toContain("<h1>App 10001</h1>")
  expect(page.text).toContain('href="/app/add?app=ios%3A10001')
  expect(textOf(page)).toMatch(
    /This app was not read in this storefront yet .* Ranks on charts .* Finance, United States 3/,
  )
})

test("a related keyword has each of its reasons: shared apps, names, and the App Store's suggestions", async () => {
  const names = ["Tides: Moon Phases", "Surf Forecast, Moon Phases"]
  const results = Array.from({ length: 12 }, (_, at) => named(30_001 + at, names[at]))
  const search = { source: "apple-web-search", depth: 200, results } as const
  const { refused } = await record(service.sql, [
    searchReading("tide table", daysAgo(0), [], search),
    searchReading("tide chart", daysAgo(0), [], search),
    hintsReading("tide table", daysAgo(0), ["tide chart", "tide clock"]),
  ])
  expect(refused).toEqual([])
  const page = await owner.open("/app/market/keyword?term=tide+table&country=us")
  const reasons = (term: string) => /<p class="small quiet">(.*?)<\/p>/.exec(rowOf(page, term))?.[1]
  expect(["tide chart", "tide clock", "moon phases"].map(reasons)).toEqual([
    "12 of 12 apps rank for both · suggested by the App Store",
    "suggested by the App Store",
    "in 2 names of its first apps",
  ])
})

describe("reading and credits", () => {
  const used = async (id: number) => {
    const [row] = await service.sql<{ used: number }[]>`select used::int from account where workspace_id = ${id}`
    return row?.used ?? 0
  }

  test("opening a chart page starts a reading without waiting for it, and costs nothing", async () => {
    state = { state: "pending", eta: 5 }
    const before = await used(workspace)
    const page = await owner.open("/app/market/charts?country=fr&genre=6015")
    expect(reads.map(({ subject, patience }) => [subject.kind, subject.storefront, patience.waitMs])).toEqual([
      ["chart", "fr", 0],
    ])
    expect(page.text).toContain("data-reading")
    expect(textOf(page)).toContain("It is being read")
    expect(await used(workspace)).toBe(before)
  })

  test("if the plan limits credits, only the button with the price starts a reading and charges", async () => {
    const limited = await service.workspace({ plan: "pro", explorer: true })
    const person = await ownerOf(service, limited)
    const path = "/app/market/charts?country=us&genre=6015"
    const page = await person.open(path)
    expect(textOf(page)).toContain("Read now · 10 credits")
    expect([reads.length, await used(limited)]).toEqual([0, 0])
    expect((await person.send(path, { form: "forged" })).status).toBe(403)
    const token = /<form class="filters" method="post" action="[^"]*">(<input[^>]*>)/.exec(page.text)?.[1] ?? ""
    const [, name = "", value = ""] = /name="([^"]*)" value="([^"]*)"/.exec(token) ?? []
    expect((await person.send(path, { [name]: value })).status).toBe(200)
    expect([reads.length, await used(limited)]).toEqual([1, 10])
  })

  test("the page of a workspace without Explorer states what is missing", async () => {
    const plain = await ownerOf(service, await service.workspace({ plan: "pro" }))
    expect(textOf(await plain.open(CHART))).toContain("This call needs Explorer or a credit pack.")
  })
})

describe("following a category", () => {
  const form = async (browser: Browser, fields: Record<string, string>) => {
    const page = await browser.open("/app/market")
    const [, name = "", value = ""] =
      /<input type="hidden" name="(form[^"]*|token)" value="([^"]*)"/.exec(page.text) ?? []
    return await browser.send("/app/settings/market", { [name]: value, back: "/app/market", ...fields })
  }

  slow("an operator follows a category and undoes this, and the genres in the setting MARKET remain", async () => {
    await followMarket(service.sql, [{ storefront: "gb", genres: ["36"] }])
    const sent = await form(owner, { do: "follow", storefront: "us", genre: "6015" })
    expect(sent.status).toBe(303)
    const next = await owner.open(sent.headers.get("location") ?? "")
    expect(textOf(next)).toContain("United States is followed: its charts are read within minutes, then daily. Undo")
    await form(owner, { do: "follow", storefront: "gb", genre: "6014" })
    expect(await followed()).toEqual([
      ["gb", "36,6014"],
      ["us", "6015"],
    ])
    // a start with the same MARKET setting keeps the genres chosen on pages
    await followMarket(service.sql, [{ storefront: "gb", genres: ["36"] }])
    expect(await followed()).toEqual([
      ["gb", "36,6014"],
      ["us", "6015"],
    ])
    await form(owner, { do: "drop", storefront: "us", genre: "6015" })
    await form(owner, { do: "drop", storefront: "gb", genre: "36.6014" })
    expect(await followed()).toEqual([["gb", "36"]])
    await followMarket(service.sql, [])
    expect(await followed()).toEqual([])
  })

  test("only an operator can follow a storefront, and only with a valid form token", async () => {
    const other = await service.workspace({ plan: "enterprise", explorer: true })
    const person = await ownerOf(service, other)
    await service.sql`
      update person
      set is_operator = false
      where id in (select person_id from membership where workspace_id = ${other})`
    expect((await form(person, { do: "follow", storefront: "us", genre: "36" })).status).toBe(403)
    const fields = { do: "follow", storefront: "us", genre: "36", back: "/app/market" }
    expect((await owner.send("/app/settings/market", fields)).status).toBe(403)
    expect((await form(owner, { do: "follow", storefront: "zz", genre: "36" })).status).toBe(400)
    expect((await form(owner, { do: "follow", storefront: "us", genre: "9" })).status).toBe(400)
    const redirect = await form(owner, { do: "drop", storefront: "us", genre: "36", back: "//elsewhere.example/" })
    expect(redirect.headers.get("location")).toStartWith("/app/settings/market?")
    expect(await followed()).toEqual([])
    expect(fieldIn(await person.open("/app/market"), "storefront")).toBeUndefined()
  })
})

describe("the finder page", () => {
  test("a form with wrong filters is shown again with its values, and each field has its message", async () => {
    const query = new URLSearchParams({ country: "Japan, Atlantis", rankMax: "0", growthMin: "much", text: "pay" })
    for (const genre of ["36", "6014", "6015", "6016"]) query.append("genre", genre)
    const { status, text } = await owner.open(`/app/market/find?${query}`)
    expect(status).toBe(200)
    const wrong = [...text.matchAll(/<p class="wrong" id="find-apps-(\w+)-error">/g)].map(([, field]) => field)
    expect(wrong).toEqual(["country", "rankMax", "growthMin", "genre"])
    for (const value of ["Japan, Atlantis", "much", "pay"]) expect(text).toContain(`value="${value}"`)
  })

  test("a range whose minimum is above its maximum is refused by the operation, at its field", async () => {
    const { text } = await owner.open("/app/market/find?country=us&rankMin=9&rankMax=3")
    expect(text).toContain('id="find-apps-rankMin-error"')
  })

  test("found apps are sorted by a column, and no spreadsheet executes a text of the exported file", async () => {
    await record(service.sql, [
      chartOf(0, [named(10_002), named(10_004, EVIL), named(10_001), named(10_003)], {
        chart: "grossing",
        apps: [named(10_002, "=1+1"), named(10_004, EVIL)],
      }),
    ])
    const path = "/app/market/find?country=us&genre=6015&kind=free&rankMax=9"
    const names = ({ text }: Page) =>
      [...text.matchAll(/<p><a href="[^"]*"><bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name)
    expect(names(await owner.open(`${path}&order=name`)).slice(0, 2)).toEqual(["&lt;b&gt;&amp;&quot;&#39;", "=1+1"])
    const file = await owner.open(`${path}&as=csv`)
    expect(file.headers.get("content-type")).toStartWith("text/csv")
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="apps.csv"')
    const lines = file.text.trim().split("\r\n")
    expect(lines.length).toBe(5)
    expect(lines[1]).toStartWith("1,10002,'=1+1,Maker 10002,")
  })
})

slow("a list longer than a page is sorted as a whole, except by name, and the page states why", async () => {
  const apps = Array.from({ length: 230 }, (_, at) => named(40_001 + at))
  const growing = (days: number, count: number) =>
    chartOf(days, apps.slice(0, count), { storefront: "gb", genre: "6014", depth: count })
  // the last thirty apps are new on the second day, and rank below the others
  await record(service.sql, [growing(3, 200), growing(0, 230)])
  const path = "/app/market/find?country=gb&kind=free&genre=6014&rankMax=500"
  const ids = ({ text }: Page) => [...text.matchAll(/<th scope="row">[\s\S]*?app\?id=(\d+)/g)].map(([, id]) => id)
  const byRank = await owner.open(path)
  expect(ids(byRank)[0]).toBe("40001")
  expect(textOf(byRank)).toContain("Sorting by name is offered for up to 200 apps")
  expect(byRank.text).toContain("order=firstSeen")
  expect(byRank.text).not.toContain("order=name")
  const newest = await owner.open(`${path}&order=firstSeen`)
  expect([ids(newest)[0], ids(newest)[29], ids(newest)[30]]).toEqual(["40201", "40230", "40001"])
  expect(newest.text).toContain('aria-sort="descending"')
  const file = (await owner.open(`${path}&order=firstSeen&as=csv`)).text.split("\r\n")
  expect([file.length, file[1]?.split(",")[1], file[31]?.split(",")[1]]).toEqual([232, "40201", "40001"])
  // a sort order that is not offered falls back to the rank
  expect(ids(await owner.open(`${path}&order=name`))[0]).toBe("40001")
})

describe("the comparison page", () => {
  beforeAll(async () => {
    const search = (term: string, ids: readonly number[]) => ({
      kind: "search" as const,
      source: "apple-web-search" as const,
      platform: "ios" as const,
      storefront: "us",
      term,
      seenAt: new Date(daysAgo(0)),
      depth: 200,
      complete: true,
      parser: 1,
      origin: "own",
      sha256: Buffer.alloc(32, term.length),
      results: ids.map((id) => named(id)),
    })
    await record(service.sql, [
      search("tide", [20_001, 20_007, 20_003]),
      search("clock", [20_007]),
      search("moon", [20_002]),
    ])
  })

  test("up to ten apps are compared in one table, and an app missing from complete results is absent", async () => {
    const ids = Array.from({ length: 10 }, (_, at) => 20_001 + at)
    const page = await owner.open(`/app/market/compare?country=us&apps=${ids.join("+")}`)
    const cells = (term: string) =>
      [...rowOf(page, term).matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => (cell ?? "").replaceAll(/<[^>]+>/g, ""))
    const row = (ranks: Record<number, number>) => ids.map((id) => String(ranks[id] ?? "absent"))
    expect(cells("tide")).toEqual(row({ 20001: 1, 20007: 2, 20003: 3 }))
    expect(cells("clock")).toEqual(row({ 20007: 1 }))
    expect(cells("moon")).toEqual(row({ 20002: 1 }))
  })

  test("the gap view has only keywords that the first app lacks, on the page and in the CSV file", async () => {
    const path = "/app/market/compare?country=us&apps=20001,20007&show=gap"
    const page = await owner.open(path)
    expect([rowOf(page, "clock") !== "", rowOf(page, "tide") !== ""]).toEqual([true, false])
    const file = await owner.open(`${path}&as=csv`)
    expect(file.text.split("\r\n").map((line) => line.split(",").slice(0, 3).join())).toEqual([
      "term,20001,20007",
      "clock,,1",
      "",
    ])
  })

  slow("selected keywords are added to the app without a preview, and the page offers to undo this", async () => {
    const iosId = newStoreId()
    const app = await trackOwn(service.sql, {
      workspaceId: workspace,
      iosId,
      countries: ["us"],
      keywords: [],
      origin: "own",
    })
    const page = await owner.open("/app/market/compare?country=us&apps=20001,20007")
    const form = /<form class="adds"[\s\S]*?<\/form>/.exec(page.text)?.[0] ?? ""
    const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
    const fields = hidden.map(([, name = "", value = ""]): [string, string] => [name, value.replaceAll("&amp;", "&")])
    const sent = await owner.send("/app/write", [...fields, ["terms", "clock"]])
    expect(sent.status).toBe(303)
    const terms = await service.sql`select term from tracked_term where app_id = ${app}`
    expect(terms.map(({ term }) => term)).toEqual(["clock"])
    expect(textOf(await owner.open(sent.headers.get("location") ?? ""))).toContain("1 keyword added. Undo")
  })

  test("apps of two stores, or more than ten apps, are refused with an error at the field", async () => {
    for (const apps of [
      "20001,com.example.app",
      Array.from({ length: 11 }, (_, at) => 20_001 + at).join(),
      "what is this",
    ])
      expect((await owner.open(`/app/market/compare?apps=${apps}`)).text).toContain('id="compare-apps-error"')
  })
})
