import { expect, test } from "bun:test"
import fc from "fast-check"
import { demandOf, demandScale } from "../../src/formulas/demand.ts"

const SEEDED = { seed: 20_250_901, numRuns: 1_000 }
const count = fc.integer({ min: 0, max: 40_000_000 })
const counts = fc.array(count, { minLength: 1, maxLength: 12 })

test("more ratings at any place never lower the demand, and it stays within 0 and 100", () => {
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

test("a rating count that is not known is never taken for none", () => {
  fc.assert(
    fc.property(count, fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9]), (ratings, unknown) => {
      const places = Array.from({ length: 10 }, (_, at) => (unknown.includes(at) ? null : ratings))
      const figure = demandOf(places)
      if (figure) expect(figure.score).toBe(demandOf(Array(10).fill(ratings))?.score as number)
    }),
    SEEDED,
  )
})

test("with less than half of the weight known the demand is not measured", () => {
  expect(demandOf([null, ...Array(9).fill(100)])?.score).toBe(demandOf(Array(10).fill(100))?.score as number)
  expect(demandOf([null, null, ...Array(8).fill(100)])).toBeUndefined()
  expect(demandOf(Array(10).fill(null))).toBeUndefined()
})

test("no result is an answer, and gives none", () => {
  expect(demandOf([])).toEqual({ score: null, parts: { ratingMass: null, places: 0, known: 0 } })
  expect(demandOf([0, 0, 0])).toEqual({ score: 0, parts: { ratingMass: 0, places: 3, known: 3 } })
})

test("only the first ten count, the first place most", () => {
  expect(demandOf([...Array(10).fill(5), 9e7])).toEqual(demandOf(Array(10).fill(5))!)
  expect(demandOf([1_000, 10])?.parts.ratingMass).toBe(1_005)
  expect(demandOf([10, 1_000])?.parts.ratingMass).toBe(510)
})

test("a hundred million is full, each decade an eighth", () => {
  expect([0, 9, 99, 99_999_999, 1e12].map(demandScale)).toEqual([0, 12.5, 25, 100, 100])
})
