import { expect, test } from "bun:test"
import { gradeDaysOf, gradeKeyword } from "../../../src/overview/formulas/plan-grades.ts"

const verdict = (before: number | null, ranks: (number | null)[]) => {
  const { verdict, rank } = gradeKeyword({ before, expected: 5 }, ranks)
  return [verdict, rank]
}

test("a task is graded on the days from one to four weeks after the page first showed its text", () => {
  expect(gradeDaysOf("2025-10-27")).toEqual({ from: "2025-11-03", to: "2025-11-24" })
})

test("the median of the measured days decides between the grades reached, better and not_better", () => {
  expect(verdict(9, [2, 5, 30])).toEqual(["reached", 5])
  expect(verdict(9, [8, 6, null])).toEqual(["better", 8])
  expect(verdict(9, [9, 9, 1])).toEqual(["not_better", 9])
  expect(verdict(null, [150])).toEqual(["better", 150])
})

test("an absence ranks below every rank, and a task without a measured day is graded not_measured", () => {
  expect(verdict(9, [4, null, null])).toEqual(["not_better", null])
  expect(verdict(null, [4, null])).toEqual(["not_better", null])
  expect(verdict(9, [])).toEqual(["not_measured", null])
})
