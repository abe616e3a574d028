import { afterAll, describe, expect, test } from "bun:test"
import { appleStoreSearch } from "../../../src/keywords/sources/apple-store-search.ts"
import { ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { COUNT, expectTypedOrFaithful } from "../../stores/parsing/mutations.ts"
import { fixture, PARSED } from "../../stores/parsing/parsed.ts"
import { reachOf, replayServer } from "../../stores/parsing/replay.ts"

const server = replayServer()
afterAll(() => server.stop())

const US = { storefront: "us", term: "sleep sounds" }
const ABOUT = { seenAt: new Date("2026-03-01T00:00:00Z"), sha256: new Uint8Array(32) }

function parse(body: string, subject = US) {
  return appleStoreSearch.parse(body, subject, ABOUT)
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

const answer = (results: unknown, rest: object = {}, bubble: object = {}) =>
  JSON.stringify({ bubbles: [{ name: "software", results, ...bubble }], ...rest })

const idsOf = (results: unknown) => parse(answer(results)).results.map(({ id }) => id)

describe("the request", () => {
  test("the request is that of the App Store app on a phone in the storefront", async () => {
    const path = "/WebObjects/MZStore.woa/wa/search"
    server.on("search.itunes.apple.com", path, () => new Response(fixture("apple-store-search-jp.json")))
    const { seen: reading } = await readOnce(appleStoreSearch, { storefront: "jp", term: "家計簿" }, reachOf(server))
    const { method, url, headers } = server.requests.at(-1)!
    expect(method).toBe("GET")
    expect(url.pathname).toBe(path)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      clientApplication: "Software",
      media: "software",
      term: "家計簿",
    })
    expect(headers.get("x-apple-store-front")).toBe("143462,24 t:native")
    expect(headers.get("accept-language")).toBe("ja")
    expect(headers.get("user-agent")).toStartWith("AppStore/")
    expect(reading).toMatchObject({ storefront: "jp", term: "家計簿", platform: "ios", source: "apple-store-search" })
  })

  test("an unknown storefront is never requested as a different storefront", () => {
    for (const code of ["", "zz", "US", "toString"]) {
      expect(() => appleStoreSearch.request({ storefront: code, term: "x" })).toThrow(RangeError)
    }
  })
})

describe("an answer", () => {
  test("a response gives the apps in order, with facts about the first apps", () => {
    const reading = parse(fixture("apple-store-search-us.json"))
    expect(reading.results).toHaveLength(196)
    expect(reading.results.slice(0, 5).map(({ id }) => id)).toEqual([
      "1600000101",
      "1600000103",
      "1600000102",
      "1600000108",
      "1600000109",
    ])
    expect(reading.results[1]).toEqual({
      id: "1600000103",
      name: 'Lull "Deep Sleep" Sounds',
      icon: expect.stringMatching(/^https:\/\/is1-ssl\.mzstatic\.com\/[^{}]*\/512x512bb\.jpg$/),
      developer: "Lull Audio, Inc.",
      bundleId: "com.example.lull",
      ratings: 1_204_551,
    })
    expect(Object.keys(reading.results[5]!)).toEqual(["id"])
  })

  test("a reading names its term, storefront and source", () => {
    const { results, ...rest } = parse(fixture("apple-store-search-us.json"))
    expect(rest).toEqual({
      kind: "search",
      source: "apple-store-search",
      platform: "ios",
      storefront: "us",
      term: "sleep sounds",
      depth: 200,
      complete: true,
      origin: "own",
      parser: 1,
      ...ABOUT,
    })
  })

  test("a reading is as deep as its list, or 200 deep if the response states that the list is complete", () => {
    const rows = ["1600000101", "1600000102"].map((id) => ({ id, entity: "software" }))
    expect(parse(answer(rows)).depth).toBe(2)
    expect(parse(answer(rows, {}, { totalCount: 90 })).depth).toBe(2)
    expect(parse(answer(rows, {}, { totalCount: 2 })).depth).toBe(200)
  })

  test("a response nested in page data is read the same way, and its other lists are ignored", () => {
    const { results, depth } = parse(fixture("apple-store-search-jp.json"), { storefront: "jp", term: "家計簿" })
    expect([results.length, depth]).toEqual([200, 200])
    expect(results[0]).toMatchObject({ id: "1620000301", name: "ふたり家計簿", ratings: 980 })
    const ids = results.map(({ id }) => id)
    for (const other of ["1440000001", "900000001"]) expect(ids).not.toContain(other)
    expect(new Set(ids).size).toBe(200)
  })

  test("a reading contains each app once, by any of the known fields", () => {
    const [a, b] = ["1600000101", "1600000102"]
    expect(idsOf([{ id: a }, { id: b }, { id: a }])).toEqual([a, b] as string[])
    expect(
      idsOf([
        { id: a, type: 0 },
        { id: b, type: 4 },
      ]),
    ).toEqual([a] as string[])
    expect(
      idsOf([
        { id: a, kind: "iosSoftware" },
        { id: b, kind: "mobileSoftwareBundle" },
      ]),
    ).toEqual([a] as string[])
    expect(
      idsOf([
        { id: a, entity: "editorialItem" },
        { id: b, entity: "software", type: 7 },
      ]),
    ).toEqual([b] as string[])
  })

  test("an empty response is a reading only if it states zero results for the requested storefront", () => {
    const body = fixture("apple-store-search-none.json")
    expect(parse(body)).toMatchObject({ results: [], depth: 200, complete: true })
    for (const [part, by] of [
      ['"totalCount":0,', ""],
      ['"totalCount":0', '"totalCount":12'],
      ['"storeFront":"143441",', ""],
      ['"results":[]', '"results":null'],
      ['"bubbles":[', '"bubbles":[],"more":['],
      ['"name":"software"', '"name":"story"'],
    ] as const) {
      expect(body).toContain(part)
      expect(failureOf(body.replace(part, by)).outcome).toBe("changed")
    }
  })
})

describe("answers to refuse", () => {
  test("a response for another storefront fails as mismatched, and one for an invalid storefront as changed", () => {
    const body = fixture("apple-store-search-us.json")
    expect(failureOf(body, { ...US, storefront: "gb" }).message).toBe("the response is for another storefront")
    const servedBy = (storeFront: unknown) =>
      failureOf(answer([{ id: "1600000101" }], { metricsBase: { storeFront } })).outcome
    for (const header of ["143444", "143444-2,24", 143_444]) expect(servedBy(header)).toBe("mismatched")
    for (const header of ["1434411", "us", "", null, { toString: 1 }, [143_441]])
      expect(servedBy(header)).toBe("changed")
    const devices = body.replace('"name":"software"', '"name":"macSoftware"')
    expect(failureOf(devices).message).toBe("no list of results")
    for (const header of ["143441", "143441-1,24 t:native", 143_441]) {
      expect(parse(answer([{ id: "1600000101" }], { metricsBase: { storeFront: header } })).results).toHaveLength(1)
    }
  })

  test("a page that asks for a CAPTCHA fails as blocked, and other pages fail as changed", () => {
    expect(failureOf(fixture("apple-web-captcha.html")).outcome).toBe("blocked")
    expect(failureOf("<html>Hello</html>").outcome).toBe("changed")
    for (const body of ["", "null", "[]", "{}", '{"bubbles":[]}', answer({}), answer([null]), answer([{ id: "x" }])]) {
      expect(failureOf(body).outcome).toBe("changed")
    }
    expect(failureOf(answer([{ id: "1600000101", entity: "album" }])).message).toBe("no row is an app")
    expect(failureOf("[".repeat(1_000_000)).outcome).toBe("changed")
  })
})

describe("mutated answers", () => {
  for (const { source, subject, fixture: name, as } of PARSED.filter(
    ({ source }) => source.name === appleStoreSearch.name,
  )) {
    test(`mutations of ${name} give a typed failure, or values that the body contains`, () => {
      const tally = expectTypedOrFaithful(source, subject, fixture(name), { as })
      expect(tally.read).toBeGreaterThan(COUNT / 10)
      expect(tally.changed).toBeGreaterThan(COUNT / 10)
    })
  }
})
