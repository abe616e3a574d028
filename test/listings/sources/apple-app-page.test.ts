import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { appleAppPage } from "../../../src/listings/sources/apple-app-page.ts"
import { ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import type { Listing } from "../../../src/stores/kinds/listing-shape.ts"
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

const US = { storefront: "us", id: "1600000101" }
const ABOUT = { seenAt: new Date("2026-08-12T00:00:00Z"), sha256: new Uint8Array(32), egress: "de" }

function parse(body: string, subject = US) {
  const reading = appleAppPage.parse(body, subject, ABOUT)
  checkObservation(reading, new Date("2026-08-13"))
  return reading
}

function failureOf(body: string, subject = US): string {
  try {
    parse(body, subject)
  } catch (error) {
    expect(error).toBeInstanceOf(ReadFailure)
    return (error as ReadFailure).outcome
  }
  throw new Error("it was read")
}

const read = (name: string, storefront: string, id: string): Listing => parse(fixture(name), { storefront, id }).listing

describe("request of an app page", () => {
  test("an app page is requested as a browser in that country requests it, and its redirect is followed", async () => {
    server.on("apps.apple.com", "/jp/app/", ({ url }) =>
      url.pathname.endsWith("/jp/app/id1620000100")
        ? new Response(null, { status: 301, headers: { location: "./kakeibo/id1620000100" } })
        : new Response(fixture("apple-app-page-jp.html")),
    )
    const { seen: reading } = await readOnce(appleAppPage, { storefront: "jp", id: "1620000100" }, reachOf(server))
    expect(server.requests.map(({ url }) => url.pathname)).toEqual([
      "/jp/app/id1620000100",
      "/jp/app/kakeibo/id1620000100",
    ])
    const { method, headers } = server.requests[0]!
    expect([method, headers.get("cookie"), headers.get("accept-language")]).toEqual(["GET", "geo=JP", "ja,en;q=0.5"])
    expect(headers.get("user-agent")).toStartWith("Mozilla/5.0")
    expect(reading.listing.name).toBe("かけいぼ共有")
  })

  test("a redirect to another storefront fails as mismatched, and an unsold app as not_found", async () => {
    server.on("apps.apple.com", "/gb/app/", () => Response.redirect(`${server.address("apps.apple.com")}/us/app/x`))
    server.on("apps.apple.com", "/us/app/", () => new Response(fixture("apple-app-page-us.html")))
    const moved = await readOnce(appleAppPage, { ...US, storefront: "gb" }, reachOf(server)).catch((e) => e)
    expect([moved.outcome, moved.message]).toEqual(["mismatched", "the page is another storefront's"])
    const failure = await readOnce(appleAppPage, { ...US, storefront: "fr" }, reachOf(server)).catch((e) => e)
    expect(failure.outcome).toBe("not_found")
  })

  test("a request for an unknown storefront throws", () => {
    for (const storefront of ["", "zz", "US", "constructor"])
      expect(() => appleAppPage.request({ ...US, storefront })).toThrow(RangeError)
  })
})

describe("page with every part", () => {
  const { listing, ...rest } = parse(fixture("apple-app-page-us.html"))
  const art = "https://is1-ssl.mzstatic.com/image/thumb/Purple221/v4"

  test("the observation has the requested app and storefront, the source and the origin", () => {
    expect(rest).toEqual({
      kind: "listing",
      source: "apple-app-page",
      platform: "ios",
      storefront: "us",
      id: "1600000101",
      origin: "own",
      parser: 1,
      ...ABOUT,
    })
  })

  test("texts are read unchanged", () => {
    expect(listing).toMatchObject({
      name: "Slumber Harbor: Sleep Sounds",
      language: "en-US",
      subtitle: "Rain, waves & white noise",
      promotionalText: "New this month: a night on the northern sea.",
      description:
        "Fall asleep to rain, waves & a distant harbor.\n\n• 48 sounds that mix\n• A timer that fades out\n\nEnds " +
        'with </script> — and says "captcha" once.',
      bundleId: "com.example.slumberharbor",
      developer: "Northlight Apps LLC",
      developerId: "1500000011",
    })
  })

  test("the icon and the screenshots are read in order, without the preceding video", () => {
    expect(listing.icon).toBe(
      `${art}/d4/ac/50/d4ac50fe-example/AppIcon-0-0-1x_U007emarketing-0-8-0-85-220.png/512x512bb.jpg`,
    )
    expect(listing.screenshots).toEqual({
      phone: [
        `${art}/90/28/84/90288479-example/Screen.png/1290x2796bb.jpg`,
        `${art}/16/d0/c9/16d0c960-example/Screen.png/1290x2796bb.jpg`,
        `${art}/60/27/34/6027341d-example/Screen.png/1290x2796bb.jpg`,
      ],
      pad: [
        `${art}/0e/c3/ee/0ec3ee38-example/Screen.png/2048x2732bb.jpg`,
        `${art}/2f/a7/8f/2fa78f87-example/Screen.png/2048x2732bb.jpg`,
      ],
    })
  })

  test("the information rows are read", () => {
    expect(listing).toMatchObject({
      languages: ["English", "Arabic", "French", "German", "Japanese", "Portuguese (Brazil)", "Simplified Chinese"],
      size: "245.3 MB",
      minimumOs: "16.4",
      ageRating: "4+",
      category: "Health & Fitness",
      price: 0,
      currency: "USD",
      hasInAppPurchases: true,
      inAppPurchases: [
        { name: "Harbor Plus Monthly", price: "$4.99" },
        { name: "Harbor Plus Yearly", price: "$29.99" },
        { name: "Lifetime", price: "$79.99" },
      ],
    })
  })

  test("every version is read with its date and notes, newest first", () => {
    expect(listing.version).toBe("4.2.1")
    expect(listing.versions).toEqual([
      {
        version: "4.2.1",
        releasedAt: new Date("2026-08-11T08:00:00Z"),
        notes: "A calmer start.\nFixes a timer that ran on.",
      },
      { version: "4.2.0", releasedAt: new Date("2026-07-01T15:30:12Z"), notes: "The northern sea." },
      { version: "4.1", releasedAt: new Date("2026-03-02"), notes: "Twelve new sounds & a darker night mode." },
      { version: "4.0.3", releasedAt: new Date("2025-11-20T09:15:00Z") },
      { version: "1.0", releasedAt: new Date("2020-02-29T08:00:00Z") },
    ])
  })

  test("the exact rating counts are read, from five stars to one", () => {
    const { rating, ratings, ratingsByStar } = listing
    expect({ rating, ratings, ratingsByStar }).toEqual({
      rating: 4.8,
      ratings: 105_000,
      ratingsByStar: [91_350, 9_450, 2_100, 630, 1_470],
    })
  })

  test("related apps are read in page order, each once, and bundles are skipped", () => {
    expect(listing.similar?.map(({ id, name }) => [id, name])).toEqual([
      ["1600000102", "Rain & Thunder — White Noise"],
      ["1600000103", 'Lull "Deep Sleep" Sounds'],
      ["1600000104", "Captcha Dreams"],
      ["1600000105", "Baby Hush </3 Night"],
    ])
    // "1.2M" is no exact count, and an app without ratings has no average.
    expect(listing.similar?.map(({ ratings, rating }) => [ratings, rating])).toEqual([
      [undefined, 4.7],
      [undefined, 4.9],
      [87, 3.9],
      [0, undefined],
    ])
    expect(listing.moreByDeveloper?.map(({ id }) => id)).toEqual(["1600000301", "1600000302"])
  })

  test("events are read with their times, and so are the stories and collections that feature the app", () => {
    expect(listing.events).toEqual([
      {
        id: "6750000001",
        title: "Northern Lights Week",
        kind: "Special Event",
        text: "Seven nights, seven skies",
        startsAt: new Date("2026-08-20T07:00:00Z"),
        endsAt: new Date("2026-08-27T07:00:00Z"),
      },
      {
        id: "6750000002",
        title: "Harbor Choir Premiere",
        kind: "Premiere",
        startsAt: new Date("2026-09-05T18:00:00Z"),
      },
    ])
    expect(listing.editorial).toEqual([
      { id: "1400000011", kind: "story", title: "Wind down for the night" },
      { id: "1400000012", kind: "collection", title: "Apps We Love Right Now" },
    ])
  })
})

describe("app pages in other formats", () => {
  test("a Japanese page in an older format is read completely", () => {
    const { icon, screenshots, description, ...listing } = read("apple-app-page-jp.html", "jp", "1620000100")
    // The category that the page shows in place of a subtitle is not read as the subtitle.
    expect(listing).toEqual({
      name: "かけいぼ共有",
      language: "ja",
      bundleId: "jp.example.kakeibo",
      developer: "かけいぼ株式会社",
      developerId: "1520000077",
      size: "88.1 MB",
      minimumOs: "15.0",
      ageRating: "4+",
      languages: ["日本語", "英語"],
      category: "ファイナンス",
      price: 300,
      currency: "JPY",
      hasInAppPurchases: true,
      inAppPurchases: [{ name: "プレミアム（月額）", price: "¥480" }, { name: "応援" }],
      version: "25.10.0",
      versions: [{ version: "25.10.0", releasedAt: new Date("2026-07-15"), notes: "軽微な修正。" }],
      rating: 4.1,
      ratings: 1_287,
      ratingsByStar: [702, 301, 120, 56, 109],
    })
    expect(screenshots).toEqual({ phone: [expect.stringMatching(/\.png\/1242x2208bb\.jpg$/)] })
  })

  test("missing parts of a sparse page are omitted, and only an empty section gives an empty list", () => {
    expect(read("apple-app-page-de.html", "de", "1610000300")).toEqual({
      name: "Erste App",
      language: "de-DE",
      description: "Kurz & knapp.",
      developer: "Erste Schritte GmbH",
      developerId: "1510000009",
      screenshots: { pad: [] },
      size: "1,2 MB",
      languages: ["Deutsch"],
      category: "Dienstprogramme",
      price: 0,
      currency: "EUR",
      hasInAppPurchases: false,
      versions: [],
      ratings: 0,
      ratingsByStar: [0, 0, 0, 0, 0],
      similar: [],
    })
  })
})

describe("bodies that are not the requested page", () => {
  const us = fixture("apple-app-page-us.html")

  test("a page of another storefront or app fails as mismatched", () => {
    expect(failureOf(us, { storefront: "gb", id: US.id })).toBe("mismatched")
    expect(failureOf(us, { storefront: "us", id: "1600000102" })).toBe("mismatched")
    const nameless = us.replace('"id":"1600000101","storefront"', '"storefront"')
    expect(parse(nameless).listing.name).toBe("Slumber Harbor: Sleep Sounds")
    for (const other of [
      us.replace('"id":"1600000101","storefront"', '"id":"1600000109","storefront"'),
      us.replace('"adamId":"1600000101"', '"adamId":"1600000109"'),
      us.replace('"productId":"1600000101"', '"productId":"1600000109"'),
      us.replace('/id1600000101","appPlatforms', '/id1600000109","appPlatforms'),
      us.replace('"storefront":"us"', '"storefront":"gb"'),
    ]) {
      expect(other).not.toBe(us)
      expect(failureOf(other)).toBe("mismatched")
    }
    for (const [name, other] of [
      ["ProductPageIntent", "BundlePageIntent"],
      ["shelfMapping", "shelves"],
    ] as const)
      expect(failureOf(us.replace(`"${name}"`, `"${other}"`))).toBe("changed")
  })

  test("a page that does not name its app or storefront fails as changed", () => {
    const subject = { storefront: "jp", id: "1620000100" }
    const jp = fixture("apple-app-page-jp.html")
    const unplaced = jp.replace('"storefront":"jp",', "")
    // The page's canonical URL also names the storefront.
    expect(parse(unplaced, subject).storefront).toBe("jp")
    for (const nameless of [unplaced.replace('rel="canonical"', ""), jp.replace('"adamId":1620000100,', "")])
      expect(failureOf(nameless, subject)).toBe("changed")
  })

  test("a CAPTCHA page fails as blocked, and the page of an app whose description mentions captchas is read", () => {
    expect(failureOf(fixture("apple-web-captcha.html"))).toBe("blocked")
    expect(failureOf(us.replace("serialized-server-data", "x"))).toBe("changed")
    for (const body of ["", "null", "<html></html>", us.slice(0, -400)]) expect(failureOf(body)).toBe("changed")
  })

  test("a body without a page is rejected in linear time", () => {
    for (const piece of [
      "<script ",
      '<script id="serialized-server-data',
      "serialized-server-data",
      "application/ld+json",
    ]) {
      const started = performance.now()
      expect(failureOf(piece.repeat(2_000_000 / piece.length))).toBe("changed")
      expect(performance.now() - started).toBeLessThan(3_000)
    }
  })
})

test("the bodies of app pages are never stored, because they embed reviews with their authors", () => {
  expect(appleAppPage.namesPeople).toBe(true)
  expect(JSON.stringify(parse(fixture("apple-app-page-us.html")))).not.toContain("Example review.")
})

describe("mutated pages", () => {
  for (const { source, subject, fixture: name, as } of PARSED.filter((entry) =>
    entry.fixture.startsWith("apple-app-page"),
  )) {
    test(`mutated ${name} gives a typed failure or only values that the body contains`, () => {
      const tally = expectTypedOrFaithful(source, subject, fixture(name), { as })
      expect(tally.read).toBeGreaterThan(COUNT / 5)
      expect(tally.changed).toBeGreaterThan(COUNT / 7)
      // On a truncated page, the app's own description may be the only text about captchas.
      expect(tally.blocked).toBeLessThan(COUNT / 10)
    })
  }
})
