import { describe, expect, test } from "bun:test"
import { moment } from "../../../src/listings/sources/apple-app-page/moments.ts"
import { appleAppPage } from "../../../src/listings/sources/apple-app-page.ts"
import { ReadFailure } from "../../../src/measuring/source.ts"
import type { Listing } from "../../../src/stores/kinds/listing-shape.ts"
import { checkObservation } from "../../record.ts"

const SUBJECT = { storefront: "us", id: "1600000101" }
const ABOUT = { seenAt: new Date("2026-08-12T00:00:00Z"), sha256: new Uint8Array(32) }

interface PageChange {
  lockup?: object
  page?: object
  linked?: object
  shelves?: Record<string, unknown>
}

/** Returns the listing of a page with a name and the given parts. */
function listing({ lockup, page, linked, shelves = {} }: PageChange): Listing {
  const intent = { id: SUBJECT.id, storefront: "us" }
  const data = { lockup: { title: "One", ...lockup }, shelfMapping: shelves, ...page }
  const described = linked
    ? `<script type="application/ld+json">${json({ "@type": "SoftwareApplication", ...linked })}</script>`
    : ""
  const body =
    `${described}<script type="application/json" ` +
    `id="serialized-server-data">${json({ data: [{ intent, data }] })}</script>`
  const reading = appleAppPage.parse(body, SUBJECT, ABOUT)
  checkObservation(reading, new Date("2026-08-13"))
  return reading.listing
}

const json = (value: unknown) => JSON.stringify(value).replaceAll("</", "<\\/")
const shelf = (...items: unknown[]) => ({ items })

function changes(change: PageChange): void {
  let failed: unknown
  try {
    listing(change)
  } catch (error) {
    failed = error
  }
  expect(failed).toBeInstanceOf(ReadFailure)
  expect((failed as ReadFailure).outcome).toBe("changed")
}

test("a page with only a name gives only a name", () => {
  expect(listing({})).toEqual({ name: "One" })
  changes({ lockup: { title: "" } })
  changes({ lockup: { title: 7 } })
})

test("a page with an unreadable part fails as changed", () => {
  for (const change of [
    { lockup: { subtitle: ["a"] } },
    { lockup: { icon: { template: "javascript:{w}x{h}{c}.{f}" } } },
    { lockup: { offerDisplayProperties: { isFree: "yes" } } },
    { linked: { offers: { price: -1 } } },
    { linked: { offers: { price: 1, priceCurrency: "€" } } },
    { shelves: { description: shelf({ paragraph: {} }) } },
    { shelves: { description: {} } },
    {
      shelves: { product_media_phone_: shelf({ screenshot: { template: "https://x.example/1.png/{w}x{h}{c}.{f}" } }) },
    },
    { shelves: { product_media_phone_: shelf({ screenshot: "1.png" }) } },
    { shelves: { similarItems: shelf({ $kind: "Lockup", title: "No id" }) } },
    { shelves: { similarItems: shelf({ $kind: "BundleLockup", adamId: "1600000102" }) } },
    { shelves: { similarItems: { items: "none" } } },
    { shelves: { information: shelf(null) } },
    { shelves: { information: shelf({ title: "Size", items: [{ text: 245 }] }) } },
    { shelves: { events: shelf({ $kind: "AppEvent", title: "Without an id" }) } },
    { shelves: { events: shelf({ $kind: "AppEvent", appEventId: "1" }) } },
    { shelves: { events: shelf({ $kind: "AppEvent", appEventId: "1", title: "T", startDate: "soon" }) } },
  ])
    changes(change)
})

describe("versions on a page", () => {
  const newest = (primarySubtitle: unknown, rest = {}) =>
    listing({ shelves: { mostRecentVersion: shelf({ primarySubtitle, ...rest }) } })
  const history = (...versions: string[]) => ({
    seeAllAction: { pageData: { shelves: [shelf(...versions.map((version) => ({ primarySubtitle: version })))] } },
  })

  test("a version is recognised in every language, and a developer's own numbering is kept", () => {
    for (const versions of [
      "Version 3.0",
      "バージョン 3.0",
      "版本 3.0",
      "版本3.0",
      "버전 3.0",
      "Phiên bản 3.0",
      "เวอร์ชัน 3.0",
      "Версия 3.0",
      "الإصدار 3.0",
      "\u200fגרסה\u00a03.0",
      " 3.0 ",
      "3.0",
    ])
      expect(newest(versions).version).toBe("3.0")
    for (const version of ["v3.0", "3.0b2", "2026.08.11", "7"]) expect(newest(version).version).toBe(version)
    expect(newest("Version 2026.8-beta").version).toBe("2026.8-beta")
    for (const none of [undefined, "", "Version", "What's New", 3, "Version 3.0 (12)"])
      changes({ shelves: { mostRecentVersion: shelf({ primarySubtitle: none }) } })
  })

  test("versions are read from the page's embedded history, whose first entry must be the newest version", () => {
    const shelves = (newest: string, ...all: string[]) => ({
      mostRecentVersion: { ...shelf({ primarySubtitle: newest }), ...history(...all) },
    })
    expect(listing({ shelves: shelves("Version 3.0", "3.0", "2.9") }).versions?.map(({ version }) => version)).toEqual([
      "3.0",
      "2.9",
    ])
    changes({ shelves: shelves("Version 3.0", "2.9", "3.0") })
    changes({
      shelves: {
        mostRecentVersion: { ...shelf({ primarySubtitle: "3.0" }), seeAllAction: { pageData: { shelves: [] } } },
      },
    })
  })

  test("a version has the date on the page, or no date if the date is unreadable", () => {
    expect(newest("3.0", { secondarySubtitle: "" }).versions).toEqual([{ version: "3.0" }])
    for (const [text, iso] of [
      ["2026-08-11", "2026-08-11T00:00:00.000Z"],
      ["2026-08-11T08:00:00Z", "2026-08-11T08:00:00.000Z"],
      ["2026-08-11T08:00:00.123+09:00", "2026-08-10T23:00:00.000Z"],
      ["Tue Aug 11 2026 08:00:00 GMT+0000 (Coordinated Universal Time)", "2026-08-11T08:00:00.000Z"],
      ["Thu Jan 01 2026 08:00:00 GMT+0000", "2026-01-01T08:00:00.000Z"],
      ["2026-12-31", "2026-12-31T00:00:00.000Z"],
      ["Tue Aug 11 2026 01:00:00 GMT-0700", "2026-08-11T08:00:00.000Z"],
    ] as const)
      expect(moment(text)?.toISOString()).toBe(iso)
    for (const none of [
      "2026-02-30",
      "2026-13-01",
      "11/08/2026",
      "Aug 11, 2026",
      "3d ago",
      "Tue Foo 11 2026 08:00:00 GMT+0000",
      "2026-08-11T25:00:00Z",
      1_786_000_000_000,
      null,
    ])
      expect(moment(none)).toBeUndefined()
    changes({ shelves: { mostRecentVersion: shelf({ primarySubtitle: "3.0", secondarySubtitle: "3d ago" }) } })
  })
})

describe("ratings on a page", () => {
  const rated = (item: object, linked?: object) =>
    listing({ shelves: { productRatings: shelf(item) }, ...(linked && { linked }) })

  test("ratings by star must be listed from five stars to one and agree with the average", () => {
    // Recorded average: 4.7 stars.
    const counts = [25_114_270, 1_991_579, 692_820, 272_564, 1_217_404]
    expect(rated({ ratingAverage: 4.7, totalNumberOfRatings: 29_288_637, ratingCounts: counts }).ratingsByStar).toEqual(
      counts as never,
    )
    changes({ shelves: { productRatings: shelf({ ratingAverage: 4.7, ratingCounts: counts.toReversed() }) } })
    changes({ shelves: { productRatings: shelf({ ratingAverage: 4.7, ratingCounts: counts.slice(1) }) } })
    changes({ shelves: { productRatings: shelf({ totalNumberOfRatings: "29M" }) } })
  })

  test("an app without ratings has a count of 0 and no rating", () => {
    const none = rated({ ratingAverage: 0, totalNumberOfRatings: 0, ratingCounts: [0, 0, 0, 0, 0] })
    expect(none).toEqual({ name: "One", ratings: 0, ratingsByStar: [0, 0, 0, 0, 0] })
    expect(listing({ shelves: { productRatings: shelf() } })).toEqual({ name: "One" })
  })

  test("ratings come from the linked data if the page has no exact count, and never from an abbreviated count", () => {
    const linked = { aggregateRating: { ratingValue: 4.5, reviewCount: 1_234 } }
    expect(listing({ linked, lockup: { rating: 4.1, ratingCount: "1.2K" } })).toMatchObject({
      rating: 4.5,
      ratings: 1_234,
    })
    expect(rated({ ratingAverage: 4.4, totalNumberOfRatings: 1_240 }, linked)).toMatchObject({
      rating: 4.4,
      ratings: 1_240,
    })
    expect(listing({ lockup: { rating: 4.1, ratingCount: "1.2K" } })).not.toHaveProperty("ratings")
  })
})

test("a price comes from the linked data, and a page that contradicts the price fails as changed", () => {
  const offer = (isFree: boolean) => ({ titleOfferDisplayProperties: { isFree, titles: { standard: "$1.99" } } })
  expect(listing({ page: offer(false), linked: { offers: { price: 1.99, priceCurrency: "USD" } } })).toMatchObject({
    price: 1.99,
    currency: "USD",
  })
  expect(listing({ page: offer(true) })).toEqual({ name: "One", price: 0 })
  expect(listing({ page: offer(false) })).toEqual({ name: "One" })
  changes({ page: offer(true), linked: { offers: { price: 1.99, priceCurrency: "USD" } } })
  changes({ page: offer(false), linked: { offers: { price: 0, priceCurrency: "USD" } } })
})

describe("information rows of a page", () => {
  const rows = (...items: object[]) => ({ shelves: { information: shelf(...items) } })
  const row = (title: string, ...texts: string[]) => ({ title, items: texts.map((text) => ({ text })) })

  test("an information row is recognised by its title in many languages, and other titles are skipped", () => {
    for (const title of ["Languages", "言語", "语言", "Sprachen", "Langues", "Idiomas", "언어", "Языки", "languages "])
      expect(listing(rows(row(title, "A, B")))).toMatchObject({ languages: ["A", "B"] })
    expect(listing(rows(row("Lingvoj", "A, B"), row("Kategorio", "C")))).toEqual({ name: "One" })
    expect(listing(rows(row("Категория", "Финансы")))).toMatchObject({ category: "Финансы" })
    // A summary counts the languages but does not name them.
    expect(listing(rows({ title: "Languages", summary: "English and 3 more", items: [] }))).toEqual({ name: "One" })
  })

  test("size, system version and age rating are recognised by their format", () => {
    for (const size of ["245.3 MB", "1,2 Go", "88,1 МБ", "1.1 GB", "900 KB"])
      expect(listing(rows(row("?", size)))).toMatchObject({ size })
    expect(listing(rows(row("?", "1 MB"), row("?", "2 MB"), row("?", "12 monkeys")))).toEqual({ name: "One" })
    const systems = [
      { heading: "iPad", text: "iPadOS 17.2" },
      { heading: "iPhone", text: "需要 iOS 16.0 或更高版本。" },
    ]
    expect(listing(rows({ title: "?", items: systems }))).toMatchObject({ minimumOs: "16.0" })
    expect(listing(rows(row("?", "Requires iOS 15.1.2 or later. Compatible with iPhone and iPad.")))).toMatchObject({
      minimumOs: "15.1.2",
    })
    expect(listing(rows({ title: "?", summary: "17+", items: [] }))).toMatchObject({ ageRating: "17+" })
    const ribbon = shelf({ type: "rating" }, { type: "contentRating", content: { contentRating: "A12" } })
    expect(listing({ shelves: { informationRibbon: ribbon } })).toMatchObject({ ageRating: "A12" })
  })

  test("in-app purchases come from the row with that title, or else from the only row with prices", () => {
    const sells = (hasInAppPurchases: boolean) => ({ titleOfferDisplayProperties: { hasInAppPurchases } })
    const priced = (title: string, name = "Gold") => ({ title, items: [{ textPairs: [[name, "$1"]] }] })
    expect(listing(rows(priced("Sold"), priced("In‑App Purchases", "Gems"))).inAppPurchases).toEqual([
      { name: "Gems", price: "$1" },
    ])
    expect(listing({ ...rows(priced("Aĉetoj")), page: sells(true) }).inAppPurchases).toEqual([
      { name: "Gold", price: "$1" },
    ])
    expect(listing({ ...rows(priced("Aĉetoj"), priced("Alia")), page: sells(true) })).not.toHaveProperty(
      "inAppPurchases",
    )
    expect(listing({ ...rows(priced("Aĉetoj")), page: sells(false) })).not.toHaveProperty("inAppPurchases")
    // A bare "Yes" is not an empty list.
    expect(listing({ ...rows(row("In-App Purchases", "Yes")), page: sells(true) })).not.toHaveProperty("inAppPurchases")
  })

  test("a subtitle that repeats the category is left out", () => {
    const listed = (subtitle: string) => listing({ lockup: { subtitle }, ...rows(row("Kategorio", "Financoj")) })
    expect(listed("financoj")).not.toHaveProperty("subtitle")
    expect(listed("Spare each day")).toMatchObject({ subtitle: "Spare each day" })
  })
})

test("events and editorial cards are found on any shelf of the page", () => {
  const event = { $kind: "AppEvent", appEventId: 6_750_000_001, title: "Week" }
  const story = (pageUrl: string) => ({ title: "T", clickAction: { pageUrl } })
  const at = "https://apps.apple.com/us"
  const cards = [
    `${at}/iphone/story/id1400000001`,
    `${at}/story/a-b/id1400000001`,
    `${at}/collection/x/id1400000002?l=es`,
    `${at}/room/1400000003`,
    `${at}/app/x/id1600000102`,
    "https://example.net/us/story/id1400000009",
  ]
  const read = listing({
    shelves: { promotions: shelf({ $kind: "OfferItem" }, event, event), featured: shelf(...cards.map(story)) },
  })
  expect(read.events).toEqual([{ id: "6750000001", title: "Week" }])
  expect(read.editorial?.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    "story 1400000001",
    "collection 1400000002",
    "collection 1400000003",
  ])
  expect(listing({ shelves: { x: { contentType: "appEvent", items: [] } } })).toMatchObject({ events: [] })
})
