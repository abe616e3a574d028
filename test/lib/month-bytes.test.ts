import { expect, test } from "bun:test"
import { lastPointsOf, pointsOf, UNMEASURED } from "../../src/lib/month-bytes.ts"

const filled = (length: number, byte: (at: number) => number) => Uint8Array.from({ length }, (_, at) => byte(at))

/** Returns a full month: rank 1 on the first day, 2 on the second and so on; sources and depths differ by day. */
const full = (month: string) => ({
  month,
  ranks: filled(31, (at) => at + 1),
  sources: filled(31, (at) => 10 + (at % 2)),
  depths: filled(31, (at) => 100 + at),
})

const daysOf = (month: string, from: string, to: string) => pointsOf(full(month), from, to).map(({ day }) => day)

test("a month returns the requested days, including the first and the last", () => {
  expect(daysOf("2025-11-01", "2025-11-14", "2025-11-16")).toEqual(["2025-11-14", "2025-11-15", "2025-11-16"])
  expect(daysOf("2025-11-01", "2025-10-25", "2025-11-02")).toEqual(["2025-11-01", "2025-11-02"])
  expect(daysOf("2025-11-01", "2025-11-30", "2026-02-01")).toEqual(["2025-11-30"])
  expect(daysOf("2025-11-01", "2025-01-01", "2026-01-01")).toHaveLength(30)
  expect(daysOf("2024-02-01", "2024-01-01", "2024-12-31").at(-1)).toBe("2024-02-29")
})

test("a month outside the window, or an empty window, returns nothing", () => {
  expect(daysOf("2025-11-01", "2025-12-01", "2025-12-31")).toEqual([])
  expect(daysOf("2025-11-01", "2025-01-01", "2025-10-31")).toEqual([])
  expect(daysOf("2025-11-01", "2025-11-09", "2025-11-08")).toEqual([])
})

test("an unmeasured day has no point, and a measured day without the app has a point without a rank", () => {
  const month = full("2025-11-01")
  month.ranks[3] = UNMEASURED
  month.ranks[4] = 0
  expect(pointsOf(month, "2025-11-03", "2025-11-06")).toEqual([
    { day: "2025-11-03", rank: 3, source: 10, depth: 102 },
    { day: "2025-11-05", rank: null, source: 10, depth: 104 },
    { day: "2025-11-06", rank: 6, source: 11, depth: 105 },
  ])
})

test("the last points of several months are the last points of all months joined, oldest first", () => {
  const months = ["2025-11-01", "2025-09-01", "2025-10-01"].map(full)
  for (const { ranks } of months) ranks.fill(UNMEASURED, 10, 20)
  for (const [from, to] of [
    ["2025-09-05", "2025-11-12"],
    ["2025-10-11", "2025-11-01"],
    ["2025-11-12", "2025-11-15"],
  ] as const) {
    const all = months.toSorted((a, b) => (a.month < b.month ? -1 : 1)).flatMap((month) => pointsOf(month, from, to))
    for (const most of [0, 1, 2, 40])
      expect(lastPointsOf(months, { from, to }, most)).toEqual(most ? all.slice(-most) : [])
  }
})
