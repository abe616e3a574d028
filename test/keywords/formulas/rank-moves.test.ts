import { expect, test } from "bun:test"
import { type DayRank, moveBetween } from "../../../src/keywords/formulas/rank-moves.ts"

const ranked = (rank: number | null, depth = 200, source = "apple-web-search"): DayRank => {
  return { day: "2026-11-01", source, depth, rank }
}

test("a move has the direction from one rank to the other and the places between them", () => {
  expect(moveBetween(ranked(9), ranked(4))).toEqual({ direction: "up", from: 9, to: 4, places: 5 })
  expect(moveBetween(ranked(4), ranked(9))).toEqual({ direction: "down", from: 4, to: 9, places: 5 })
  expect(moveBetween(ranked(4), ranked(4))).toEqual({ direction: "same", from: 4, to: 4, places: 0 })
  expect(moveBetween(ranked(null), ranked(null))).toEqual({ direction: "same", from: null, to: null, places: null })
})

test("an absence is a drop only if the later reading is as deep as the earlier rank", () => {
  expect(moveBetween(ranked(30), ranked(null, 30))?.direction).toBe("dropped")
  expect(moveBetween(ranked(30), ranked(null, 29))).toBeNull()
})

test("a rank is an entry only if the earlier reading is as deep as that rank", () => {
  expect(moveBetween(ranked(null, 30), ranked(30))?.direction).toBe("entered")
  expect(moveBetween(ranked(null, 29), ranked(30))).toBeNull()
})

test("days of different sources have no move", () => {
  expect(moveBetween(ranked(4), ranked(9, 200, "apple-store-search"))).toBeNull()
  expect(moveBetween(ranked(4, 200, "import"), ranked(4))).toBeNull()
})
