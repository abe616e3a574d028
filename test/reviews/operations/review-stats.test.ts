import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { ENTITLEMENTS } from "../../../src/access/plans.ts"
import type { Sql } from "../../../src/database/types.ts"
import { getReviewStats } from "../../../src/reviews/operations/review-stats.ts"
import { searchReviews } from "../../../src/reviews/operations/search-reviews.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { ask, contextOf, NOW, newWorkspace } from "../../measuring/record/measured.ts"
import { ALL, isAllHere, SOME } from "../../measuring/record/review-rows.ts"
import { reviewed } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { AFTER, type Expected, realReviews } from "../real-reviews.ts"

setDefaultTimeout(60_000)

function reader(sql: Sql, workspaceId: number, now: Date, reviewDays = ENTITLEMENTS.enterprise.reviewDays) {
  const ctx = contextOf(sql, workspaceId, now)
  return { ...ctx, caller: { ...ctx.caller, entitlements: { ...ENTITLEMENTS.pro, reviewDays } } }
}

const SETS: [name: string, path: string][] = [["203 real reviews", SOME]]
if (isAllHere) SETS.push(["the 8,820 real reviews", ALL])

describe.each(SETS)("statistics of %s", (_, path) => {
  let sql: Sql
  let workspaceId: number
  let real: Awaited<ReturnType<typeof realReviews>>

  beforeAll(async () => {
    sql = await freshDatabase()
    workspaceId = await newWorkspace(sql)
    real = await realReviews(sql, workspaceId, path)
  })

  const WINDOWS: { days?: number; from?: string; to?: string }[] = [
    {},
    { days: 1 },
    { days: 2 },
    { days: 365 },
    { from: "2026-01-08", days: 3 },
    { from: "2025-12-01", to: "2026-01-08" },
    { to: "2026-01-08", days: 7 },
    { from: "2026-01-08", to: "2026-01-08" },
  ]

  slow("every figure equals a count of the rows, and the search finds the same number of reviews", async () => {
    const ctx = reader(sql, workspaceId, AFTER)
    for (const [feed, rows] of real.feeds) {
      const [game, country] = [feed.slice(0, feed.lastIndexOf(" ")), feed.slice(feed.lastIndexOf(" ") + 1)]
      for (const window of WINDOWS) {
        const place = { appId: real.apps[game], country }
        const stats = await ask(getReviewStats, ctx, { ...place, ...window })
        const { from, to } = daysOf(window)
        expect([feed, window, stats.from, stats.to]).toEqual([feed, window, from, to])
        const inWindow = rows.filter(({ date }) => date.slice(0, 10) >= from && date.slice(0, 10) <= to)
        const { count, average, distribution } = stats
        expect({ count, average, distribution }).toEqual(figures(inWindow))
        const low = inWindow.filter(({ rating }) => rating <= 2).length
        if (inWindow.length > 0) expect(stats.lowShare).toBeCloseTo(low / inWindow.length, 4)
        else expect(stats.lowShare).toBeNull()
        expect(stats.byDay).toEqual(eachDay(inWindow, from, to, coveredOf(rows)))
        expect(stats.byVersion).toEqual(eachVersion(inWindow).slice(0, 200))
        expect((await ask(searchReviews, ctx, { ...place, from, to, limit: 1 })).total).toBe(count)
      }
    }
  })
})

function daysOf({ days = 90, from, to = "2026-01-12" }: { days?: number; from?: string; to?: string }) {
  return { from: from ?? new Date(Date.parse(to) - (days - 1) * 86_400_000).toISOString().slice(0, 10), to }
}

/**
 * Returns the bounds of the covered days. All reviews were read once, on 2026-01-12 at midnight: the day of the oldest
 * review and 2026-01-12 itself are not covered.
 */
function coveredOf(rows: readonly Expected[]) {
  return { after: rows.at(-1)!.date.slice(0, 10), before: "2026-01-12" }
}

function eachDay(rows: readonly Expected[], from: string, to: string, { after, before }: Record<string, string>) {
  const days = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10)
    const { count, average } = figures(rows.filter(({ date }) => date.startsWith(day)))
    const covered = day > after! && day < before!
    days.push({ day, count: count === 0 && !covered ? null : count, average, covered })
  }
  return days
}

function eachVersion(rows: readonly Expected[]) {
  const versions = [...new Set(rows.map(({ version }) => version))]
  return versions
    .map((version) => ({ version, ...figures(rows.filter((row) => row.version === version)) }))
    .sort((a, b) => b.count - a.count || (a.version < b.version ? -1 : 1))
}

function figures(rows: readonly Expected[]) {
  const distribution = Object.fromEntries(
    [1, 2, 3, 4, 5].map((stars) => [stars, rows.filter(({ rating }) => rating === stars).length]),
  )
  const mean = rows.reduce((sum, { rating }) => sum + rating, 0) / rows.length
  return { count: rows.length, average: rows.length === 0 ? null : Math.round(mean * 100) / 100, distribution }
}

describe("covered days of a feed", () => {
  let sql: Sql
  let workspaceId: number
  let appId: string
  const end = (complete: boolean, empty = false) => ({ end: { pages: 1, complete, empty } })
  /** Returns one review for each of these days of November. */
  const written = (...days: number[]) =>
    days.map((day) => ({ id: `${day}`, at: new Date(Date.UTC(2025, 10, day, 12)) }))
  const read = async (day: number, days: number[], rest: object = end(true)) =>
    await record(
      sql,
      [reviewed(new Date(Date.UTC(2025, 10, day, 18)).toISOString(), written(...days), rest)],
      () => NOW,
    )
  /** Returns the number of reviews between two days of November, and the covered days: "2-3 11-14". */
  const stats = async (from: number, to = 20, reviewDays?: number) => {
    const ctx = reader(sql, workspaceId, NOW, reviewDays)
    const answer = await ask(getReviewStats, ctx, { appId, from: date(from), to: date(to) })
    const runs: [number, number][] = []
    for (const { day, count, covered } of answer.byDay) {
      const number = Number(day.slice(8))
      if (!covered) expect(count).not.toBe(0)
      else if (runs.at(-1)?.[1] === number - 1) runs.at(-1)![1] = number
      else runs.push([number, number])
    }
    const last = runs.at(-1)?.map(date) ?? [null, null]
    expect([answer.coveredFrom, answer.coveredTo]).toEqual(last)
    return [answer.count, runs.map(([first, end]) => `${first}-${end}`).join(" ")]
  }
  const date = (day: number) => `2025-11-${String(day).padStart(2, "0")}`

  beforeEach(async () => {
    sql = await freshDatabase()
    workspaceId = await newWorkspace(sql)
    const tracked = { workspaceId, iosId: "10001", countries: ["us"], keywords: ["tea"], origin: "own" }
    appId = await trackOwn(sql, tracked)
  })

  slow("days from the first reading's oldest review to the latest complete reading are covered", async () => {
    expect(await stats(1)).toEqual([null, ""])
    await read(15, [5, 9, 14])
    expect(await stats(1)).toEqual([3, "6-14"])
    expect(await stats(6, 14)).toEqual([2, "6-14"])
    // Neither these days nor the days before have a review.
    expect(await stats(10, 13)).toEqual([0, "10-13"])
    expect(await stats(1, 4)).toEqual([0, ""])
    expect(await stats(16, 20)).toEqual([0, ""])
    await read(18, [14, 17])
    expect(await stats(1)).toEqual([4, "6-17"])
    expect(await stats(16)).toEqual([1, "16-17"])
  })

  test("days between two readings that have no review in common are not covered", async () => {
    await read(5, [1, 3, 4])
    await read(15, [10, 12, 14])
    expect(await stats(1)).toEqual([6, "2-3 11-14"])
    await read(18, [14, 16])
    expect(await stats(1)).toEqual([7, "2-3 11-17"])
    expect(await stats(5, 8)).toEqual([0, ""])
    expect(await stats(2, 8)).toEqual([2, "2-3"])
    expect(await stats(2, 3)).toEqual([1, "2-3"])
    expect(await stats(12, 13)).toEqual([1, "12-13"])
  })

  test("a deleted or edited review does not end the covered days", async () => {
    await read(10, [2, 5, 8, 9])
    // Reviews 9 and 8 were deleted. Review 5 is in both readings, which proves that none is missing.
    await read(14, [5, 12, 13])
    expect(await stats(3)).toEqual([5, "3-13"])
    const edited = { id: "12", text: "edited", at: new Date("2025-11-16T12:00:00Z") }
    await record(sql, [reviewed("2025-11-17T18:00:00Z", [edited, ...written(13)], end(true))], () => NOW)
    expect(await stats(3)).toEqual([5, "3-16"])
  })

  test("an incomplete reading does not extend the covered days", async () => {
    await read(10, [2, 5, 9])
    await read(18, [16, 17], end(false))
    expect(await stats(1)).toEqual([5, "3-9"])
    // A complete reading that contains a stored review extends the covered days.
    await read(19, [9, 13, 16, 17, 18])
    expect(await stats(1)).toEqual([7, "3-18"])
  })

  test("all days are covered if the store has no reviews, and no day is covered without a reading", async () => {
    await read(12, [], end(true, true))
    expect(await stats(1)).toEqual([0, "1-11"])
    await sql`delete from review_read`
    await read(12, [3, 8], {})
    expect(await stats(1)).toEqual([2, ""])
  })

  test("statistics are limited to the plan's days", async () => {
    await read(19, [5, 12, 18])
    expect(await stats(1, 20, 5)).toEqual([1, "16-18"])
    const ctx = reader(sql, workspaceId, NOW, 5)
    const byDefault = await ask(getReviewStats, ctx, { appId })
    expect(byDefault).toMatchObject({ from: "2025-11-16", to: "2025-11-20", reviewsFrom: "2025-11-16", count: 1 })
    expect(byDefault.byDay).toHaveLength(5)
    const later = ask(getReviewStats, ctx, { appId, from: "2025-11-21", to: "2025-11-25" })
    expect(await later.catch(({ code }) => code)).toBe("bad_range")
  })

  test("versions beyond the first 200 are left out, and their number is returned", async () => {
    const at = new Date("2025-11-10T12:00:00Z")
    const reviews = Array.from({ length: 203 }, (_, i) => ({
      id: `${i}`,
      at,
      version: `1.${String(i).padStart(3, "0")}`,
    }))
    await record(sql, [reviewed("2025-11-11T18:00:00Z", [...reviews, { id: "x", at }], end(true))], () => NOW)
    const { byVersion, versionsOmitted, count } = await ask(getReviewStats, reader(sql, workspaceId, NOW), { appId })
    expect([byVersion.length, versionsOmitted, count]).toEqual([200, 4, 204])
    expect(byVersion[0].version).toBe("1.000")
  })
})
