import { describe, expect, test } from "bun:test"
import {
  type ChangeDays,
  LOOK_BACK_DAYS,
  type MonthBytes,
  monthsOf,
  movementsAround,
  spanOf,
  type TermMonths,
} from "../../../src/keywords/formulas/timeline.ts"
import { addDays } from "../../../src/lib/days.ts"
import { UNMEASURED } from "../../../src/lib/month-bytes.ts"
import { slow } from "../../long.ts"
import { randomOf } from "../../measuring/record/listed.ts"

interface Day {
  rank: number | null
  source: number
  depth: number
}
/** Ranks by day. Days that are left out were not measured. */
type History = Record<string, Day>

const ranked = (rank: number | null, source = 10, depth = 200): Day => ({ rank, source, depth })

function stored(term: string, history: History): TermMonths {
  const months = new Map<string, MonthBytes>()
  for (const [day, { rank, source, depth }] of Object.entries(history)) {
    const month = `${day.slice(0, 7)}-01`
    const bytes = months.get(month) ?? {
      ranks: new Uint8Array(31).fill(UNMEASURED),
      sources: new Uint8Array(31).fill(255),
      depths: new Uint8Array(31),
    }
    const at = Number(day.slice(8)) - 1
    bytes.ranks[at] = rank ?? 0
    bytes.sources[at] = source
    bytes.depths[at] = depth
    months.set(month, bytes)
  }
  return { term, months }
}

const CHANGE: ChangeDays = { beforeDay: "2026-06-09", day: "2026-06-10" }
const around = (history: History, change = CHANGE, window = 7) =>
  movementsAround([stored("tea", history)], spanOf(change, window))
/** Returns the outcome of a single keyword. */
function outcome(history: History, change = CHANGE, window = 7): string {
  const { biggest: _, ...counts } = around(history, change, window)
  const nonZero = Object.entries(counts).filter(([, count]) => count > 0)
  expect(nonZero.map(([, count]) => count)).toEqual([1])
  return nonZero[0]?.[0] as string
}

describe("a keyword around a change", () => {
  test("a keyword is compared from its last measured day before the change to the last day of the window", () => {
    const history = {
      "2026-06-01": ranked(9),
      "2026-06-08": ranked(7),
      "2026-06-11": ranked(2),
      "2026-06-17": ranked(4),
      "2026-06-18": ranked(50),
    }
    expect(around(history).biggest).toEqual([
      {
        term: "tea",
        direction: "up",
        from: 7,
        to: 4,
        places: 3,
        fromDay: "2026-06-08",
        toDay: "2026-06-17",
        source: 10,
      },
    ])
    expect(outcome(history, CHANGE, 8)).toBe("down")
    expect(outcome(history, CHANGE, 1)).toBe("up")
  })

  test("a keyword is not compared on days on which the change may already have been made", () => {
    const history = {
      "2026-06-05": ranked(9),
      "2026-06-09": ranked(9),
      "2026-06-10": ranked(1),
      "2026-06-11": ranked(9),
    }
    expect(outcome(history)).toBe("unchanged")
    // the page was not read from the sixth to the ninth
    const late = { beforeDay: "2026-06-05", day: "2026-06-10" }
    expect(outcome({ "2026-06-05": ranked(9), "2026-06-08": ranked(3), "2026-06-12": ranked(3) }, late)).toBe("up")
    // the page was read twice on the tenth
    const readTwice = { beforeDay: "2026-06-10", day: "2026-06-10" }
    expect(outcome({ "2026-06-10": ranked(9), "2026-06-12": ranked(3) }, readTwice)).toBe("unmeasured")
  })

  test("a keyword is unmeasured unless the same source measured it both before and after the change", () => {
    const reach = addDays("2026-06-09", 1 - LOOK_BACK_DAYS)
    expect(outcome({ [reach]: ranked(9), "2026-06-12": ranked(3) })).toBe("up")
    expect(outcome({ [addDays(reach, -1)]: ranked(9), "2026-06-12": ranked(3) })).toBe("unmeasured")
    expect(outcome({ "2026-06-09": ranked(9), "2026-06-18": ranked(3) })).toBe("unmeasured")
    expect(outcome({})).toBe("unmeasured")
    expect(outcome({ "2026-06-09": ranked(9), "2026-06-12": ranked(3, 20) })).toBe("unmeasured")
    // the same source measured an earlier day of the window, which is compared instead
    expect(outcome({ "2026-06-09": ranked(9), "2026-06-12": ranked(3), "2026-06-13": ranked(30, 20) })).toBe("up")
  })

  test("a keyword has dropped or entered only if the reading without the app is as deep as the app's rank", () => {
    expect(outcome({ "2026-06-09": ranked(50), "2026-06-12": ranked(null, 10, 50) })).toBe("dropped")
    expect(outcome({ "2026-06-09": ranked(50), "2026-06-12": ranked(null, 10, 49) })).toBe("uncertain")
    expect(outcome({ "2026-06-09": ranked(null, 10, 50), "2026-06-12": ranked(50) })).toBe("entered")
    expect(outcome({ "2026-06-09": ranked(null, 10, 49), "2026-06-12": ranked(50) })).toBe("uncertain")
    expect(outcome({ "2026-06-09": ranked(null, 10, 9), "2026-06-12": ranked(null, 10, 200) })).toBe("unchanged")
  })

  test("a comparison crosses the turn of a year", () => {
    const change = { beforeDay: "2026-12-31", day: "2027-01-01" }
    expect(monthsOf([spanOf(change, 30)])).toEqual(["2026-12-01", "2027-01-01"])
    expect(outcome({ "2026-12-03": ranked(9), "2027-01-02": ranked(3) }, change, 1)).toBe("up")
  })
})

test("the five biggest moves are ordered by places, then by the better rank, then by keyword", () => {
  const move = (term: string, from: number | null, to: number | null, depth = 100) =>
    stored(term, { "2026-06-09": ranked(from, 10, depth), "2026-06-12": ranked(to, 10, depth) })
  const terms = [
    move("small", 3, 4),
    move("deep", 90, 80),
    move("high", 1, 11),
    move("also high", 11, 1),
    move("left", 95, null),
    move("still", 5, 5),
    move("came", null, 2),
    move("low", 40, 30),
  ]
  const { biggest, ...counts } = movementsAround(terms, spanOf(CHANGE, 7))
  expect(biggest.map(({ term, places }) => [term, places])).toEqual([
    ["came", 99],
    ["high", 10],
    ["also high", 10],
    ["low", 10],
    ["deep", 10],
  ])
  expect(counts).toEqual({ up: 3, down: 2, entered: 1, dropped: 1, unchanged: 1, uncertain: 0, unmeasured: 0 })
})

slow("the outcomes of 3,000 random histories equal those of a plain scan of the days", () => {
  const random = randomOf(20_260_610)
  const any = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T
  const counts = new Map<string, number>()
  for (let round = 0; round < 3_000; round++) {
    const day = addDays("2026-01-20", Math.floor(random() * 200))
    const change = { day, beforeDay: addDays(day, -any([0, 1, 1, 1, 5])) }
    const window = any([1, 2, 7, 30])
    const frequency = any([0.05, 0.3, 0.9])
    const history: History = {}
    for (let at = -45; at <= 45; at++) {
      if (random() > frequency) continue
      const depth = any([20, 50, 200])
      const rank = random() < 0.3 ? null : 1 + Math.floor(random() * depth)
      history[addDays(day, at)] = ranked(rank, any([10, 10, 10, 20]), depth)
    }
    const expected = outcomeByScan(history, change, window)
    expect([round, outcome(history, change, window)]).toEqual([round, expected])
    counts.set(expected, (counts.get(expected) ?? 0) + 1)
  }
  for (const kind of ["up", "down", "entered", "dropped", "unchanged", "uncertain", "unmeasured"])
    expect([kind, (counts.get(kind) ?? 0) > 20]).toEqual([kind, true])
})

/** Returns the expected outcome, found by a plain scan of the days. */
function outcomeByScan(history: History, { day, beforeDay }: ChangeDays, window: number): string {
  const last = Math.max(1, (Date.parse(day) - Date.parse(beforeDay)) / 86_400_000)
  let before: Day | undefined
  for (let back = last; back < last + LOOK_BACK_DAYS && !before; back++) before = history[addDays(day, -back)]
  let after: Day | undefined
  for (let past = 1; past <= window; past++) {
    const earlier = history[addDays(day, past)]
    if (earlier && earlier.source === before?.source) after = earlier
  }
  if (!before || !after) return "unmeasured"
  if (before.rank === after.rank) return "unchanged"
  if (before.rank === null) return before.depth < (after.rank as number) ? "uncertain" : "entered"
  if (after.rank === null) return after.depth < before.rank ? "uncertain" : "dropped"
  return after.rank < before.rank ? "up" : "down"
}

test("the months read are those of the compared days, without duplicates", () => {
  const spans = [spanOf(CHANGE, 30), spanOf({ beforeDay: "2026-03-30", day: "2026-03-31" }, 1), spanOf(CHANGE, 1)]
  const days = new Set<string>()
  for (const { beforeFrom, beforeTo, afterFrom, afterTo } of spans) {
    for (let day = beforeFrom; day <= beforeTo; day = addDays(day, 1)) days.add(`${day.slice(0, 7)}-01`)
    for (let day = afterFrom; day <= afterTo; day = addDays(day, 1)) days.add(`${day.slice(0, 7)}-01`)
  }
  expect(monthsOf(spans)).toEqual([...days].sort())
})
