import { expect, test } from "bun:test"
import fc from "fast-check"
import { demandOf, demandScale } from "../../../src/keywords/formulas/demand.ts"
import { calibratedTerms } from "../../market/formulas/calibration.ts"

const SEEDED = { seed: 20_250_901, numRuns: 1_000 }
const count = fc.integer({ min: 0, max: 40_000_000 })
const counts = fc.array(count, { minLength: 1, maxLength: 12 })

test("more ratings of any result never lower the demand, which stays between 0 and 100", () => {
  fc.assert(
    fc.property(counts, fc.nat(11), fc.nat(10_000_000), (ratings, at, more) => {
      const place = at % ratings.length
      const raised = ratings.with(place, (ratings[place] as number) + more)
      const [before, after] = [demandOf(ratings)?.score as number, demandOf(raised)?.score as number]
      expect(after).toBeGreaterThanOrEqual(before)
      expect(before).toBeGreaterThanOrEqual(0)
      expect(after).toBeLessThanOrEqual(100)
    }),
    SEEDED,
  )
})

test("an unknown rating count is never treated as zero", () => {
  fc.assert(
    fc.property(count, fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9]), (ratings, unknown) => {
      const places = Array.from({ length: 10 }, (_, at) => (unknown.includes(at) ? null : ratings))
      const figure = demandOf(places)
      if (figure) expect(figure.score).toBe(demandOf(Array(10).fill(ratings))?.score as number)
    }),
    SEEDED,
  )
})

test("the demand is not measured if the known ratings have less than half of the weight", () => {
  expect(demandOf([null, ...Array(9).fill(100)])?.score).toBe(demandOf(Array(10).fill(100))?.score as number)
  expect(demandOf([null, null, ...Array(8).fill(100)])).toBeUndefined()
  expect(demandOf(Array(10).fill(null))).toBeUndefined()
})

test("the demand score is null without results, and 0 for results without ratings", () => {
  expect(demandOf([])).toEqual({ score: null, parts: { ratingMass: null, places: 0, known: 0 } })
  expect(demandOf([0, 0, 0])).toEqual({ score: 0, parts: { ratingMass: 0, places: 3, known: 3 } })
})

test("only the first ten results affect the demand, and the first result affects it most", () => {
  expect(demandOf([...Array(10).fill(5), 9e7])).toEqual(demandOf(Array(10).fill(5))!)
  const mass = (ratings: number[]) => demandOf([...ratings, ...Array(8).fill(100)])?.parts.ratingMass as number
  expect(mass([100, 100])).toBe(100)
  expect(mass([1_000, 100])).toBeGreaterThan(1.5 * mass([100, 1_000]))
})

test("missing results among the first ten count as results with zero ratings", () => {
  expect(demandOf([1_000, 1_000, 1_000])?.score).toBeLessThan(demandOf(Array(10).fill(1_000))?.score as number)
})

test("swapping the ninth and the eleventh app moves the demand of real terms by at most 3", () => {
  const moved = (ratings: number[]) => {
    const exchanged = ratings.with(8, ratings[10] as number).with(10, ratings[8] as number)
    return Math.abs((demandOf(ratings)?.score as number) - (demandOf(exchanged)?.score as number))
  }
  expect(Math.max(...calibratedTerms().map(({ ratings }) => moved(ratings)))).toBeLessThanOrEqual(3)
  const giants = Array.from({ length: 12 }, (_, place) => (place === 8 ? 40_000_000 : 100))
  expect(moved(giants)).toBeLessThanOrEqual(5)
  fc.assert(
    fc.property(fc.array(count, { minLength: 12, maxLength: 12 }), (ratings) => {
      expect(moved(ratings)).toBeLessThanOrEqual(5)
    }),
    SEEDED,
  )
})

test("the demand of a rating mass of 0, 31, 999 and 10^12 is 0, 20, 40 and 100", () => {
  expect([0, 10 ** 1.5 - 1, 999, 1e12].map((mass) => Math.round(demandScale(mass)))).toEqual([0, 20, 40, 100])
})
