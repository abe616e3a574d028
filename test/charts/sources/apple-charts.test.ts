import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { ChartQuestion } from "../../../src/charts/kinds/chart-shape.ts"
import { appleCharts, CHART_DEPTH } from "../../../src/charts/sources/apple-charts.ts"
import { ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { checkObservation } from "../../record.ts"
import { COUNT, expectTypedOrFaithful } from "../../stores/parsing/mutations.ts"
import { fixture, PARSED } from "../../stores/parsing/parsed.ts"
import { reachOf, replayServer } from "../../stores/parsing/replay.ts"

setDefaultTimeout(60_000)

const server = replayServer()
afterAll(() => server.stop())
beforeEach(() => {
  server.requests.length = 0
})

const FINANCE: ChartQuestion = { storefront: "us", device: "iphone", chart: "free", genre: "6015" }
const ABOUT = { seenAt: new Date("2026-08-12T14:00:00Z"), sha256: new Uint8Array(32) }

function parse(body: string, question = FINANCE) {
  const observation = appleCharts.parse(body, question, ABOUT)
  checkObservation(observation, new Date("2026-08-13"))
  return observation
}

function outcomeOf(body: string, question = FINANCE): string {
  try {
    parse(body, question)
  } catch (error) {
    expect(error).toBeInstanceOf(ReadFailure)
    return (error as ReadFailure).outcome
  }
  return "read"
}

const feedUrl = "https://itunes.apple.com/us/rss/topfreeapplications/limit=200/genre=6015/json"

/** Returns a feed with apps of these ids. `more` replaces its own description. */
function feedText(ids: number[], more: object = {}): string {
  const entry = ids.map((id) => ({ "im:name": { label: `App ${id}` }, id: { attributes: { "im:id": String(id) } } }))
  const header = { title: { label: "iTunes Store: Top" }, updated: { label: "2026-08-12" }, id: { label: feedUrl } }
  return JSON.stringify({ feed: { entry: entry.length === 1 ? entry[0] : entry, ...header, ...more } })
}

describe("the request", () => {
  test.each([
    [{ ...FINANCE }, "/us/rss/topfreeapplications/limit=200/genre=6015/json"],
    [{ ...FINANCE, genre: "36" }, "/us/rss/topfreeapplications/limit=200/json"],
    [{ ...FINANCE, chart: "paid", device: "ipad" }, "/us/rss/toppaidipadapplications/limit=200/genre=6015/json"],
    [{ ...FINANCE, chart: "grossing", storefront: "jp" }, "/jp/rss/topgrossingapplications/limit=200/genre=6015/json"],
  ] as [ChartQuestion, string][])("the request for the chart %j has the expected path", async (question, path) => {
    server.on("itunes.apple.com", "/", () => new Response(feedText([500_001], { id: undefined })))
    const { seen } = await readOnce(appleCharts, question, reachOf(server))
    expect(server.requests.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([`GET ${path}`])
    expect(seen).toMatchObject(question)
  })

  test("an unknown storefront or genre cannot be requested", () => {
    for (const wrong of [{ storefront: "zz" }, { genre: "" }, { genre: "x" }, { genre: "6015/json?" }])
      expect(() => appleCharts.request({ ...FINANCE, ...wrong })).toThrow(RangeError)
  })
})

describe("a chart feed", () => {
  test("a chart has the apps of its feed in order, each only at its first rank, with the facts of the feed", () => {
    const { apps, ...rest } = parse(fixture("apple-charts-us-free-finance.json"))
    expect(rest).toEqual({
      kind: "chart",
      source: "apple-charts",
      platform: "ios",
      ...FINANCE,
      depth: 7,
      complete: true,
      origin: "own",
      parser: 1,
      ...ABOUT,
    })
    expect(apps.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7].map((place) => `163000010${place}`))
    expect(apps[1]).toEqual({
      id: "1630000102",
      name: "Split & Settle",
      icon:
        "https://is1-ssl.mzstatic.com/image/thumb/Purple221/v4/d9/df/44/d9df4423-example/" +
        "AppIcon-0-0-1x_U007emarketing-0-8-0-85-220.png/512x512bb.jpg",
      developer: "Even Steven GmbH",
      developerId: "1500000021",
      bundleId: "com.example.splitsettle",
      price: 0,
      currency: "USD",
      genre: "6015",
    })
    // a genre's chart may contain an app with another main genre
    expect(apps[4]?.genre).toBe("6007")
  })

  test("a feed whose only entry is an object instead of an array gives a chart with one app", () => {
    const question: ChartQuestion = { storefront: "mt", device: "ipad", chart: "paid", genre: "6001" }
    const { depth, apps } = parse(fixture("apple-charts-mt-paid-ipad-one.json"), question)
    expect(depth).toBe(1)
    expect(apps).toMatchObject([{ id: "1630000301", name: "Barometer Pro", price: 4.99, currency: "EUR" }])
  })

  test("an empty feed is accepted only if it has its title, update time and address", () => {
    const question: ChartQuestion = { storefront: "nr", device: "iphone", chart: "grossing", genre: "6020" }
    const empty = fixture("apple-charts-nr-grossing-empty.json")
    expect(parse(empty, question)).toMatchObject({ depth: 0, complete: true, apps: [] })
    const { feed: named } = JSON.parse(empty)
    for (const part of ["title", "updated"]) {
      const { [part]: _, ...rest } = named
      expect(outcomeOf(JSON.stringify({ feed: rest }), question)).toBe("changed")
    }
    const { id: _, link: __, ...nameless } = named
    expect(outcomeOf(JSON.stringify({ feed: nameless }), question)).toBe("changed")
    expect(outcomeOf('{"feed":{}}', question)).toBe("changed")
    expect(outcomeOf(JSON.stringify({ feed: { ...named, entry: [] } }), question)).toBe("changed")
  })

  test("the depth of a chart is the number of apps in its feed, and over 200 apps fail as changed", () => {
    const ids = (count: number) => Array.from({ length: count }, (_, n) => 500_001 + n)
    expect(parse(feedText(ids(100))).depth).toBe(100)
    expect(parse(feedText(ids(CHART_DEPTH))).apps.at(-1)).toEqual({ id: "500200", name: "App 500200" })
    expect(outcomeOf(feedText(ids(CHART_DEPTH + 1)))).toBe("changed")
  })

  test("a feed fails as mismatched if its address has another storefront, chart, device or genre", () => {
    const self = (href: string) => ({ id: undefined, link: [{ attributes: { rel: "self", href } }] })
    const old =
      "http://ax.itunes.apple.com/WebObjects/MZStoreServices.woa/ws/RSS/topfreeapplications/sf=143441/limit=100/" +
      "genre=6015/json"
    for (const addresses of [
      {},
      self(feedUrl),
      { id: { label: old } },
      {
        link: {
          attributes: { href: "https://itunes.apple.com/WebObjects/MZStore.woa/wa/viewTop?cc=us&id=25244&popId=27" },
        },
      },
    ])
      expect(outcomeOf(feedText([500_001], addresses))).toBe("read")
    for (const other of [
      feedUrl.replace("/us/", "/gb/"),
      feedUrl.replace("free", "paid"),
      feedUrl.replace("freeapp", "freeipadapp"),
      feedUrl.replace("/genre=6015", ""),
      feedUrl.replace("6015", "6016"),
      old.replace("143441", "143444"),
      "https://itunes.apple.com/WebObjects/MZStore.woa/wa/viewTop?cc=gb",
    ])
      expect([other, outcomeOf(feedText([500_001], self(other)))]).toEqual([other, "mismatched"])
    const overall = { ...FINANCE, genre: "36" }
    expect(outcomeOf(feedText([500_001], self(feedUrl)), overall)).toBe("mismatched")
    expect(outcomeOf(feedText([500_001], self(feedUrl.replace("/genre=6015", ""))), overall)).toBe("read")
  })

  test("a feed fails as changed if an app lacks its id or name, or has a fact of the wrong type", () => {
    const wellFormed = { "im:name": { label: "App" }, id: { attributes: { "im:id": "500001" } } }
    const outcomeOfEntry = (entry: object) => outcomeOf(JSON.stringify({ feed: { entry } }))
    expect(outcomeOfEntry(wellFormed)).toBe("read")
    for (const wrong of [
      { id: undefined },
      { id: { attributes: { "im:id": 500_001 } } },
      { id: { attributes: { "im:id": "12" } } },
      { "im:name": { label: " " } },
      { "im:price": { attributes: { amount: "free" } } },
      { "im:price": { attributes: { currency: "€" } } },
      { "im:image": { label: "icon.png" } },
      { category: { attributes: { "im:id": "finance" } } },
    ])
      expect(outcomeOfEntry({ ...wellFormed, ...wrong })).toBe("changed")
  })
})

describe("recorded feeds in the newer format", () => {
  const question: ChartQuestion = { ...FINANCE, genre: "36" }

  test("a feed in the newer format is read as a chart", () => {
    const { depth, apps } = parse(fixture("apple-charts-v2-free-us-2026-03-20.json"), question)
    expect(depth).toBe(10)
    expect(apps.slice(0, 3).map(({ id, name, developer }) => [id, name, developer])).toEqual([
      ["423246594", "NCAA March Madness Live", "NCAA Digital"],
      ["307184892", "CBS Sports App: Scores & News", "CBS Interactive"],
      ["6448311069", "ChatGPT", "OpenAI OpCo, LLC"],
    ])
    expect(apps[0]?.icon).toEndWith("/AppIconProd-0-0-1x_U007epad-0-1-P3-85-220.png/512x512bb.jpg")
    const german = parse(fixture("apple-charts-v2-free-de-2026-03-20.json"), { ...question, storefront: "de" })
    expect(german.apps).toHaveLength(10)
  })

  test("a newer feed of another chart fails as mismatched, and an empty newer feed as changed", () => {
    const body = fixture("apple-charts-v2-free-us-2026-03-20.json")
    for (const other of [{ storefront: "de" }, { chart: "paid" }, { device: "ipad" }, { genre: "6015" }] as const)
      expect(outcomeOf(body, { ...question, ...other })).toBe("mismatched")
    const { feed: parsedFeed } = JSON.parse(body)
    expect(outcomeOf(JSON.stringify({ feed: { ...parsedFeed, results: [] } }), question)).toBe("changed")
    expect(outcomeOf(JSON.stringify({ feed: { ...parsedFeed, country: "gb" } }), question)).toBe("mismatched")
  })
})

test("a page that asks for a CAPTCHA fails as blocked, and other bodies that are not feeds fail as changed", () => {
  expect(outcomeOf(fixture("apple-web-captcha.html"))).toBe("blocked")
  for (const body of ["", "[]", "null", "{}", "<html></html>", '{"feed":7}']) expect(outcomeOf(body)).toBe("changed")
})

describe("mutated feeds", () => {
  for (const { source, subject: question, fixture: name, as } of PARSED.filter((parsed) =>
    parsed.fixture.startsWith("apple-charts"),
  )) {
    test(`mutated ${name} gives a typed failure or only values that the body contains`, () => {
      const tally = expectTypedOrFaithful(source, question, fixture(name), { as })
      expect(tally.read).toBeGreaterThan(COUNT / 5)
      expect(tally.changed).toBeGreaterThan(COUNT / 5)
    })
  }
})
