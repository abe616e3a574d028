import { beforeEach, describe, expect, test } from "bun:test"
import { possible } from "../../../src/core/observation/app-facts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { doubledKey } from "../../../src/measuring/import/json-keys.ts"
import { freshDatabase } from "../../database.ts"
import { long } from "../../long.ts"
import { importLines, parseLine } from "../../record.ts"
import { NOW } from "./measured.ts"

let sql: Sql
const now = () => NOW

beforeEach(async () => {
  sql = await freshDatabase()
})

const head = { platform: "ios", storefront: "us", seenAt: "2025-11-19T10:00:00Z" }
const lookup = (app: object) => ({
  kind: "apps",
  source: "itunes-lookup",
  ...head,
  asked: ["10001"],
  apps: [{ id: "10001", name: "Tea", ...app }],
})
const search = (app: object) => ({
  kind: "search",
  source: "import",
  ...head,
  term: "tea",
  results: [{ id: "10001", name: "Tea", ...app }],
})
const page = (listing: object) => ({
  kind: "listing",
  source: "apple-app-page",
  ...head,
  id: "10001",
  listing: { name: "Tea", ...listing },
})
const chart = (rest: object, app: object = {}) => ({
  kind: "chart",
  source: "import",
  ...head,
  device: "iphone",
  chart: "free",
  genre: "36",
  apps: [{ id: "10001", ...app }],
  ...rest,
})

async function* lines(...values: (object | string)[]): AsyncGenerator<string> {
  for (const value of values) yield typeof value === "string" ? value : JSON.stringify(value)
}

async function reasonOf(value: object | string): Promise<string> {
  const { bad, recorded } = await importLines(sql, lines(value), { now, pause: async () => {} })
  return bad[0]?.reason ?? `${recorded} recorded`
}

const ICON = "an icon must be an address that begins with https:// or http://, of 2,000 characters at most"
const STARS = "an app without ratings has no rating, and one with ratings has at least 1 star"
const RATINGS = "ratings must be a whole number from 0 to 10,000,000,000"
const CURRENCY = "a currency must be a code of ISO 4217"

describe("impossible import lines", () => {
  const cases: [what: string, line: object, reason: string][] = [
    ["a rating of nobody", lookup({ rating: 4.5, ratings: 0 }), STARS],
    ["no star of many ratings", lookup({ rating: 0, ratings: 9 }), STARS],
    ["less than a star", search({ rating: 0.5 }), "rating must be a number from 1 to 5, or 0 without ratings"],
    ["more ratings than people", search({ ratings: 1e15 }), RATINGS],
    ["a negative count", lookup({ ratings: -1 }), RATINGS],
    ["an icon that is a script", lookup({ icon: "javascript:alert(1)" }), ICON],
    ["the same in search results", search({ icon: "javascript:alert(1)" }), ICON],
    ["the same on a page", page({ icon: "data:image/png;base64,AAAA" }), ICON],
    ["the same on a chart", chart({}, { icon: "//example.com/a.png" }), ICON],
    ["a price without currency", lookup({ price: 4.99 }), "a price must have a currency, unless it is 0"],
    ["a price in an unknown currency", lookup({ price: 4.99, currency: "XYZ" }), CURRENCY],
    [
      "prices within an app without currency",
      lookup({ market: { inAppLeast: 1, inAppMost: 2 } }),
      "in-app prices must have a currency, unless they are 0",
    ],
    [
      "more installs than there are",
      lookup({ market: { installs: 1e15 } }),
      "installs must be a whole number from 0 to 1,000,000,000,000",
    ],
    [
      "an update before the release",
      lookup({ releasedAt: "2025-05-01T00:00:00Z", updatedAt: "2024-05-01T00:00:00Z" }),
      "an update must not lie more than a day before the release, unless the release is still ahead",
    ],
    [
      "an update in the future",
      lookup({ updatedAt: "2025-11-22T00:00:00Z" }),
      "an update must not lie more than a day after it was seen, unless the release is still ahead",
    ],
    [
      "stars of an app that nobody rated",
      page({ ratings: 0, ratingsByStar: [1, 0, 0, 0, 0] }),
      "the ratings by star must be five whole numbers from 0 to 10,000,000,000, all 0 without ratings",
    ],
    [
      "a screenshot that is no address",
      page({ screenshots: { phone: ["javascript:1"] } }),
      "a screenshot is not an address that begins with https:// or http://",
    ],
    [
      "an event that ends first",
      page({ events: [{ id: "1", title: "a", startsAt: "2025-11-02T00:00:00Z", endsAt: "2025-11-01T00:00:00Z" }] }),
      "an event must not end before it begins",
    ],
    ["an app beside it with a script", page({ similar: [{ id: "10002", icon: "javascript:1" }] }), ICON],
    [
      "a chart of phones that are Apple's on Google Play",
      chart({ platform: "android", apps: [{ id: "com.example.tea" }] }),
      "charts are the App Store's: the platform must be ios",
    ],
    [
      "an invalid domain",
      {
        kind: "app_ads",
        source: "app-ads-txt",
        platform: "ios",
        id: "10001",
        seenAt: head.seenAt,
        domain: "javascript:1",
        state: "no_file",
        records: [],
        variables: {},
      },
      "a domain must be a host name in lower case",
    ],
  ]
  test.each(cases)("an import line is refused for %s", async (_, line, reason) => {
    expect(await reasonOf(line)).toBe(reason)
    expect(await sql`select 1 from store_app`).toHaveLength(0)
  })

  test("possible lines are accepted: a free app, a pre-order, an app updated on its first day", async () => {
    const good = [
      lookup({ price: 0, ratings: 0, rating: 0 }),
      lookup({ releasedAt: "2026-02-01T08:00:00Z", updatedAt: "2025-11-01T00:00:00Z" }),
      lookup({ releasedAt: "2026-02-01T08:00:00Z", updatedAt: "2026-02-01T08:00:00Z" }),
      lookup({ releasedAt: "2025-05-01T08:00:00Z", updatedAt: "2025-05-01T03:00:00Z" }),
      lookup({ price: 4.99, currency: "USD", icon: "http://a1.phobos.apple.com/x.png", name: "\u3000" }),
    ]
    for (const [at, line] of good.entries()) {
      expect(await reasonOf({ ...line, seenAt: `2025-11-19T1${at}:00:00Z` })).toBe("1 recorded")
    }
  })
})

describe("a duplicate key", () => {
  const double = (text: string) => text.replace('"name":"Tea"', '"name":"Tea","name":"Coffee"')

  test("a duplicate JSON key is refused with its path at any depth, also if it is written with escapes", async () => {
    const text = JSON.stringify(lookup({}))
    expect(await reasonOf(text.replace('"storefront"', '"storefront":"de","storefront"'))).toBe(
      "storefront: occurs twice in its object",
    )
    expect(await reasonOf(double(text))).toBe("apps[0].name: occurs twice in its object")
    expect(await reasonOf(text.replace('"name":"Tea"', '"name":"Tea","n\\u0061me":"Tea"'))).toBe(
      "apps[0].name: occurs twice in its object",
    )
    expect(
      await reasonOf(
        double(
          JSON.stringify(page({ similar: [{ id: "10002" }, { id: "10003", name: "Tea" }] })).replace(
            '"name":"Tea","similar"',
            '"name":"Mate","similar"',
          ),
        ),
      ),
    ).toBe("listing.similar[1].name: occurs twice in its object")
    expect(await sql`select 1 from store_app`).toHaveLength(0)
  })

  test("the same JSON key is accepted in several objects and within strings", () => {
    for (const text of [
      '{"a":{"a":1},"b":[{"a":1},{"a":"a"}]}',
      '{"a":"{\\"b\\":1,\\"b\\":2}"}',
      '["a","a"]',
      '{"a":"b","b":"a"}',
    ])
      expect(doubledKey(text)).toBeNull()
    expect(doubledKey('{"a":[[],[{"b":1}],{"c":1,"d":{},"c":[]}]}')).toBe("a[2].c")
  })

  long("a duplicate JSON key is found in time linear in the length of the line", () => {
    const timed = (text: string) => {
      const times = Array.from({ length: 5 }, () => {
        const began = performance.now()
        doubledKey(text)
        return performance.now() - began
      })
      return Math.min(...times)
    }
    const shapes: ((size: number) => string)[] = [
      (size) => `{${Array.from({ length: size }, (_, i) => `"k${i}":1`).join()}}`,
      (size) => `${'{"a":'.repeat(size)}1${"}".repeat(size)}`,
      (size) => `{"a":"${"\\\\".repeat(size)}"}`,
      (size) => `${"[".repeat(size)}${"]".repeat(size)}`,
    ]
    // sixteen times as long a line, for which quadratic time would be 256 times as long
    for (const shape of shapes) expect(timed(shape(160_000))).toBeLessThan(100 * Math.max(0.5, timed(shape(10_000))))
  })
})

describe("an impossible fact on a live page", () => {
  test("an impossible fact on a live page is left out, and the rest of the page is stored", () => {
    const parsed = parseLine(
      JSON.stringify({
        ...lookup({}),
        apps: [
          { id: "10001", name: "Tea", icon: "javascript:1", price: 3, ratings: 0, rating: 4.5, version: "2" },
          { id: "10002", name: "Mate", price: 3, currency: "XYZ", ratings: 1e15, updatedAt: "2030-01-01T00:00:00Z" },
          { id: "10003", name: "Milk", price: 3, currency: "USD", ratings: 7, rating: 4.5 },
        ],
      }),
    )
    if (parsed.kind !== "observation" || parsed.observation.kind !== "apps") throw new Error("read as another kind")
    expect(possible(parsed.observation).apps).toEqual([
      { id: "10001", name: "Tea", ratings: 0, version: "2", listing: {} },
      { id: "10002", name: "Mate", listing: {} },
      { id: "10003", name: "Milk", price: 3, currency: "USD", ratings: 7, rating: 4.5, listing: {} },
    ])
  })
})
