import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { CHECKED, estimatePopularity, popularityBand } from "../../../src/keywords/formulas/popularity.ts"
import { POPULARITY_BANDS } from "../../../src/lib/figure-bands.ts"
import { popularityBand as popularityText } from "../../../src/ui/words.ts"
import { blendOf, calibratedTerms, massOf, spearman } from "./calibration.ts"

const terms = calibratedTerms()

describe("the documented popularity", () => {
  test("the manual has every number of the popularity check", () => {
    const page = join(import.meta.dirname, "../../../src/docs/manual/estimates.md")
    const manual = readFileSync(page, "utf8").replace(/\s+/g, " ")
    const { correlation, between, line, constant, held: within } = CHECKED
    for (const sentence of [
      `${CHECKED.terms} terms of the United States`,
      `a rank correlation of ${correlation} with Apple's figures (95 % interval ${between[0]} to ${between[1]})`,
      `an error of ${line.error} points on terms that it was not fitted to; a constant has ${constant.error}`,
      `contain ${Math.round(100 * within)} of 100 terms of the other half`,
      ...POPULARITY_BANDS.map(
        ({ low, high, terms, held: inBand, atFloor }) => `| ${low} to ${high} | ${terms} | ${inBand} | ${atFloor} |`,
      ),
    ])
      expect(manual).toContain(sentence)
  })

  test("the text of a popularity band has its number of checked terms and of terms within the band", () => {
    const { text } = popularityText(5, 50)
    expect(text).toContain("49 of 76 checked in 5 to 50, 13 of 27 checked in 6 to 100")
    expect(text).toEndWith(">5–50</span>")
  })

  // the two files of the check have no licence and are optional; these terms are in the repository and use the other
  // scale of Apple's report
  test("ratings alone put at most one in thirty of 187 frequently searched terms in the lowest band", () => {
    const bands = terms.map(
      (term) => popularityBand("ios", estimatePopularity({ ratingMass: massOf(term), hints: null })!.score!)!,
    )
    expect(terms.length).toBe(187)
    expect(bands.filter(({ high }) => high < 10).length).toBeLessThanOrEqual(187 / 30)
    expect(
      spearman(
        terms.map(blendOf),
        terms.map(({ popularity }) => popularity),
      ),
    ).toBeGreaterThan(0.55)
  })
})

test("rank correlation is 1 for the same order and -1 for the reverse, and equal values share a rank", () => {
  expect(spearman([1, 2, 3, 9], [10, 20, 30, 40])).toBeCloseTo(1)
  expect(spearman([1, 2, 3], [3, 2, 1])).toBeCloseTo(-1)
  expect(spearman([1, 1, 2, 2], [1, 2, 1, 2])).toBeCloseTo(0)
})
