import { describe, expect, test } from "bun:test"
import { rankMonthOf } from "../../../src/keywords/formulas/rank-month.ts"
import { UNMEASURED } from "../../../src/lib/month-bytes.ts"
import { SOURCE_CODES } from "../../../src/lib/rank-sources.ts"

const TODAY = "2026-11-30"
const WEB = SOURCE_CODES["apple-web-search"]

/** Returns a keyword's November. Rank 0 means that the app is absent; days that are left out have no reading. */
function november(
  term: string,
  ranks: Record<number, number>,
  { sources = {} as Record<number, number>, depth = 200 } = {},
) {
  const bytes = (value: (day: number) => number) => Uint8Array.from({ length: 31 }, (_, at) => value(at + 1))
  const month = {
    month: "2026-11-01",
    ranks: bytes((day) => ranks[day] ?? UNMEASURED),
    sources: bytes((day) => sources[day] ?? WEB),
    depths: bytes(() => depth),
  }
  return { term, country: "us", platform: "ios" as const, months: [month] }
}

type Case = [string, ReturnType<typeof november>[], object]

describe("the last days of an app's keywords", () => {
  test.each<Case>([
    ["an app without keywords has no figures", [], { tracked: 0, day: null, best: null, up: null, riser: null }],
    [
      "a keyword without a reading has no figures",
      [november("tea", {})],
      { tracked: 1, day: null, measured: 0, up: null },
    ],
    [
      "the counts are those of the latest measured day",
      [november("tea", { 20: 3, 28: 12 }), november("mate", { 28: 4 }), november("chai", { 20: 1 })],
      { tracked: 3, day: "2026-11-28", measured: 2, top10: 1, best: 4 },
    ],
    [
      "an absence counts as measured and gives no rank",
      [november("tea", { 30: 0 })],
      { measured: 1, top10: 0, best: null },
    ],
    [
      "a rank is compared with the last rank before the week",
      [november("tea", { 17: 9, 22: 8, 30: 2 })],
      {
        up: 1,
        down: 0,
        riser: {
          term: "tea",
          country: "us",
          platform: "ios",
          from: 8,
          to: 2,
          fromDay: "2026-11-22",
          toDay: "2026-11-30",
        },
        faller: null,
      },
    ],
    [
      "a new keyword is compared with its first day in the week",
      [november("tea", { 26: 3, 30: 7 })],
      { up: 0, down: 1, faller: expect.objectContaining({ from: 3, to: 7, fromDay: "2026-11-26" }) },
    ],
    ["a single day cannot be compared", [november("tea", { 30: 3 })], { up: null, down: null }],
    ["a day two weeks ago is too old", [november("tea", { 16: 9, 30: 2 })], { up: null }],
    [
      "days of different sources are not compared",
      [november("tea", { 22: 9, 30: 2 }, { sources: { 22: SOURCE_CODES.foreign } })],
      { up: null, riser: null },
    ],
    [
      "an absence in too shallow a reading is not compared",
      [november("tea", { 22: 60, 30: 0 }, { depth: 50 })],
      { down: null, faller: null },
    ],
    [
      "a keyword with an unchanged rank counts as neither up nor down",
      [november("tea", { 22: 9, 30: 9 })],
      { up: 0, down: 0, riser: null },
    ],
    [
      "the biggest riser and faller are those with the largest change in proportion",
      [november("low", { 22: 190, 30: 90 }), november("top", { 22: 8, 30: 2 }), november("out", { 22: 90, 30: 0 })],
      {
        up: 2,
        down: 1,
        riser: expect.objectContaining({ term: "top" }),
        faller: expect.objectContaining({ term: "out", to: null }),
      },
    ],
  ])("%s", (_, terms, figures) => {
    expect(rankMonthOf(terms, TODAY)).toMatchObject(figures)
  })

  test("the line chart has each day's share of keywords in the top ten, and null for a day without a reading", () => {
    const { line } = rankMonthOf([november("tea", { 1: 3, 29: 3, 30: 3 }), november("mate", { 29: 0, 30: 40 })], TODAY)
    expect(line).toHaveLength(30)
    expect([line[0], line[27], line[28], line[29]]).toEqual([1, null, 0.5, 0.5])
  })
})
