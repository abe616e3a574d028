import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import type { StoreApp } from "../../../src/core/observation/line-parts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { readMeasuredDownloads, readRatingGains } from "../../../src/market/read/gains.ts"
import type { AppsObservation } from "../../../src/stores/kinds/apps-shape.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { appsReading, NOW } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { shuffled } from "../formulas/play-apps.ts"

const AS_OF = "2025-11-20"
const IOS = "10001"
const ANDROID = "com.example.tea"
let sql: Sql

/** Returns the result of a look-up on a day of November. Day 0 is the last day of October. */
const rated = (day: number, ratings: number, rest: Partial<AppsObservation> = {}, app: Partial<StoreApp> = {}) =>
  appsReading(new Date(Date.UTC(2025, 10, day, 9)).toISOString(), [{ id: IOS, ratings, ...app }], rest)
const page = (day: number, installs: number, rest: Partial<AppsObservation> = {}) =>
  rated(day, 5, { source: "play-details", platform: "android", ...rest }, { id: ANDROID, market: { installs } })

async function store(...readings: AppsObservation[]) {
  const { refused } = await record(sql, readings, () => NOW)
  expect(refused).toEqual([])
}

async function appOf(id: string): Promise<number> {
  const [row] = await sql<{ id: number }[]>`select id from store_app where store_id = ${id}`
  return row!.id
}

const gains = async () => await readRatingGains(sql, await appOf(IOS), AS_OF)

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  await sql`delete from rating_count`
  await sql`delete from market_fact`
  await sql`delete from app_storefront`
})

describe("the rating gain of an untracked app", () => {
  slow("an untracked app's rating gain is listed by storefront, with source, age and the month before", async () => {
    const readings = [
      rated(-38, 700),
      rated(-12, 760),
      rated(-5, 800),
      rated(10, 850),
      rated(20, 900, {}, { releasedAt: new Date("2024-11-20T00:00:00Z") }),
      rated(20, 33, { storefront: "de" }),
    ]
    const us = {
      storefront: "us",
      source: "itunes-lookup",
      day: AS_OF,
      ratings: 900,
      gain: { gained: 100, days: 25, from: "2025-10-26", to: AS_OF },
      before: { gained: 60, days: 26, from: "2025-09-23", to: "2025-10-19" },
      ageDays: 365,
    }
    for (const seed of [1, 2, 3]) {
      await sql`delete from rating_count`
      for (const reading of shuffled(readings, seed)) await store(reading)
      expect(await gains()).toMatchObject([
        { storefront: "de", ratings: 33, gain: null, before: null, ageDays: null },
        us,
      ])
    }
  })

  test("a rating gain is from one source, first a source that spans a week, then the iTunes lookup", async () => {
    await store(
      rated(19, 100),
      rated(20, 101),
      rated(1, 90, { source: "itunes-search" }),
      rated(20, 95, { source: "itunes-search" }),
    )
    expect(await gains()).toMatchObject([{ source: "itunes-search", ratings: 95, gain: { gained: 5, days: 19 } }])
    await store(rated(13, 99))
    expect(await gains()).toMatchObject([{ source: "itunes-lookup", ratings: 101, gain: { gained: 2, days: 7 } }])
  })

  test("a rating gain needs two readings in thirty days", async () => {
    await store(rated(-38, 700), rated(-12, 760))
    expect(await gains()).toEqual([])
    await store(rated(20, 900))
    expect(await gains()).toMatchObject([{ ratings: 900, gain: null }])
  })
})

describe("installs counted by Google Play", () => {
  const measured = async () => await readMeasuredDownloads(sql, await appOf(ANDROID), AS_OF)

  test("installs counted by Google Play are the difference over the longest span of one storefront", async () => {
    await store(page(20, 1_500, { storefront: "de" }))
    expect(await measured()).toBeNull()
    await store(page(-9, 1_000), page(5, 1_990), page(6, 1_991), page(7, 1_992), page(12, 1_100), page(20, 1_234))
    const span = { from: "2025-10-22", to: AS_OF, days: 29 }
    expect(await measured()).toMatchObject({ value: 234, low: 234, high: 234, basis: "measured", ...span })
  })
})
