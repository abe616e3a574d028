import { expect, test } from "bun:test"
import { appleScale } from "../../src/formulas/popularity.ts"
import { blendOf, interval, randomFrom, shippedTerms, spearman } from "./calibration.ts"
import { expectedAbove, mean, plainLine, rms, truncatedLine } from "./truncated.ts"

// The README says it: 36 terms, all of 70 and more, are too few and too alike to tell the estimate from a guess.
test("on the terms that come with the project the estimate is as good, and as poor, as is said of it", () => {
  const terms = shippedTerms()
  const correlation = (sample: typeof terms) =>
    spearman(
      sample.map(blendOf),
      sample.map(({ popularity }) => popularity),
    )
  expect(terms).toHaveLength(36)
  expect(Math.min(...terms.map(({ popularity }) => popularity))).toBe(70)
  expect(correlation(terms)).toBeGreaterThan(0)
  expect(correlation(terms)).toBeLessThan(0.2)
  const [low, high] = interval(terms, correlation, 500)
  expect(low).toBeLessThan(0)
  expect(high).toBeGreaterThan(0.3)
  const errors = terms.map((term) => appleScale(blendOf(term)) - term.popularity)
  expect(rms(errors)).toBeLessThan(9)
  expect(Math.abs(mean(errors))).toBeLessThan(5)
})

test("rank correlation is 1 for one order, -1 for the reverse, and shares ties", () => {
  expect(spearman([1, 2, 3, 9], [10, 20, 30, 40])).toBeCloseTo(1)
  expect(spearman([1, 2, 3], [3, 2, 1])).toBeCloseTo(-1)
  expect(spearman([1, 1, 2, 2], [1, 2, 1, 2])).toBeCloseTo(0)
})

test("the truncated fit finds the line that an ordinary one misses", () => {
  const random = randomFrom(7)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const all = Array.from({ length: 4_000 }, () => random() * 100).map((x) => ({ x, y: 10 + 0.8 * x + 6 * normal() }))
  const kept = all.filter(({ y }) => y >= 70)
  const line = truncatedLine(kept, 70)
  expect(line.slope).toBeGreaterThan(0.7)
  expect(line.slope).toBeLessThan(0.9)
  expect(line.spread).toBeCloseTo(6, 0)
  expect(plainLine(kept).slope).toBeLessThan(0.7)
  const errors = kept.map(({ x, y }) => y - expectedAbove(line, x, 70))
  expect(Math.abs(mean(errors))).toBeLessThan(0.3)
})
