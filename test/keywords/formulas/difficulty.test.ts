import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { bandOf, difficultyOf, MIN_RESULTS, type Slot } from "../../../src/keywords/formulas/difficulty.ts"
import { listedTerms } from "../../market/formulas/calibration.ts"

const NOW = new Date("2025-10-25T00:00:00Z")
const SEEDED = { seed: 20_250_901, numRuns: 1_000 }
const slot = fc.record({
  title: fc.constantFrom("Tea", "Tea Timer", "Coffee", "Team"),
  ratings: fc.nat(1_000_000),
  updatedAt: fc.option(fc.date({ min: new Date("2020-01-01"), max: NOW, noInvalidDate: true })),
})
const slots = fc.array(slot, { minLength: MIN_RESULTS, maxLength: 12 })
const tea = (ratings: number | null, title: string | null = "Tea", updatedAt: Date | null = null): Slot => ({
  title,
  ratings,
  updatedAt,
})
const ten = (entry: Slot) => Array.from({ length: 10 }, () => entry)
const score = (list: Slot[]) => difficultyOf("tea", list, NOW)?.score as number

describe("difficulty", () => {
  test("stronger apps or matching titles never lower the difficulty, which stays between 0 and 100", () => {
    fc.assert(
      fc.property(slots, fc.nat(9), fc.nat(1_000_000), (list, at, more) => {
        const place = at % Math.min(10, list.length)
        const entry = list[place] as Slot
        const before = score(list)
        expect(before >= 0 && before <= 100).toBe(true)
        expect(
          score(list.with(place, { ...entry, ratings: (entry.ratings as number) + more } as never)),
        ).toBeGreaterThanOrEqual(before)
        expect(score(list.with(place, { ...entry, title: "Tea" } as never))).toBeGreaterThanOrEqual(before)
      }),
      SEEDED,
    )
  })

  test("the difficulty depends on the ratings of the weakest results, not on those of the strongest", () => {
    const weak = [...Array(7).fill(tea(1_000)), ...Array(3).fill(tea(100))]
    const giants = [...Array(7).fill(tea(30_000_000)), ...Array(3).fill(tea(100))]
    expect(score(giants)).toBe(score(weak))
  })

  test("a keyword with fewer than five results has no difficulty; six results give less difficulty than ten", () => {
    expect(difficultyOf("tea", Array(4).fill(tea(9e6)), NOW)).toEqual({
      score: null,
      parts: { results: 4, titles: null, weakest: null, freshness: null },
    })
    expect(difficultyOf("tea", [], NOW)?.score).toBeNull()
    expect(score(Array(6).fill(tea(1_000)))).toBeLessThan(score(ten(tea(1_000))))
  })

  test("the difficulty is not measured if more than two titles or rating counts are unknown", () => {
    const complete = ten(tea(100))
    for (const unknown of [tea(null), tea(100, null)]) {
      expect(score([unknown, unknown, ...complete.slice(2)])).toBe(score(complete))
      expect(difficultyOf("tea", [unknown, unknown, unknown, ...complete.slice(3)], NOW)).toBeUndefined()
    }
  })

  test("outdated apps lower the difficulty, unless too few update dates are known", () => {
    const updated = (days: number) => ten(tea(100, "Tea", new Date(NOW.getTime() - days * 86_400_000)))
    expect(difficultyOf("tea", ten(tea(100)), NOW)?.parts.freshness).toBeNull()
    expect(difficultyOf("tea", updated(0), NOW)?.parts.freshness).toBe(100)
    expect(difficultyOf("tea", updated(4_000), NOW)?.parts.freshness).toBe(0)
    expect(score(updated(400))).toBeLessThan(score(updated(10)))
  })

  test("each difficulty band covers a fifth of the scale", () => {
    expect([0, 19, 20, 39, 40, 59, 60, 79, 80, 100].map(bandOf)).toEqual([
      ...["very easy", "very easy", "easy", "easy", "moderate"],
      ...["moderate", "hard", "hard", "very hard", "very hard"],
    ] as never)
  })

  test("real popular keywords are never very easy, and they spread over the bands", () => {
    const figures = listedTerms().map(({ term, apps }) => difficultyOf(term, apps, NOW)?.score as number)
    const bands = new Set(figures.map(bandOf))
    expect(figures).toHaveLength(36)
    expect(bands.has("very easy")).toBe(false)
    expect(bands.size).toBeGreaterThanOrEqual(3)
  })
})
