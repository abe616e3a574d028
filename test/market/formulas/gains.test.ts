import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { addDays } from "../../../src/lib/days.ts"
import { type CountReading, longestGain } from "../../../src/market/formulas/count-readings.ts"
import { growthOf } from "../../../src/market/formulas/growth.ts"
import { installGain, measureDownloads, standingCounts } from "../../../src/market/formulas/install-gain.ts"
import { shuffled } from "./play-apps.ts"

const SEEDED = { seed: 20_261_117, numRuns: 1_000 }
const START = "2026-03-01"
const LAST = "2026-03-31"
const countsOn = (...counts: [day: number, count: number][]): CountReading[] =>
  counts.map(([day, count]) => ({ day: addDays(START, day), count }))
/** Counts that only rise, read on some of the days. */
const rising = fc
  .tuple(fc.nat(1_000_000), fc.array(fc.tuple(fc.nat(500), fc.boolean()), { minLength: 31, maxLength: 31 }))
  .map(([first, days]) => {
    let count = first
    return days.flatMap(([more, isRead], day): CountReading[] => {
      count += more
      return isRead ? countsOn([day, count]) : []
    })
  })

describe("the gain of a count", () => {
  test("the gain of a rising count is the difference between its first and last reading in thirty days", () => {
    fc.assert(
      fc.property(rising, fc.nat(1_000), (readings, seed) => {
        const gain = longestGain(shuffled(readings, seed), LAST)
        const [first, last] = [readings[0], readings.at(-1)]
        if (!first || !last || first === last) expect(gain).toBeNull()
        else expect(gain).toMatchObject({ gained: last.count - first.count, from: first.day, to: last.day })
      }),
      SEEDED,
    )
  })

  test("the gain is never negative; after a fall, the longest stretch without a fall is used", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(30), fc.nat(5_000)), { maxLength: 12 }), (pairs) => {
        const gain = longestGain(countsOn(...pairs), LAST)
        if (gain) expect(gain.gained).toBeGreaterThanOrEqual(0)
      }),
      SEEDED,
    )
    const fallen = countsOn([0, 100], [10, 130], [11, 90], [30, 95])
    expect(longestGain(fallen, LAST)).toEqual({ gained: 5, days: 19, from: "2026-03-12", to: LAST })
  })

  test("a stretch of less than seven days is used only if every stretch is that short", () => {
    expect(longestGain(countsOn([0, 10], [8, 20], [25, 15], [28, 16]), LAST)).toMatchObject({ gained: 10, days: 8 })
    expect(longestGain(countsOn([25, 15], [28, 16]), LAST)).toMatchObject({ gained: 1, days: 3 })
    expect(longestGain(countsOn([28, 16]), LAST)).toBeNull()
    expect(longestGain(countsOn([28, 16], [28, 19]), LAST)).toBeNull()
  })

  test("the gain covers thirty days and ignores earlier and later readings", () => {
    const readings = countsOn([-1, 1], [0, 10], [30, 40], [31, 90])
    expect(longestGain(readings, LAST)).toEqual({ gained: 30, days: 30, from: START, to: LAST })
  })
})

describe("installs counted by the store", () => {
  test("installs counted by the store are exact: low and high equal the value, and the span is returned", () => {
    expect(measureDownloads(countsOn([0, 1_000], [30, 1_234]), LAST)).toEqual({
      value: 234,
      under: null,
      low: 234,
      high: 234,
      level: 0.8,
      basis: "measured",
      pairs: 0,
      coverage: null,
      days: 30,
      from: START,
      to: LAST,
    })
    expect(measureDownloads(countsOn([0, 1_000], [30, 1_000]), LAST)).toMatchObject({ value: 0, low: 0, high: 0 })
    expect(measureDownloads(countsOn([0, 1_000]), LAST)).toBeNull()
  })

  test("installs are unknown, not zero, if the count did not change for less than a week", () => {
    expect(measureDownloads(countsOn([28, 1_000], [29, 1_000], [30, 1_000]), LAST)).toBeNull()
    expect(measureDownloads(countsOn([24, 1_000], [30, 1_000]), LAST)).toBeNull()
    expect(measureDownloads(countsOn([23, 1_000], [30, 1_000]), LAST)).toMatchObject({ value: 0, days: 7 })
    expect(measureDownloads(countsOn([28, 1_000], [30, 1_001]), LAST)).toMatchObject({ value: 1, days: 2 })
  })

  test("a jump of a count by more than half is used only if the count is still as high a week later", () => {
    const before = countsOn([0, 1_000], [1, 1_010])
    expect(installGain([...before, ...countsOn([2, 1_990], [9, 1_995])], LAST)).toMatchObject({ gained: 995, days: 9 })
    expect(installGain([...before, ...countsOn([2, 1_990], [8, 1_995])], LAST)).toMatchObject({ gained: 10, days: 1 })
    expect(installGain([...before, ...countsOn([2, 1_990], [5, 1_020], [9, 1_030])], LAST)).toMatchObject({
      gained: 30,
    })
    // no reading in the week after the jump, and later a count near the old one
    expect(installGain([...before, ...countsOn([2, 1_990], [20, 1_200])], LAST)).toMatchObject({
      gained: 200,
      days: 20,
    })
  })

  test("a jump by more than half is unknown until the count has stayed as high for a week, even after a gap", () => {
    expect(measureDownloads(countsOn([21, 1_000_000], [30, 1_970_000]), LAST)).toBeNull()
    expect(installGain(countsOn([0, 1_000], [30, 21_000]), LAST)).toBeNull()
    expect(installGain(countsOn([0, 1_000], [23, 21_000], [30, 21_500]), LAST)).toMatchObject({
      gained: 20_500,
      days: 30,
    })
  })

  test("counts that are doubled for three days are left out of the gain", () => {
    fc.assert(
      fc.property(rising, fc.integer({ min: 1, max: 27 }), (readings, from) => {
        const undoubled = readings.filter(({ count }) => count > 40_000)
        const doubled = new Set([from, from + 1, from + 2].map((day) => addDays(START, day)))
        const readingsWithFault = undoubled.map((reading) =>
          doubled.has(reading.day) ? { ...reading, count: Math.round(1.97 * reading.count) } : reading,
        )
        const isSeenAround = [undoubled[0], undoubled.at(-1)].every((end) => end && !doubled.has(end.day))
        if (isSeenAround)
          expect(standingCounts(readingsWithFault)).toEqual(undoubled.filter(({ day }) => !doubled.has(day)))
      }),
      SEEDED,
    )
  })
})

test("growth is estimated without a download ratio, and its interval is wider for small counts", () => {
  const gain = (gained: number) => ({ gained, days: 30, from: START, to: LAST })
  const few = growthOf(gain(6), gain(4), "prior")!
  const many = growthOf(gain(6_000), gain(4_000), "prior")!
  expect([few.percent, many.percent]).toEqual([50, 50].map((percent) => expect.closeTo(percent, 9)))
  expect(few.low).toBeLessThan(0)
  expect(many.low).toBeGreaterThan(40)
  expect(growthOf(gain(6), gain(0), "prior")).toBeNull()
  expect(growthOf(gain(6), null, "prior")).toBeNull()
})

test("growth of counted installs has an interval, and is unknown for a span of less than a week", () => {
  const gain = (gained: number, days: number) => ({ gained, days, from: START, to: LAST })
  expect(growthOf(gain(6_000, 1), gain(9_000, 28), "measured")).toBeNull()
  expect(growthOf(gain(9_000, 28), gain(6_000, 6), "measured")).toBeNull()
  const [week, month] = [7, 28].map((days) => growthOf(gain(1_000, days), gain(1_000, days), "measured")!)
  expect([week!.percent, month!.percent]).toEqual([0, 0])
  expect(week!.high - week!.low).toBeGreaterThan(month!.high - month!.low)
  expect(month!.high - month!.low).toBeGreaterThan(5)
})
