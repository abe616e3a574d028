import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  estimatePopularity,
  type PopularityInputs,
  popularityBand,
  scoreOf,
} from "../../../src/keywords/formulas/popularity.ts"
import { POPULARITY_BANDS } from "../../../src/lib/figure-bands.ts"

const SEEDED = { seed: 20_250_901, numRuns: 1_000 }
const mass = fc.double({ min: 1, max: 1e9, noNaN: true })
const hints = fc
  .record({ hintCount: fc.nat(10), letters: fc.nat(20) })
  .map(({ hintCount, letters }) => hintsAt(hintCount, letters))
const NOT_SUGGESTED = hintsAt(0, 0)

/** Returns a finished ladder. `letters` 0 means that the keyword is not suggested. */
function hintsAt(hintCount: number, letters: number) {
  return { hintCount, prefixDepth: letters || null, suggested: letters > 0, finished: true }
}

const score = (inputs: PopularityInputs) => estimatePopularity(inputs)?.score

describe("the popularity estimate", () => {
  test("a higher input never lowers the estimate, which is a whole number from 1 to 100", () => {
    fc.assert(
      fc.property(mass, mass, hints, fc.nat(5), (ratingMass, more, hintInputs, extraHints) => {
        const base = score({ ratingMass, hints: hintInputs }) as number
        expect(Number.isInteger(base) && base >= 1 && base <= 100).toBe(true)
        expect(score({ ratingMass: ratingMass + more, hints: hintInputs })).toBeGreaterThanOrEqual(base)
        const extended = { ...hintInputs, hintCount: hintInputs.hintCount + extraHints }
        expect(score({ ratingMass, hints: extended })).toBeGreaterThanOrEqual(base)
        if (hintInputs.prefixDepth !== null && hintInputs.prefixDepth > 1) {
          const sooner = { ...hintInputs, prefixDepth: hintInputs.prefixDepth - 1 }
          expect(score({ ratingMass, hints: sooner })).toBeGreaterThanOrEqual(base)
        }
      }),
      SEEDED,
    )
  })

  test("an input that was not read is left out of the estimate, not treated as zero", () => {
    const demandOnly = estimatePopularity({ ratingMass: 1e6, hints: null })
    expect(demandOnly?.parts).toMatchObject({ demand: 80, hintCount: null, prefixDepth: null, blend: 80 })
    expect(score({ ratingMass: 1e6, hints: NOT_SUGGESTED })).toBeLessThan(demandOnly?.score as number)
    expect(estimatePopularity({ ratingMass: null, hints: hintsAt(5, 1) })?.parts.blend).toBe(100)
    const unfinished = { ...hintsAt(5, 0), suggested: true, finished: false }
    expect(estimatePopularity({ ratingMass: 1e6, hints: unfinished })?.parts).toMatchObject({
      prefixDepth: null,
      blend: 82.5,
    })
  })

  test("if all known inputs are zero, the estimate is null with every input read and not measured otherwise", () => {
    expect(estimatePopularity({ ratingMass: 0, hints: NOT_SUGGESTED })?.score).toBeNull()
    expect(estimatePopularity({ ratingMass: 0, hints: null })).toBeUndefined()
    expect(estimatePopularity({ ratingMass: null, hints: NOT_SUGGESTED })).toBeUndefined()
    expect(estimatePopularity({ ratingMass: null, hints: null })).toBeUndefined()
    expect(score({ ratingMass: 0, hints: hintsAt(1, 0) })).toBeGreaterThanOrEqual(1)
  })

  test("more than five extensions add nothing, and each further letter of depth costs 15 %", () => {
    const parts = (hintInputs: PopularityInputs["hints"]) =>
      estimatePopularity({ ratingMass: 0, hints: hintInputs })?.parts
    expect(parts(hintsAt(5, 1))).toEqual(parts(hintsAt(10, 1)) as never)
    expect([1, 2, 3].map((letters) => parts(hintsAt(0, letters))?.prefixDepth)).toEqual([100, 85, 72.25])
  })

  test("a score is from 1 to 100 and rises with the weighted mean of its inputs", () => {
    expect([scoreOf(-50), scoreOf(1_000)]).toEqual([1, 100])
    expect(scoreOf(60)).toBeGreaterThan(scoreOf(59))
  })
})

describe("the popularity band", () => {
  test("every score has a band between 5 and 100, and bands never fall as the score rises", () => {
    const bands = Array.from({ length: 100 }, (_, i) => popularityBand("ios", i + 1)!)
    bands.forEach(({ low, high }, i) => {
      expect(5 <= low && low < high && high <= 100).toBe(true)
      const before = bands[i - 1]
      if (before) expect(low >= before.low && high >= before.high).toBe(true)
    })
    expect(bands[0]).toEqual({ low: 5, high: 9 })
  })

  test("each band contains at least four fifths of the terms that it was checked on", () => {
    for (const { terms, held: passed } of POPULARITY_BANDS) expect(passed / terms).toBeGreaterThanOrEqual(0.8)
  })

  test("a keyword of Google Play has no band", () => {
    expect(popularityBand("android", 80)).toBeNull()
  })
})
