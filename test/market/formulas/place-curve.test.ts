import { expect, test } from "bun:test"
import { type PlaceFigure, placeCurve } from "../../../src/market/formulas/place-curve.ts"
import { slow } from "../../long.ts"
import { randomFrom } from "./calibration.ts"

const about = (value: number): PlaceFigure => ({ value, low: value / 4, high: value * 4, under: null })
const upperBound = (amount: number): PlaceFigure => ({ value: null, low: null, high: null, under: amount })

test("a rank's estimate is the median of the apps around it, and at most that of the rank above", () => {
  // 1,000 ÷ rank, but every third app is a hundred times larger
  const curve = placeCurve(Array.from({ length: 60 }, (_, at) => about((1_000 / (at + 1)) * (at % 3 === 0 ? 100 : 1))))
  expect(curve[29]!.value!).toBeWithin(1_000 / 36, 1_000 / 24)
  const values = curve.map((point) => point!.value!)
  expect(values).toEqual(values.toSorted((a, b) => b - a))
  expect(curve[29]).toMatchObject({ n: 60, under: null })
})

test("a curve needs five apps with an estimate, and ends at the outermost of their ranks", () => {
  const figures = (places: number[]) => Array.from({ length: 20 }, (_, at) => (places.includes(at) ? about(500) : null))
  expect(placeCurve(figures([2, 5, 8, 11])).some((point) => point !== null)).toBe(false)
  const curve = placeCurve(figures([2, 5, 8, 11, 15]))
  expect(curve.flatMap((point, at) => (point ? [at] : []))).toEqual(Array.from({ length: 14 }, (_, i) => i + 2))
  expect(curve[9]).toEqual({
    value: expect.closeTo(500),
    low: expect.closeTo(125),
    high: expect.closeTo(2_000),
    under: null,
    n: 5,
  })
})

test("a rank has only an upper bound if the median of the apps around it is an upper bound", () => {
  const curve = placeCurve([about(9_000), about(8_000), upperBound(1_000), upperBound(1_000), upperBound(1_000)])
  expect(curve[4]).toMatchObject({ value: null, low: null, high: null, under: expect.closeTo(1_000) })
})

slow("every rank estimate is above zero, within its interval and at most that of the rank above", () => {
  const random = randomFrom(17)
  const counts = { value: 0, under: 0, unknown: 0 }
  for (let round = 0; round < 2_000; round++) {
    const holes = random()
    const figures = Array.from({ length: 5 + Math.floor(40 * random()) }, () => {
      if (random() < holes) return null
      return random() < 0.3 ? upperBound(10 ** (1 + 4 * random())) : about(10 ** (6 * random()))
    })
    let last = Number.POSITIVE_INFINITY
    for (const point of placeCurve(figures)) {
      counts[point === null ? "unknown" : point.value === null ? "under" : "value"]++
      if (point === null) continue
      if (point.value === null) expect([point.low, point.high, point.under! > 0]).toEqual([null, null, true])
      else {
        expect([point.value > 0, point.low! > 0, point.low! <= point.value, point.high! >= point.value]).toEqual([
          true,
          true,
          true,
          true,
        ])
        expect(point.value).toBeLessThanOrEqual(last * (1 + 1e-9))
        last = point.value
      }
    }
  }
  for (const [kind, count] of Object.entries(counts)) expect([kind, count > 1_000]).toEqual([kind, true])
})
