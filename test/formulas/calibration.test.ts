import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { CHECKED, LINE } from "../../src/formulas/popularity.ts"
import { blendOf, calibratedTerms, randomFrom, spearman } from "./calibration.ts"
import { constantError, firstAppAlone, fittedLine, type Measured, shownFigure } from "./popularity-error.ts"
import { expectedAbove, mean, plainLine, truncatedLine } from "./truncated.ts"

const terms = calibratedTerms()
const tenths = (value: number) => Math.round(value * 10) / 10
const hundredths = (value: number) => Math.round(value * 100) / 100
const ordered = ({ error, correlation, between }: Measured) => {
  return { error: tenths(error), correlation: hundredths(correlation), between: between.map(hundredths) }
}

describe("what is said of the popularity", () => {
  test("is what the terms that come with the project give", () => {
    expect({
      terms: terms.length,
      least: Math.min(...terms.map(({ popularity }) => popularity)),
      shown: ordered(shownFigure(terms)),
      constant: { error: tenths(constantError(terms)) },
      firstApp: ordered(firstAppAlone(terms)),
    }).toEqual(CHECKED)
  })

  test("is of the line that is shown", () => {
    const { start, slope } = fittedLine(terms.map((term) => ({ x: blendOf(term), y: term.popularity })))
    expect({ start: hundredths(start), slope: Math.round(slope * 1_000) / 1_000 }).toEqual(LINE)
  })

  test("stands in the manual, number by number", () => {
    const page = join(import.meta.dirname, "../../src/documents/manual/estimates.md")
    const manual = readFileSync(page, "utf8").replace(/\s+/g, " ")
    const { shown, constant, firstApp, least } = CHECKED
    const [low, high] = shown.between
    for (const sentence of [
      `${CHECKED.terms} terms of the United States, all of popularity ${least} and more`,
      `it errs by ${shown.error} points, a constant by ${constant.error}, the first app's ratings alone by ${firstApp.error}`,
      `rank correlation ${shown.correlation} (95 % ${low} to ${high}); the first app's ratings alone reach ${firstApp.correlation}`,
    ])
      expect(manual).toContain(sentence)
  })
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
