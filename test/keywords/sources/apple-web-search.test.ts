import { afterAll, describe, expect, test } from "bun:test"
import { appleWebSearch } from "../../../src/keywords/sources/apple-web-search.ts"
import { STOREFRONTS } from "../../../src/lib/storefronts.ts"
import { asksForProof } from "../../../src/measuring/parsing/proof.ts"
import { ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { appleStorefront } from "../../../src/stores/apple/storefronts.ts"
import { COUNT, expectTypedOrFaithful } from "../../stores/parsing/mutations.ts"
import { fixture, PARSED } from "../../stores/parsing/parsed.ts"
import { reachOf, replayServer } from "../../stores/parsing/replay.ts"

const server = replayServer()
afterAll(() => server.stop())

const US = { storefront: "us", term: "sleep sounds" }
const ABOUT = { seenAt: new Date("2026-03-01T00:00:00Z"), sha256: new Uint8Array(32), egress: "de" }

function parse(body: string, subject = US) {
  return appleWebSearch.parse(body, subject, ABOUT)
}

function failureOf(body: string, subject = US): ReadFailure {
  try {
    parse(body, subject)
  } catch (error) {
    expect(error).toBeInstanceOf(ReadFailure)
    return error as ReadFailure
  }
  throw new Error("it was read")
}

/** Returns a page with one full app. The intent, the page's data and the row can be changed. */
function page({ intent = {}, data = {}, item = {}, head = "" }: Record<string, unknown> = {}): string {
  const lockup = { adamId: "1600000101", title: "One" }
  const items = [{ $kind: "AppSearchResult", resultType: "content", lockup, ...(item as object) }]
  const shelves = [{ id: "SearchResults.shelfId", contentType: "searchResult", items }]
  const fullIntent = { storefront: "us", platform: "iphone", term: "sleep sounds", ...(intent as object) }
  const root = { data: [{ intent: fullIntent, data: { shelves, nextPage: null, ...(data as object) } }] }
  const json = JSON.stringify(root).replaceAll("</", "<\\/")
  return `<html><head>${head}</head><script type="application/json" id="serialized-server-data">${json}</script></html>`
}

const only = (lockup: object) => parse(page({ item: { lockup: { adamId: "1600000101", ...lockup } } })).results[0]

describe("the request", () => {
  test("the request is that of a browser in the storefront's country", async () => {
    server.on("apps.apple.com", "/jp/iphone/search", () => new Response(fixture("apple-web-search-few.html")))
    const subject = { storefront: "jp", term: "家計簿 共有" }
    const { seen: reading } = await readOnce(appleWebSearch, subject, reachOf(server))
    const { method, url, headers } = server.requests.at(-1)!
    expect(method).toBe("GET")
    expect(url.pathname).toBe("/jp/iphone/search")
    expect([...url.searchParams]).toEqual([["term", "家計簿 共有"]])
    expect(headers.get("cookie")).toBe("geo=JP")
    expect(headers.get("accept-language")).toBe("ja,en;q=0.5")
    expect(headers.get("user-agent")).toStartWith("Mozilla/5.0")
    expect(reading.results[0]?.name).toBe("かけいぼ共有")
  })

  test("the request keeps special characters of a term", () => {
    const term = "c++ & 50% off?"
    const { path } = appleWebSearch.request({ storefront: "us", term })
    expect([...new URL(path, "https://apps.apple.com").searchParams]).toEqual([["term", term]])
  })

  test("an unknown storefront is never requested as a different storefront", () => {
    for (const code of ["", "zz", "US", "uk", "us/../gb", "constructor"]) {
      expect(() => appleWebSearch.request({ storefront: code, term: "x" })).toThrow(RangeError)
    }
  })
})

describe("storefronts", () => {
  test("each storefront has a number of its own and a language", () => {
    const storefronts = STOREFRONTS.map((code) => appleStorefront(code))
    expect(new Set(storefronts.map(({ id }) => id)).size).toBe(STOREFRONTS.length)
    for (const { id, language } of storefronts) {
      expect(id).toBeWithin(143_441, 143_700)
      expect(Intl.getCanonicalLocales(language)).toEqual([language])
    }
    expect(appleStorefront("us")).toEqual({ id: 143_441, language: "en-US" })
    expect(appleStorefront("tr")).toEqual({ id: 143_480, language: "en-GB" })
    expect(appleStorefront("br")).toEqual({ id: 143_503, language: "pt-BR" })
  })
})

describe("a page of results", () => {
  const reading = parse(fixture("apple-web-search-us.html"))

  test("a page gives each app once, in the order shown, without ads and editorial cards", () => {
    const first = reading.results.slice(0, 12).map(({ id }) => id)
    expect(first.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, i) => String(1_600_000_101 + i)))
    const ids = reading.results.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    // an ad, an article, a developer, a bundle
    for (const other of ["1600000900", "1400000001", "1500000001", "1500000002"]) expect(ids).not.toContain(other)
  })

  test("a page is as deep as the places it lists", () => {
    expect(reading).toMatchObject({ depth: 196, complete: true, kind: "search", source: "apple-web-search" })
    expect(reading.results).toHaveLength(196)
  })

  test("a page's reading contains its question, source and country", () => {
    const { results, depth, complete, ...rest } = reading
    expect(rest).toEqual({
      kind: "search",
      source: "apple-web-search",
      platform: "ios",
      storefront: "us",
      term: "sleep sounds",
      origin: "own",
      parser: 1,
      ...ABOUT,
    })
  })

  test("an app has the facts that the page shows and no others", () => {
    expect(reading.results[0]).toEqual({
      id: "1600000101",
      name: "Slumber Harbor: Sleep Sounds",
      icon:
        "https://is1-ssl.mzstatic.com/image/thumb/Purple221/v4/e9/42/1c/e9421ce5-example/" +
        "AppIcon-0-0-1x_U007emarketing-0-8-0-85-220.png/512x512bb.jpg",
      developer: "Northlight Apps LLC",
      bundleId: "com.example.slumberharbor",
      ratings: 105_000,
      rating: 4.8,
    })
    expect(reading.results[3]).toMatchObject({ name: "Captcha Dreams", ratings: 87 })
    expect(reading.results[4]).toMatchObject({ name: "Baby Hush </3 Night", ratings: 0 })
    expect(reading.results[4]).not.toHaveProperty("rating")
    // entities are not decoded in a script
    expect(reading.results[6]?.name).toBe("AT&amp;Tuned Ambience")
    expect(reading.results[11]).toEqual({ id: reading.results[11]!.id })
  })

  test("pages in each of the older formats are read", () => {
    const { results, depth } = parse(fixture("apple-web-search-de.html"), { storefront: "de", term: "haushaltsbuch" })
    expect(depth).toBe(200)
    expect(results).toHaveLength(200)
    expect(results.slice(0, 6).map(({ id }) => id)).toEqual([
      "1610000200",
      "1610000201",
      "1610000202",
      "1610000203",
      "1610000204",
      "1610000205",
    ])
    expect(results.slice(0, 6).map(({ ratings }) => ratings)).toEqual([undefined, 45, undefined, 812, undefined, 7])
  })

  test("a page that states that there are no more results has the full depth", () => {
    const { results, depth, complete } = parse(fixture("apple-web-search-few.html"), {
      storefront: "jp",
      term: "家計簿 共有",
    })
    expect([results.length, depth, complete]).toEqual([4, 200, true])
  })

  test("a rating count is read only if it is exact", () => {
    for (const ratingCount of [
      "1.2M",
      "2.4K",
      "12,345",
      "1.234",
      "١٢",
      "12 ",
      "",
      "-3",
      -3,
      4.5,
      null,
      "1e3",
      [12],
      1e300,
    ]) {
      expect(only({ ratingCount })).not.toHaveProperty("ratings")
    }
    expect(only({ ratingCount: "0" })).toMatchObject({ ratings: 0 })
    expect(only({ ratingCount: 4512 })).toMatchObject({ ratings: 4_512 })
  })

  test("an icon is read only if its address is that of a picture", () => {
    for (const template of [
      "javascript:alert(1)/{w}x{h}{c}.{f}",
      "http://x.example/{w}",
      "https://x.example/{size}",
      5,
    ]) {
      expect(only({ icon: { template } })).not.toHaveProperty("icon")
    }
    expect(only({ icon: { template: "https://x.example/a.png/{w}x{h}bb.{f}" } })).toMatchObject({
      icon: "https://x.example/a.png/512x512bb.jpg",
    })
  })
})

describe("a page that finds nothing", () => {
  const subject = { storefront: "us", term: "zxqv wobble lantern" }

  test("a page that states that nothing was found is a reading without results, of the full depth", () => {
    const reading = parse(fixture("apple-web-search-none.html"), subject)
    expect(reading).toMatchObject({ results: [], depth: 200, complete: true })
  })

  test("a page without results fails as changed unless it names its term and storefront and states the end", () => {
    const body = fixture("apple-web-search-none.html")
    for (const [part, by] of [
      ['"term":"zxqv wobble lantern"', '"text":"zxqv wobble lantern"'],
      ['"storefront":"us"', '"shop":"us"'],
      ['"nextPage":null', '"nextPage":{"results":[]}'],
      ['"nextPage":null,', ""],
      ['"contentType":"searchResult"', '"contentType":"other"'],
      ['"items":[]', '"items":null'],
      ['"items":[]', '"items":[{"$kind":"EditorialSearchResult"}]'],
    ] as const) {
      expect(body).toContain(part)
      expect(failureOf(body.replace(part, by), subject).outcome).toBe("changed")
    }
  })
})

describe("pages to refuse", () => {
  test("a page for another storefront, platform or term fails as mismatched", () => {
    for (const intent of [{ storefront: "gb" }, { storefront: "GB" }, { platform: "ipad" }, { term: "sleep" }]) {
      expect(failureOf(page({ intent })).outcome).toBe("mismatched")
    }
    expect(parse(page({ intent: { storefront: "US", term: "Sleep  Sounds " } })).results).toHaveLength(1)
    const canonical = (cc: string) => `<link rel="canonical" href="https://apps.apple.com/${cc}/iphone/search?term=x">`
    const silent = { storefront: undefined }
    expect(parse(page({ intent: silent, head: canonical("us") })).results).toHaveLength(1)
    expect(failureOf(page({ intent: silent, head: canonical("gb") })).message).toBe("the page is another storefront's")
    expect(failureOf(page({ intent: silent })).message).toBe("the page does not name its storefront")
    const termless = { term: undefined }
    expect(failureOf(page({ intent: termless, head: canonical("us") })).message).toBe("the page is for another term")
    const link = canonical("us").replace("term=x", "l=en&amp;term=Sleep+Sounds")
    expect(parse(page({ intent: termless, head: link })).results).toHaveLength(1)
  })

  test("an added card that names no app changes nothing", () => {
    const next = (...types: string[]) => ({
      nextPage: { results: types.map((type, place) => ({ type, id: String(1_600_000_200 + place) })) },
    })
    const promotion = { $kind: "PromotionSearchResult", lockup: { adamId: null, title: "Look here" } }
    const whole = page()
    const bodies = [
      whole.replace('"items":[', () => `"items":[${JSON.stringify(promotion)},`),
      whole.replace('"shelves":[', '"shelves":[{"contentType":"futureShelf","items":[{"adamId":"1"}]},'),
      whole.replace('{"data":[', '{"version":7,"data":[{"intent":{"$kind":"NavigationIntent"},"data":{}},'),
      page({ data: next("editorial-items", "developers") }),
    ]
    for (const body of bodies) expect(parse(body).results.map(({ id }) => id)).toEqual(["1600000101"])
    const mixed = parse(page({ data: next("apps", "future-items", "apps") }))
    expect(mixed.results.map(({ id }) => id)).toEqual(["1600000101", "1600000200", "1600000202"])
  })

  test("a page fails as changed if an added card may be an app, or if the next page has no apps", () => {
    const lockups = [{ lockup: { adamId: "1600000102" } }]
    const bodies = [
      page({ item: { resultType: "sponsored" } }),
      page({ item: { $kind: "TripleSearchResult", lockup: undefined, lockups } }),
      page({ data: { nextPage: { results: [{ type: "ios-apps", id: "1600000102" }] } } }),
    ]
    for (const body of bodies) expect(failureOf(body).outcome).toBe("changed")
  })

  test("a page that asks for a CAPTCHA fails as blocked, even with status 200", () => {
    expect(failureOf(fixture("apple-web-captcha.html")).outcome).toBe("blocked")
    expect(failureOf("<html>Access denied</html>").outcome).toBe("blocked")
    expect(failureOf("<html>Welcome</html>").outcome).toBe("changed")
    expect(asksForProof("<p>A page about lanterns</p>")).toBe(false)
  })

  test("a page without a script, shelf, app id or next page fails as changed", () => {
    const whole = page()
    const bodies = [
      "",
      whole.replace("</script>", ""),
      whole.replace('id="serialized-server-data"', 'id="other"'),
      whole.replace('"shelves"', '"shelfMapping"'),
      whole.replace('"adamId"', '"id"'),
      page({ data: { nextPage: undefined } }),
      page({ data: { nextPage: { token: "x" } } }),
      page({ data: { nextPage: { results: [{ type: "apps", id: "x" }] } } }),
      page({ data: { nextPage: { results: [{ id: "1600000102" }] } } }),
      page({ item: { $kind: "FutureSearchResult" } }),
      page({ item: { $kind: "AppSearchResult", lockup: undefined } }),
    ]
    expect(parse(whole).results).toHaveLength(1)
    for (const body of bodies) expect(failureOf(body).outcome).toBe("changed")
  })

  test("a broken page is refused in linear time", () => {
    const started = performance.now()
    for (const part of ["<script ", "serialized-server-data", '<script id="serialized-server-data">', "<", '"']) {
      failureOf(part.repeat(3_000_000 / part.length))
    }
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe("mutated pages", () => {
  for (const { source, subject, fixture: name, as } of PARSED.filter(
    ({ source }) => source.name === "apple-web-search",
  )) {
    test(`mutations of ${name} give a typed failure, or values that the body contains`, () => {
      const tally = expectTypedOrFaithful(source, subject, fixture(name), { as })
      expect(tally.read).toBeGreaterThan(COUNT / 10)
      expect(tally.changed).toBeGreaterThan(COUNT / 10)
    })
  }
})
