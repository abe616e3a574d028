import { beforeEach, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { readWrittenReviews } from "../../../src/keywords/read/day-facts.ts"
import { readStoredIds } from "../../../src/reviews/read/feeds.ts"
import { readFeedState } from "../../../src/reviews/read/reviews.ts"
import { tallyReviews } from "../../../src/reviews/read/tallies.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { importLines } from "../../record.ts"
import { NOW } from "./measured.ts"

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

/** Returns a reading of that day of November at noon, marked as complete, with reviews written on these days. */
const line = (day: number, written: readonly number[]) =>
  JSON.stringify({
    kind: "reviews",
    source: "apple-reviews",
    platform: "ios",
    storefront: "us",
    storeId: "10001",
    complete: true,
    seenAt: `2025-11-${day}T12:00:00Z`,
    reviews: written.map((writtenDay) => ({
      id: String(writtenDay),
      stars: 1,
      text: "t",
      at: `2025-11-${writtenDay}T08:00:00Z`,
    })),
  })

async function load(...lines: string[]): Promise<void> {
  async function* each() {
    yield* lines
  }
  const { bad } = await importLines(sql, each(), { now: () => NOW, pause: async () => {} })
  expect(bad).toEqual([])
}

async function coverage() {
  const [app] = await sql<{ id: number }[]>`select id from store_app where store_id = '10001'`
  const feed = { appId: app!.id, feed: "us" }
  const state = await readFeedState(sql, feed)
  const { covered } = await tallyReviews(sql, feed, { from: "2025-11-10", to: "2025-11-19" }, state)
  const measured: number[] = []
  for (let dayOfMonth = 10; dayOfMonth < 20; dayOfMonth++) {
    const span = {
      from: new Date(`2025-11-${dayOfMonth}T00:00:00Z`),
      to: new Date(`2025-11-${dayOfMonth + 1}T00:00:00Z`),
      now: NOW,
    }
    const [day] = await readWrittenReviews(sql, [{ app: app!.id, feed: "us" }], span)
    if (day!.measured) measured.push(dayOfMonth)
  }
  return { complete: state.complete, measured, covered: [...covered] }
}

const DAYS = ["2025-11-13", "2025-11-14", "2025-11-15", "2025-11-16", "2025-11-17", "2025-11-18"]

test("a complete reading that includes a stored review covers the days in between", async () => {
  await load(line(14, [12, 13]), line(19, [13, 15, 18]))
  expect(await coverage()).toEqual({ complete: true, measured: [13, 14, 15, 16, 17, 18], covered: DAYS })
})

slow("a reading with only new reviews is incomplete and covers no day before its oldest review", async () => {
  const lines = [line(14, [12, 13]), line(19, [16, 18])]
  await load(...lines)
  // 14 to 16 lie between the stored reviews and the new ones
  const expected = { complete: false, measured: [17, 18], covered: ["2025-11-17", "2025-11-18"] }
  expect(await coverage()).toEqual(expected)
  sql = await freshDatabase()
  await load(lines[1]!)
  await load(lines[0]!)
  expect(await coverage()).toEqual(expected)
})

test("a gap between two readings of reviews stays: days before the gap's end have no review counts", async () => {
  await load(line(14, [12, 13]), line(17, [16]), line(19, [16, 18]))
  expect(await coverage()).toEqual({ complete: true, measured: [17, 18], covered: ["2025-11-17", "2025-11-18"] })
})

test("a reading of reviews does not stop at a stored review that lies after a gap", async () => {
  const feed = { platform: "ios", storeId: "10001", feed: "us", source: "apple-reviews" } as const
  const review = { id: "18", stars: 1, text: "t", at: new Date("2025-11-18T08:00:00Z") }
  await load(line(14, [12, 13]), line(18, [16]), line(19, [18]))
  expect((await readStoredIds(sql, feed))(review)).toBe(false)
  await load(line(20, [13, 15, 16, 18]).replace("T12:00", "T11:00"))
  expect((await readStoredIds(sql, feed))(review)).toBe(true)
  expect((await coverage()).complete).toBe(true)
})
