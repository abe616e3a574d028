import { describe, expect, test } from "bun:test"
import { fisher, pooledInterval, wilson } from "../../src/lib/proportions.ts"

const rounded = (interval: { low: number; high: number } | null) =>
  interval && [Math.round(1_000 * interval.low) / 1_000, Math.round(1_000 * interval.high) / 1_000]

test.each([
  // Calculated separately with the published formula.
  [0, 3, [0, 0.561]],
  [3, 6, [0.188, 0.812]],
  [1, 1, [0.207, 1]],
  [10, 90, [0.061, 0.193]],
  [90, 90, [0.959, 1]],
])("%i of %i has the published Wilson interval", (named, of, interval) => {
  expect(rounded(wilson({ named, of }))).toEqual(interval)
})

test("an empty sample has no interval", () => {
  expect(wilson({ named: 0, of: 0 })).toBeNull()
  expect(
    pooledInterval([
      { named: 1, of: 3 },
      { named: 0, of: 0 },
    ]),
  ).toBeNull()
})

test.each([
  // Calculated separately with exact fractions.
  [6, 6, 0, 6, 0.00216],
  [5, 6, 0, 6, 0.01515],
  [4, 6, 0, 6, 0.06061],
  [3, 3, 0, 3, 0.1],
  [3, 6, 3, 6, 1],
  [1, 10, 11, 14, 0.00276],
])("%i of %i against %i of %i has the p-value of Fisher's exact test", (a, m, b, n, chance) => {
  expect(fisher({ named: a, of: m }, { named: b, of: n })).toBeCloseTo(chance, 5)
})

describe("the pooled interval", () => {
  const alike = [3, 0, 3, 0, 3, 0, 0, 3, 0, 3].map((named) => ({ named, of: 3 }))
  const mixed = [2, 1, 2, 1, 1, 2, 1, 2, 1, 2].map((named) => ({ named, of: 3 }))

  test("the pooled interval is wider than Wilson's if the answers to one keyword agree, and otherwise equal", () => {
    const [low, high] = rounded(pooledInterval(alike))!
    const whole = wilson({ named: 15, of: 30 })!
    expect(low!).toBeLessThan(whole.low - 0.05)
    expect(high!).toBeGreaterThan(whole.high + 0.05)
    expect(rounded(pooledInterval(mixed))).toEqual(rounded(whole))
  })

  test("the pooled interval is deterministic", () => {
    expect(pooledInterval(alike)).toEqual(pooledInterval(alike))
  })

  test("the pooled interval contains the true share in about 95 of 100 samples of twelve keywords", () => {
    let state = 7
    const random = () => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    }
    let covered = 0
    for (let sample = 0; sample < 100; sample++) {
      const groups = Array.from({ length: 12 }, () => {
        // each keyword has its own share, and the mean of the shares is 0.4
        const share = random() < 0.5 ? 0.1 : 0.7
        return { named: [0, 1, 2].filter(() => random() < share).length, of: 3 }
      })
      const { low, high } = pooledInterval(groups)!
      if (low <= 0.4 && 0.4 <= high) covered++
    }
    expect(covered).toBeGreaterThanOrEqual(88)
  })
})
