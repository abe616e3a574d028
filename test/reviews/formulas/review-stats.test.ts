import { expect, test } from "bun:test"
import { reviewStats } from "../../../src/reviews/formulas/review-stats.ts"

const days = { from: "2026-01-01", to: "2026-01-04" }

test("a covered day without reviews counts zero, and an uncovered day without reviews is null", () => {
  const tallies = [
    { day: "2026-01-02", version: "1", stars: 1, count: 2 },
    { day: "2026-01-02", version: null, stars: 4, count: 1 },
    { day: "2026-01-04", version: "2", stars: 2, count: 3 },
  ]
  expect(reviewStats(tallies, days, new Set(["2026-01-02", "2026-01-03"]))).toEqual({
    count: 6,
    average: 2,
    distribution: { 1: 2, 2: 3, 3: 0, 4: 1, 5: 0 },
    lowShare: 0.8333,
    coveredFrom: "2026-01-02",
    coveredTo: "2026-01-03",
    byDay: [
      { day: "2026-01-01", count: null, average: null, covered: false },
      { day: "2026-01-02", count: 3, average: 2, covered: true },
      { day: "2026-01-03", count: 0, average: null, covered: true },
      { day: "2026-01-04", count: 3, average: 2, covered: false },
    ],
    byVersion: [
      { version: "2", count: 3, average: 2, distribution: { 1: 0, 2: 3, 3: 0, 4: 0, 5: 0 } },
      { version: "1", count: 2, average: 1, distribution: { 1: 2, 2: 0, 3: 0, 4: 0, 5: 0 } },
      { version: null, count: 1, average: 4, distribution: { 1: 0, 2: 0, 3: 0, 4: 1, 5: 0 } },
    ],
  })
})

test("without reviews the average and the share of low ratings are null", () => {
  const stats = reviewStats([], days, new Set())
  expect(stats).toMatchObject({ count: 0, average: null, lowShare: null, byVersion: [] })
  expect(stats.byDay.map(({ count }) => count)).toEqual([null, null, null, null])
})

test("coveredFrom and coveredTo are the ends of the latest run of covered days without a gap", () => {
  const named = (...covered: number[]) => {
    const { coveredFrom, coveredTo } = reviewStats([], days, new Set(covered.map((day) => `2026-01-0${day}`)))
    return [coveredFrom, coveredTo].map((day) => day && Number(day.slice(8)))
  }
  expect(named(1, 2, 3, 4)).toEqual([1, 4])
  expect(named(1, 3, 4)).toEqual([3, 4])
  expect(named(1, 2, 4)).toEqual([4, 4])
  expect(named(1)).toEqual([1, 1])
  expect(named(9)).toEqual([null, null])
  expect(named()).toEqual([null, null])
})

test("versions with the same count are sorted as text, and reviews without a version come last", () => {
  const tallies = ["b", null, "10", "9", "a"].map((version) => ({ day: "2026-01-01", version, stars: 5, count: 1 }))
  expect(reviewStats(tallies, days, new Set()).byVersion.map(({ version }) => version)).toEqual([
    "10",
    "9",
    "a",
    "b",
    null,
  ])
})
