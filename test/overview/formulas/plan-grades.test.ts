import { expect, test } from "bun:test"
import { gradeDaysOf, gradeKeyword } from "../../../src/overview/formulas/plan-grades.ts"

const verdict = (before: number | null, ranks: (number | null)[]) => {
  const { verdict, rank } = gradeKeyword({ before, expected: 5 }, ranks)
  return [verdict, rank]
}

test("a task is held against the days from a week to four weeks after its text stood on the page", () => {
  expect(gradeDaysOf("2025-10-27")).toEqual({ from: "2025-11-03", to: "2025-11-24" })
})

test("the middle of the measured days decides: at the expected rank, better than before, or neither", () => {
  expect(verdict(9, [2, 5, 30])).toEqual(["reached", 5])
  expect(verdict(9, [8, 6, null])).toEqual(["better", 8])
  expect(verdict(9, [9, 9, 1])).toEqual(["not_better", 9])
  expect(verdict(null, [150])).toEqual(["better", 150])
})

test("absent is behind every place, also in the middle, and without a measured day nothing is said", () => {
  expect(verdict(9, [4, null, null])).toEqual(["not_better", null])
  expect(verdict(null, [4, null])).toEqual(["not_better", null])
  expect(verdict(9, [])).toEqual(["not_measured", null])
})
