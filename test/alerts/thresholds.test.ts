import { describe, expect, test } from "bun:test"
import { chartMove } from "../../src/alerts/types/chart-moves.ts"
import { rankMove } from "../../src/alerts/types/keyword-moves.ts"
import { isOffTopic } from "../../src/alerts/types/off-topic.ts"
import { isWave } from "../../src/alerts/types/review-wave.ts"
import { passing } from "../../src/alerts/types/rival-passings.ts"
import type { DayRank } from "../../src/keywords/formulas/rank-moves.ts"

const day = (rank: number | null, depth = 200, source = "apple-web-search"): DayRank => ({
  day: "2025-11-20",
  source,
  depth,
  rank,
})

describe("a keyword's move", () => {
  test.each([
    [10, 12, null],
    [10, 13, "rank_drop"],
    [10, 60, "rank_drop"],
    [10, 8, null],
    [10, 7, "rank_rise"],
    [10, 10, null],
    [null, 200, "entered"],
    [200, null, "dropped_out"],
    [null, null, null],
  ])("a keyword's move from %p to %p is %p", (before, after, type) => {
    expect(rankMove(day(before), day(after))).toBe(type as never)
  })

  test("a keyword's absence counts only in a reading as deep as the other day's rank", () => {
    expect(rankMove(day(50), day(null, 50))).toBe("dropped_out")
    expect(rankMove(day(50), day(null, 49))).toBeNull()
    expect(rankMove(day(null, 50), day(50))).toBe("entered")
    expect(rankMove(day(null, 49), day(50))).toBeNull()
  })

  test("a keyword's days of two sources are never compared", () => {
    for (const [before, after] of [
      [1, 100],
      [100, 1],
      [1, null],
      [null, 1],
    ] as const)
      expect(rankMove(day(before, 200, "import"), day(after))).toBeNull()
  })
})

describe("a rival and the app", () => {
  const manual = { manual: true }
  const ranks = (ours: number | null, theirs: number | null, source = "import") => ({ source, ours, theirs })

  test.each([
    [ranks(3, 4), ranks(4, 3), "rival_passed"],
    [ranks(4, 3), ranks(3, 4), "rival_beaten"],
    [ranks(3, 4), ranks(3, 5), null],
    [ranks(3, null), ranks(5, 4), "rival_passed"],
    [ranks(3, 4), ranks(null, 4), "rival_passed"],
    [ranks(null, 4), ranks(3, 4), "rival_beaten"],
    [ranks(4, 3), ranks(4, null), "rival_beaten"],
    // an absent app is below a present one; the order of two absent apps is unknown
    [ranks(null, null), ranks(4, 3), null],
    [ranks(null, null), ranks(3, 4), null],
    [ranks(3, 4), ranks(null, null), null],
    [ranks(4, 3), ranks(null, null), null],
  ])("the ranks %j and then %j of a rival and the app give %p", (before, after, type) => {
    expect(passing(before, after, manual)).toBe(type as never)
    expect(passing(before, after, { manual: false })).toBe(type as never)
  })

  test.each([
    [true, 50],
    [false, 10],
  ])(
    "a passing by a rival (added by hand: %p) causes an alert if the better rank is among the first %p",
    (manual, places) => {
      expect(passing(ranks(5, 60), ranks(70, places), { manual })).toBe("rival_passed")
      expect(passing(ranks(5, 60), ranks(70, places + 1), { manual })).toBeNull()
      expect(passing(ranks(60, 5), ranks(places, 70), { manual })).toBe("rival_beaten")
      expect(passing(ranks(60, 5), ranks(places + 1, 70), { manual })).toBeNull()
    },
  )

  test("a rival's days of two sources are never compared", () => {
    expect(passing(ranks(3, 4), ranks(4, 3, "foreign"), manual)).toBeNull()
  })
})

describe("a chart's move", () => {
  test.each([
    [1, 10, null],
    [1, 11, "chart_drop"],
    [40, 49, null],
    [40, 50, "chart_drop"],
    // a quarter of 80 is 20
    [80, 99, null],
    [80, 100, "chart_drop"],
    [101, 100, "chart_enter"],
    [102, 101, null],
    [100, 1, null],
    [null, 100, "chart_enter"],
    [null, 101, null],
    // nine tenths of 200
    [180, null, "chart_drop"],
    [181, null, null],
    [null, null, null],
  ])("a chart's move from %p to %p is %p", (before, after, type) => {
    expect(chartMove(day(before), day(after))).toBe(type as never)
  })

  test("a chart's absence counts only in a reading as deep as the other day's rank", () => {
    expect(chartMove(day(90), day(null, 100))).toBe("chart_drop")
    expect(chartMove(day(90), day(null, 89))).toBeNull()
    expect(chartMove(day(null, 60), day(60))).toBe("chart_enter")
    expect(chartMove(day(null, 59), day(60))).toBeNull()
  })

  test("a chart's days of two sources are never compared", () => {
    expect(chartMove(day(1, 200, "import"), day(150))).toBeNull()
    expect(chartMove(day(150, 200, "import"), day(1))).toBeNull()
  })
})

describe("a wave of one-star reviews", () => {
  test("a wave is at least five one-star reviews on a day and three times the mean of the days before", () => {
    expect(isWave(5, 0, 28)).toBe(true)
    expect(isWave(4, 0, 28)).toBe(false)
    // 2 per day
    expect(isWave(6, 56, 28)).toBe(true)
    expect(isWave(6, 57, 28)).toBe(false)
    expect(isWave(5, 56, 28)).toBe(false)
  })

  test("a wave of one-star reviews needs at least seven earlier days with data", () => {
    expect(isWave(100, 0, 7)).toBe(true)
    expect(isWave(100, 0, 6)).toBe(false)
    expect(isWave(100, 0, -1)).toBe(false)
  })
})

describe("results off the app's topic", () => {
  const genres = (sameCount: number, different: number, unknown: number) => [
    ...Array<string[]>(sameCount).fill(["6012", "6015"]),
    ...Array<string[]>(different).fill(["6016", "6017"]),
    ...Array<string[]>(unknown).fill([]),
  ]
  const ownGenres = ["6015", "6002"]

  test("results are off topic only if the genres of at least eight of the first ten apps are known", () => {
    expect(isOffTopic(ownGenres, genres(0, 8, 2))).toBe(true)
    expect(isOffTopic(ownGenres, genres(0, 7, 3))).toBeNull()
    expect(isOffTopic(ownGenres, genres(0, 7, 0))).toBeNull()
    expect(isOffTopic(ownGenres, genres(7, 0, 3))).toBeNull()
  })

  test("results cannot be judged if the app's own genre is unknown", () => {
    expect(isOffTopic([], genres(0, 10, 0))).toBeNull()
  })

  test("results are off topic if no app in the first ten shares a genre with the app", () => {
    expect(isOffTopic(ownGenres, genres(1, 9, 0))).toBe(false)
    expect(isOffTopic(ownGenres, [...genres(0, 10, 0), ownGenres])).toBe(true)
  })
})
