import { expect, test } from "bun:test"
import { sumOfDollars } from "../../../src/overview/operations/own-money.ts"

test("dollars of several apps are added as decimals, to the cent and below zero", () => {
  expect(sumOfDollars([10.1, 20.2])).toBe(30.3)
  expect(sumOfDollars([0.1, 0.2, -0.3])).toBe(0)
  expect(sumOfDollars(Array(1_000).fill(0.01))).toBe(10)
  expect(sumOfDollars([1e-7])).toBe(0)
  expect(sumOfDollars([])).toBeNull()
})
