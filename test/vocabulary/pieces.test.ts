import { expect, test } from "bun:test"
import { eachOf, inPieces } from "../../src/vocabulary/pieces.ts"
import { atOnce } from "../at-once.ts"
import { errorOf } from "../error-of.ts"

test("long work gives the thread away while it lasts, and answers what it does at once", async () => {
  let turns = 0
  let over = false
  const count = () => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const items = Array.from({ length: 40 }, (_, at) => at)
  const doubled = (item: number) => {
    const until = performance.now() + 1
    while (performance.now() < until);
    return 2 * item
  }
  const made = await inPieces(eachOf(items, doubled))
  over = true
  expect(made).toEqual(items.map((item) => 2 * item))
  expect(atOnce(eachOf(items, doubled))).toEqual(made)
  expect(turns).toBeGreaterThan(3)
})

test("what it throws is thrown", async () => {
  const failing = () =>
    eachOf([1], () => {
      throw new Error("no")
    })
  expect(() => atOnce(failing())).toThrow("no")
  expect(String(await errorOf(inPieces(failing())))).toMatch("no")
})
