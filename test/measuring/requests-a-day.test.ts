import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/measuring/kinds.ts"
import { freshDatabase } from "../database.ts"
import { requestsADay, type Tracked } from "./requests-a-day.ts"

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

// as the README shows them
const TABLE: [Tracked, Record<string, number>][] = [
  [
    { platform: "ios", countries: ["us"], keywords: 50, rivals: 10 },
    // 50 searches and its page; 12 charts, a look-up, 10/7 for difficulties, 5/4 for reviews, 1/7 and 1/30; 50 * 4/7; 1/14
    { "apps.apple.com": 51, "itunes.apple.com": 16, "search.itunes.apple.com": 29, "developer-sites": 1 },
  ],
  [
    { platform: "ios", countries: ["us", "de", "jp"], keywords: 50, rivals: 10 },
    { "apps.apple.com": 153, "itunes.apple.com": 48, "search.itunes.apple.com": 86, "developer-sites": 1 },
  ],
  [
    { platform: "android", countries: ["us"], keywords: 50, rivals: 10 },
    // 50 searches, 11 pages of apps, 50/7 suggestions, 5/4 for reviews
    { "play.google.com": 70, "developer-sites": 1 },
  ],
]

test.each(TABLE)("an app takes as many requests a day as the README says: %p", async (tracked, requests) => {
  expect(await requestsADay(sql, tracked)).toEqual(requests)
})

test("what is reckoned here is no request, and every other kind is", () => {
  for (const { name, upstream, requests, together, everyDays } of kindsOf({ egressCountry: "us" })) {
    expect([name, requests === 0]).toEqual([name, upstream === "here"])
    expect([together, everyDays].every((one) => one >= 1)).toBeTrue()
  }
})
