import { expect, test } from "bun:test"
import { ORDER_STEPS, popularityBand, popularityOrder } from "../../src/keywords/formulas/popularity.ts"

test("a keyword of the App Store is ordered by the middle of its band, never by a hidden score", () => {
  for (let score = 0; score <= 100; score++) {
    const { low, high } = popularityBand("ios", score)!
    const order = popularityOrder("ios", score)
    expect(order).toBeGreaterThanOrEqual(low)
    expect(order).toBeLessThanOrEqual(high)
    expect(order).toBe(Math.round((low + high) / 2))
    expect(ORDER_STEPS.orders[ORDER_STEPS.from.findLastIndex((from) => score >= from)]).toBe(order)
  }
  expect(popularityOrder("ios", 58)).toBeLessThan(44)
  expect(popularityOrder("android", 58)).toBe(58)
})
