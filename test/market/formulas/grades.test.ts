import { describe, expect, test } from "bun:test"
import { calibrateMonth, type Grade, scoreMonth, widenedBy } from "../../../src/market/formulas/grades.ts"
import { randomFrom } from "./calibration.ts"

/** Creates apps whose downloads are about `level` times their figure, each with its own error. */
function grades(n: number, level = 1, seed = 7): Grade[] {
  const random = randomFrom(seed)
  return Array.from({ length: n }, () => {
    const error = 0.4 * (random() + random() + random() - 1.5)
    const value = 10 ** (2 + 3 * random())
    return {
      ratings: Math.round(value),
      value,
      low: value / 3,
      high: value * 3,
      under: null,
      truth: value * level * 10 ** error,
    }
  })
}

describe("a month's score", () => {
  test("a month's score has the error of its figures and the coverage of their intervals", () => {
    const exact = grades(30).map((grade) => ({ ...grade, truth: grade.value! }))
    expect(scoreMonth(exact, 0.8)).toMatchObject({ n: 30, medianError: 0, order: 1, withinTwo: 1, coverage: 1 })
    const fourfold = exact.map((grade, at) => (at < 15 ? { ...grade, truth: grade.value! / 4 } : grade))
    expect(scoreMonth(fourfold, 0.8)).toMatchObject({ withinTwo: 0.5, coverage: 0.5 })
  })

  test("a month's score needs twenty apps and counts upper bounds separately", () => {
    const upperBound = { ratings: 3, value: null, low: 0, high: 1_000, under: 1_000 }
    const few = [...grades(19), { ...upperBound, truth: 40 }]
    expect([scoreMonth(few, 0.8), calibrateMonth(few, 0.8)]).toEqual([null, null])
    const more = [...grades(20), { ...upperBound, truth: 40 }, { ...upperBound, truth: 1_000 }]
    expect(scoreMonth(more, 0.8)).toMatchObject({ n: 20, under: { n: 2, held: 1 } })
  })
})

describe("a month's calibration", () => {
  test("a month's calibration depends on differences between apps, not on the level of their store", () => {
    const [calibration, other] = [calibrateMonth(grades(200), 0.8)!, calibrateMonth(grades(200, 5), 0.8)!]
    expect(calibration.bands.map(({ factor }) => factor.toFixed(9))).toEqual(
      other.bands.map(({ factor }) => factor.toFixed(9)),
    )
    expect(calibration.coverage).toBeWithin(0.77, 0.83)
  })

  test("a calibration is widened for a store whose level is uncertain, and unchanged otherwise", () => {
    const calibration = calibrateMonth(grades(200), 0.8)!
    expect(widenedBy(calibration, 0).bands[0]!.factor).toBeCloseTo(calibration.bands[0]!.factor, 9)
    const widened = widenedBy(calibration, 0.3)
    for (const [at, { factor }] of widened.bands.entries())
      expect(Math.log10(factor)).toBeCloseTo(Math.hypot(Math.log10(calibration.bands[at]!.factor), 1.28155 * 0.3), 6)
    expect(widened).toMatchObject({ pairs: 200, coverage: calibration.coverage })
  })
})
