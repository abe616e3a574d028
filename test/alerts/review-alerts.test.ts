import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { addDays } from "../../src/lib/days.ts"
import type { ReviewsObservation, StoreReview } from "../../src/reviews/kinds/review-shape.ts"
import { freshDatabase } from "../database.ts"
import { reviewed, reviewedOnPlay } from "../measuring/record/reviewed.ts"
import { deriveFor, lines, OWN, readAlerts, storeAll, trackNew } from "./derived-alerts.ts"

const SEEN = "2025-11-20T11:00:00Z"
const COMPLETE = { storeId: OWN, end: { pages: 1, complete: true, empty: false } }
let sql: Sql
let reviewCount: number

beforeEach(async () => {
  sql = await freshDatabase()
  reviewCount = 0
})

/** Creates reviews written on a day. */
function reviews(count: number, day: string, stars = 1): (Partial<StoreReview> & { id: string })[] {
  return Array.from({ length: count }, () => ({ id: String(++reviewCount), stars, at: new Date(`${day}T08:00:00Z`) }))
}

/** Creates an old review, that many days before the 20th, so that the days after it are known. */
function since(days: number) {
  return reviews(1, addDays("2025-11-20", -days), 5)
}

async function alertsOf(all: (Partial<StoreReview> & { id: string })[], rest: Partial<ReviewsObservation> = {}) {
  await trackNew(sql, ["tea"])
  await storeAll(sql, [reviewed(SEEN, all, { ...COMPLETE, ...rest })])
  await deriveFor(sql)
  return lines(await readAlerts(sql))
}

const wave = ["2025-11-20 review_wave us"]

describe("reviews of one star", () => {
  test("many one-star reviews on a day cause an alert with the earlier mean, without texts or names", async () => {
    const before = [...reviews(14, "2025-11-10"), ...reviews(20, "2025-10-22")]
    expect(await alertsOf([...since(100), ...before, ...reviews(6, "2025-11-20")])).toEqual(wave)
    const [alert] = await readAlerts(sql)
    expect(alert).toMatchObject({ storefront: "us", at: new Date(SEEN) })
    // 22 October is one day too early to count
    expect(alert?.facts).toEqual({ feed: "us", count: 6, mean: 0.5, days: 28 })
  })

  test.each([
    [4, 0, []],
    [5, 0, wave],
    [6, 56, wave],
    [6, 57, []],
  ])(
    "%p one-star reviews on a day after %p such reviews in the 28 days before give the expected alert",
    async (count, before, expected) => {
      expect(await alertsOf([...since(40), ...reviews(before, "2025-11-01"), ...reviews(count, "2025-11-20")])).toEqual(
        expected,
      )
    },
  )

  test("two-star reviews cause no alert", async () => {
    expect(await alertsOf([...since(40), ...reviews(50, "2025-11-20", 2)])).toEqual([])
  })

  test.each([
    [8, wave],
    [7, []],
  ])(
    "a wave of one-star reviews needs seven earlier days with data: the oldest review is %p days older",
    async (days, expected) => {
      expect(await alertsOf([...since(days), ...reviews(9, "2025-11-20")])).toEqual(expected)
    },
  )

  test("a wave of one-star reviews is compared only with days that have data", async () => {
    const all = [...since(11), ...reviews(20, "2025-11-15"), ...reviews(6, "2025-11-20")]
    // the 10 days with data have a mean of 2 per day; over 28 days it would be 0.7
    expect(await alertsOf(all)).toEqual(wave)
    expect((await readAlerts(sql))[0]?.facts).toMatchObject({ mean: 2, days: 10 })
  })

  test("a wave of one-star reviews causes an alert only within the last three days", async () => {
    const days = ["2025-11-17", "2025-11-18"].flatMap((day) => reviews(9, day))
    expect(await alertsOf([...since(40), ...days])).toEqual(["2025-11-18 review_wave us"])
  })
})

describe("a feed", () => {
  const many = () => [...since(40), ...reviews(9, "2025-11-20")]

  test("a review feed without a complete reading causes no alert", async () => {
    expect(await alertsOf(many(), { end: { pages: 1, complete: false, empty: false } })).toEqual([])
  })

  test("a review feed causes no alert for a day until the feed was read completely on or after that day", async () => {
    await trackNew(sql, ["tea"])
    const broken = { storeId: OWN, end: { pages: 1, complete: false, empty: false } }
    const [old, low] = [since(40), reviews(9, "2025-11-20")]
    await storeAll(sql, [reviewed("2025-11-19T11:00:00Z", old, COMPLETE), reviewed(SEEN, [...low, ...old], broken)])
    await deriveFor(sql)
    expect(await readAlerts(sql)).toEqual([])
    await storeAll(sql, [reviewed("2025-11-20T11:30:00Z", [...low, ...old], COMPLETE)])
    await deriveFor(sql)
    expect(lines(await readAlerts(sql))).toEqual(wave)
  })

  test("a review feed causes no alert if its latest reading may have left a gap", async () => {
    await storeAll(sql, [reviewed("2025-11-19T11:00:00Z", since(40), COMPLETE)])
    expect(await alertsOf(reviews(9, "2025-11-20"))).toEqual([])
  })

  test("a review feed of an untracked storefront causes no alert", async () => {
    expect(await alertsOf(many(), { storefront: "de" })).toEqual([])
  })

  test("a review feed of Google Play causes one alert for all storefronts that share its language", async () => {
    const packageName = "com.example.tea"
    await trackNew(sql, ["tea"], { iosId: undefined, androidPkg: packageName, countries: ["us", "gb", "de"] })
    await storeAll(sql, [reviewedOnPlay(SEEN, many(), { ...COMPLETE, storeId: packageName })])
    const ids = []
    for (const storefront of ["us", "gb", "de"]) {
      await deriveFor(sql, { platform: "android", storefront, subject: packageName })
      ids.push(...(await sql<{ id: number }[]>`select id from alert`))
    }
    // a storefront with another language does not change it
    expect(ids).toEqual(Array(3).fill(ids[0]))
    const rows = await readAlerts(sql)
    expect(rows.map(({ storefront, facts }) => [storefront, facts.feed])).toEqual([[null, "en"]])
  })

  test("an alert about a review feed in one storefront's language is not withdrawn by other storefronts", async () => {
    const packageName = "com.example.tea"
    await trackNew(sql, ["tea"], { iosId: undefined, androidPkg: packageName, countries: ["us", "in"] })
    await storeAll(sql, [
      reviewedOnPlay(SEEN, many(), { ...COMPLETE, storeId: packageName, storefront: "in", language: "hi" }),
    ])
    for (const storefront of ["in", "us"])
      await deriveFor(sql, { platform: "android", storefront, subject: packageName })
    const rows = await readAlerts(sql)
    expect(rows.map(({ storefront, facts }) => [storefront, facts.feed])).toEqual([[null, "hi"]])
  })

  test("a wave of one-star reviews that grows later stays one alert that counts all of its reviews", async () => {
    expect(await alertsOf(many())).toEqual(wave)
    await storeAll(sql, [reviewed("2025-11-20T11:30:00Z", reviews(9, "2025-11-20"), COMPLETE)])
    await deriveFor(sql)
    const [first, ...rest] = await readAlerts(sql)
    expect(rest).toEqual([])
    expect(first?.facts.count).toBe(18)
  })
})
