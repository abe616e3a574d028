import { afterAll, beforeEach, describe, expect, test } from "bun:test"
import { ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { itunesLookup, LOOKUP_IDS } from "../../../src/stores/apple/itunes-lookup.ts"
import { itunesSearch } from "../../../src/stores/apple/itunes-search.ts"
import { checkObservation } from "../../record.ts"
import { fixture } from "../parsing/parsed.ts"
import { reachOf, replayServer } from "../parsing/replay.ts"

const server = replayServer()
afterAll(server.stop)

let answer: () => Response
server.on("itunes.apple.com", "/lookup", () => answer())
beforeEach(() => {
  server.requests.length = 0
})

async function lookup(body: string, ids: string[], storefront = "us") {
  answer = () => new Response(body, { headers: { "content-type": "text/javascript; charset=utf-8" } })
  const { seen: reading } = await readOnce(itunesLookup, { storefront, ids }, reachOf(server))
  checkObservation(reading, new Date())
  return reading
}

async function failure(body: string, ids: string[]): Promise<ReadFailure> {
  const failed = await lookup(body, ids).catch((error) => error)
  expect(failed).toBeInstanceOf(ReadFailure)
  return failed
}

const rows = (...results: object[]) => JSON.stringify({ resultCount: results.length, results })
const app = (trackId: number, more = {}) => ({
  wrapperType: "software",
  kind: "software",
  trackId,
  trackName: `App ${trackId}`,
  artistId: 777_001,
  ...more,
})

const SHOTS = "http://a5.mzstatic.com/eu/r30/Purple3/v4"
const PICTURE = "https://is1-ssl.mzstatic.com/image/thumb/a.jpg/392x696bb.jpg"

describe("request of a look-up", () => {
  test("50 ids are sent in one request, each once and in their order", async () => {
    const ids = Array.from({ length: LOOKUP_IDS }, (_, n) => String(500_000 + n))
    const reading = await lookup(fixture("itunes-lookup-empty-us.json"), [...ids, "500000"], "gb")
    expect(server.requests.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
      `GET /lookup?id=${ids.join(",")}&country=gb&entity=software`,
    ])
    expect(reading).toMatchObject({ storefront: "gb", asked: ids, apps: [] })
  })

  test("a look-up of no id or of more than 50 throws RangeError", () => {
    for (const count of [0, 51]) {
      const ids = Array.from({ length: count }, (_, n) => String(500_000 + n))
      expect(() => itunesLookup.request({ storefront: "us", ids })).toThrow(RangeError)
    }
  })
})

describe("recorded answers of a look-up", () => {
  test("an app has the facts of its row", async () => {
    const reading = await lookup(fixture("itunes-lookup-338986109-fr.json"), ["338986109"], "fr")
    expect(reading).toMatchObject({
      kind: "apps",
      source: "itunes-lookup",
      platform: "ios",
      storefront: "fr",
      origin: "own",
    })
    expect(reading.apps).toEqual([
      {
        id: "338986109",
        name: "118 712 annuaire - recherche inverse, pro, particulier",
        icon:
          "http://is3.mzstatic.com/image/thumb/Purple69/v4/0b/28/9d/0b289d7c-7227-175e-814f-ddc69ea63001/" +
          "mzl.ujaisbyd.png/0x0ss-85.jpg",
        developer: "Orange",
        bundleId: "com.orange.118712",
        ratings: 4118,
        rating: 3.5,
        version: "4.2.2",
        price: 0,
        currency: "EUR",
        genre: "6002",
        genres: ["6002", "6012"],
        developerId: "286449796",
        developerSite: "http://www.118712.fr/118712-sur-votre-iphone.html",
        releasedAt: new Date("2009-11-20T23:00:19Z"),
        languages: ["en", "fr"],
        sizeBytes: 16_438_563,
        listing: {
          description: expect.stringMatching(/^Vos recherches à proximité en un clic !\n\n/),
          screenshots: {
            phone: expect.arrayContaining([
              `${SHOTS}/59/05/d2/5905d2a8-1786-428a-55d7-83e10a0e280f/screen1136x1136.jpeg`,
            ]),
          },
          minimumOs: "7.0",
          ageRating: "4+",
          category: "Utilities",
          versions: [{ version: "4.2.2", notes: "Correction de bugs mineurs" }],
        },
      },
    ])
    expect(reading.apps[0]!.listing!.screenshots!.phone).toHaveLength(5)
  })

  test("an app's genres are the main one and then the other distinct ones, up to the storage limit", async () => {
    const genres = async (...genreIds: unknown[]) => {
      const { apps } = await lookup(rows(app(500_000, { primaryGenreId: 6014, genreIds })), ["500000"])
      return apps[0]!.genres
    }
    expect(await genres("6014", "7001", "6016")).toEqual(["6014", "7001", "6016"])
    expect(await genres("7001", "6014", "7001")).toEqual(["6014", "7001"])
    expect(await genres("7001", "Games", "", "07002", "1234567", null, {}, 6016)).toEqual(["6014", "7001", "6016"])
    const many = Array.from({ length: 30 }, (_, n) => String(7_001 + n))
    expect(await genres(...many)).toEqual(["6014", ...many.slice(0, 19)])
  })

  test("an app whose row has no genres or no main genre has no genres", async () => {
    const appWith = async (more: object) => (await lookup(rows(app(500_000, more)), ["500000"])).apps[0]
    expect(await appWith({ primaryGenreId: 6014 })).not.toHaveProperty("genres")
    expect(await appWith({ genreIds: ["6014"] })).not.toHaveProperty("genres")
    expect(await appWith({ primaryGenreId: 6014, genreIds: null })).toMatchObject({ genre: "6014" })
  })

  test("an app's languages are sorted distinct codes, and its size is read from digits or a number", async () => {
    const built = async (more: object) => {
      const [parsed] = (await lookup(rows(app(500_000, more)), ["500000"])).apps
      return [parsed!.languages, parsed!.sizeBytes]
    }
    const ids = ["924726344", "1520308763", "1507602536"]
    const recorded = await lookup(fixture("itunes-search-deliveries-us-cut3.json"), ids)
    const raw = JSON.parse(fixture("itunes-search-deliveries-us-cut3.json")).results
    for (const { id, languages, sizeBytes } of recorded.apps) {
      const row = raw.find(({ trackId }: { trackId: number }) => String(trackId) === id)
      expect(languages).toEqual([...new Set<string>(row.languageCodesISO2A)].map((code) => code.toLowerCase()).sort())
      expect(sizeBytes).toBe(Number(row.fileSizeBytes))
    }
    expect(await built({ languageCodesISO2A: ["ZH", "EN", "ZH"], fileSizeBytes: "412876800" })).toEqual([
      ["en", "zh"],
      412_876_800,
    ])
    expect(await built({ languageCodesISO2A: ["EN", "English", null, ""], fileSizeBytes: 5 })).toEqual([["en"], 5])
    // An empty list and a size of 0 are unknown.
    expect(await built({ languageCodesISO2A: [], fileSizeBytes: "0" })).toEqual([undefined, undefined])
    expect(await built({})).toEqual([undefined, undefined])
    for (const wrong of [{ languageCodesISO2A: "EN" }, { fileSizeBytes: "1.5 MB" }, { fileSizeBytes: {} }])
      expect(await failure(rows(app(500_000, wrong)), ["500000"])).toMatchObject({ outcome: "changed" })
  })

  test("an empty list of screenshots is read as unknown", async () => {
    const pictures = async (more: object) => (await lookup(rows(app(500_000, more)), ["500000"])).apps[0]!.listing
    expect(await pictures({ screenshotUrls: [], ipadScreenshotUrls: [] })).toEqual({})
    expect(await pictures({ screenshotUrls: [], ipadScreenshotUrls: [PICTURE] })).toEqual({
      screenshots: { pad: [PICTURE] },
    })
  })

  test("an app's version has its date and notes, and is left out if it has no number", async () => {
    const more = { version: "2", releaseNotes: "New.", currentVersionReleaseDate: "2026-03-16T07:35:26Z" }
    const versionsOf = async (more: object) =>
      (await lookup(rows(app(500_000, more)), ["500000"])).apps[0]!.listing!.versions
    const releasedAt = new Date("2026-03-16T07:35:26Z")
    expect(await versionsOf(more)).toEqual([{ version: "2", releasedAt, notes: "New." }])
    expect(await versionsOf({ ...more, releaseNotes: " " })).toEqual([{ version: "2", releasedAt }])
    expect(await versionsOf({ ...more, version: " " })).toBeUndefined()
  })

  test("an invalid or overlong developer site is left out, and the app stays", async () => {
    const long = `https://example.com/${"x".repeat(1_980)}`
    for (const sellerUrl of ["www.example.com", "javascript:1", 7, " ", `${long}x`]) {
      const [parsed] = (await lookup(rows(app(500_000, { sellerUrl })), ["500000"])).apps
      expect(parsed).toMatchObject({ id: "500000" })
      expect(parsed).not.toHaveProperty("developerSite")
    }
    expect((await lookup(rows(app(500_000, { sellerUrl: long })), ["500000"])).apps[0]!.developerSite).toBe(long)
  })

  test("a requested id without a row is absent", async () => {
    const partial = await lookup(fixture("itunes-lookup-284882215-us.json"), ["284882215", "338986109"])
    expect(partial.asked).toEqual(["284882215", "338986109"])
    expect(partial.apps.map(({ id, name, ratings }) => [id, name, ratings])).toEqual([
      ["284882215", "Facebook", 2_840_784],
    ])
    const none = await lookup(fixture("itunes-lookup-empty-us.json"), ["338986109"])
    expect(none).toMatchObject({ asked: ["338986109"], apps: [] })
  })

  test("a Mac app is not returned, even if its id was requested", async () => {
    const mac = await lookup(fixture("itunes-lookup-mac-us.json"), ["736189492"])
    expect(mac).toMatchObject({ asked: ["736189492"], apps: [] })
    const ids = ["924726344", "1520308763", "1507602536"]
    const reading = await lookup(fixture("itunes-search-deliveries-us-cut3.json"), ids)
    expect(reading.apps.map(({ id }) => id)).toEqual(["1520308763", "1507602536"])
  })

  test("an app without ratings has a count of 0 and no rating", async () => {
    const { apps } = await lookup(fixture("itunes-search-deliveries-us-cut3.json"), [
      "924726344",
      "1520308763",
      "1507602536",
    ])
    for (const app of apps) {
      expect(app.ratings).toBe(0)
      expect(app).not.toHaveProperty("rating")
    }
  })
})

describe("rows of a look-up", () => {
  test("a missing fact is left out, and 0 stars are no rating", async () => {
    const variants = [
      {},
      { averageUserRating: 0 },
      { version: " ", artworkUrl512: null, averageUserRating: 0, userRatingCount: 3 },
    ]
    const { apps } = await lookup(rows(...variants.map((more, n) => app(500_000 + n, more))), [
      "500000",
      "500001",
      "500002",
    ])
    expect(apps.map((app) => Object.keys(app).sort().join())).toEqual([
      "developerId,id,listing,name",
      "developerId,id,listing,name",
      "developerId,id,listing,name,ratings",
    ])
  })

  test("an app with the same id on iPhone and Mac is read as the iPhone app", async () => {
    const mac = app(500_000, { kind: "mac-software", trackName: "For the Mac", version: "9" })
    for (const body of [rows(mac, app(500_000)), rows(app(500_000), mac)]) {
      const { apps } = await lookup(body, ["500000"])
      expect(apps).toEqual([{ id: "500000", name: "App 500000", developerId: "777001", listing: {} }])
    }
  })

  test("the id of a developer, song or album returns no app and leaves the other ids intact", async () => {
    const ids = ["1700000001", "1700000020", "1700000022", "1700000010", "500009"]
    const reading = await lookup(fixture("itunes-lookup-developer-us.json"), ids)
    expect(reading.asked).toEqual(ids)
    expect(reading.apps.map(({ id, name, price, rating }) => [id, name, price, rating])).toEqual([
      ["1700000010", "Tide Clock", 2.99, 4.25],
    ])
  })

  test("a name that cannot be stored is left out, and the other apps stay", async () => {
    const reading = await lookup(rows(app(500_000, { trackName: "a\0b" }), app(500_001)), ["500000", "500001"])
    const developerId = "777001"
    expect(reading.apps).toEqual([
      { id: "500000", developerId },
      { id: "500001", name: "App 500001", developerId, listing: {} },
    ])
  })
})

describe("invalid response bodies", () => {
  const row = app(500_000)
  test.each([
    ["an error message of the store", fixture("itunes-lookup-error-us.json")],
    ["fewer rows than resultCount", JSON.stringify({ resultCount: 2, results: [row] })],
    ["more rows than resultCount", JSON.stringify({ resultCount: 0, results: [row] })],
    ["a resultCount in quotes", JSON.stringify({ resultCount: "1", results: [row] })],
    ["no results", JSON.stringify({ resultCount: 0 })],
    ["rows in an object instead of an array", JSON.stringify({ resultCount: 1, results: { 0: row } })],
    ["an app that occurs twice", rows(row, row)],
    ["an app without a name", rows({ ...row, trackName: "" })],
    ["an id in quotes", rows({ ...row, trackId: "500000" })],
    ["an unknown kind", rows({ ...row, kind: "vision-software" })],
    ["an app wrapped as a song", rows({ ...row, wrapperType: "track" })],
    ["an unknown wrapper", rows({ ...row, wrapperType: "bundle" })],
    ["a count in quotes", rows({ ...row, userRatingCount: "12" })],
    ["six stars", rows({ ...row, averageUserRating: 6 })],
    ["a negative price", rows({ ...row, price: -1 })],
    ["a currency sign instead of a code", rows({ ...row, currency: "€" })],
    ["an invalid date", rows({ ...row, releaseDate: "2025-02-30T00:00:00Z" })],
    ["pictures in an object instead of an array", rows({ ...row, screenshotUrls: { 0: PICTURE } })],
    ["an invalid picture URL", rows({ ...row, ipadScreenshotUrls: [PICTURE, "a.jpg"] })],
    ["a description that is a number", rows({ ...row, description: 4 })],
    ["a list", "[]"],
    ["null", "null"],
    ["a row of null", '{"resultCount":1,"results":[null]}'],
    ["nothing", ""],
    ["a response truncated after the word captcha", rows({ ...row, description: "captcha" }).slice(0, -9)],
    ["a page", "<!doctype html><title>iTunes</title>Http/1.1 Service Unavailable"],
  ])("a look-up response with an unexpected format fails as changed: %s", async (_what, body) => {
    expect((await failure(body, ["500000", "500002"])).outcome).toBe("changed")
  })

  test.each([
    ["an app that was not requested", rows(row, app(500_001))],
    ["a Mac app that was not asked for", rows(row, app(500_001, { kind: "mac-software" }))],
    [
      "another developer's app below a developer's row",
      rows({ wrapperType: "artist", artistId: 500_002 }, app(500_001)),
    ],
    ["a developer that was not requested", rows({ wrapperType: "artist", artistId: 777_009 }, row)],
    ["another storefront's app", rows({ ...row, trackViewUrl: "https://apps.apple.com/gb/app/one/id500000?uo=4" })],
    [
      "another storefront's developer",
      rows({
        wrapperType: "artist",
        artistId: 500_002,
        artistLinkUrl: "https://itunes.apple.com/gb/developer/x/id500002",
      }),
    ],
  ])("a look-up response that does not match the request fails as mismatched: %s", async (_what, body) => {
    expect((await failure(body, ["500000", "500002"])).outcome).toBe("mismatched")
  })

  test("every recorded response is accepted only for its own storefront", () => {
    for (const [name, storefront, ids] of [
      ["itunes-lookup-338986109-fr.json", "fr", ["338986109"]],
      ["itunes-lookup-284882215-us.json", "us", ["284882215"]],
      ["itunes-search-vpn-us-2026-03-20.json", "us", null],
    ] as const) {
      const read = (country: string) =>
        ids
          ? itunesLookup.parse(
              fixture(name),
              { storefront: country, ids },
              { seenAt: new Date("2026-03-20T00:00:00Z"), sha256: new Uint8Array(32) },
            )
          : itunesSearch.parse(
              fixture(name),
              { storefront: country, term: "vpn" },
              { seenAt: new Date("2026-03-20T00:00:00Z"), sha256: new Uint8Array(32) },
            )
      expect(read(storefront).apps.length).toBeGreaterThan(0)
      expect(() => read("de")).toThrow("the response is for another storefront")
    }
  })

  test("a CAPTCHA page with status 200 fails as blocked", async () => {
    const page = "\n<!DOCTYPE html><html><body>Please complete the CAPTCHA</body></html>"
    const failed = await failure(page, ["500000"])
    expect([failed.outcome, failed.body?.text]).toEqual(["blocked", page])
  })

  test.each([
    [400, "changed"],
    [403, "blocked"],
    [429, "rate_limited"],
    [503, "rate_limited"],
    [500, "failed"],
  ])("a look-up response with status %d fails as %s", async (status, outcome) => {
    answer = () => new Response("", { status, headers: { "retry-after": "60" } })
    const failed = await readOnce(itunesLookup, { storefront: "us", ids: ["500000"] }, reachOf(server)).catch((e) => e)
    expect([failed.outcome, failed.retryAfterMs]).toEqual([outcome, 60_000])
  })
})
