import { expect, test } from "bun:test"
import { AppNumbers } from "../../src/lib/app-numbers.ts"

test("ids get numbers in order of arrival and keep these numbers, however many ids there are", () => {
  const numbers = new AppNumbers()
  const expectedNumbers = new Map<number, number>()
  let state = 7
  for (let at = 0; at < 200_000; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    // An id close to the previous id, far from it, or repeated.
    const id = at % 3 === 0 ? state : at % 3 === 1 ? at : 1 + (state % 5_000)
    const expected = expectedNumbers.get(id) ?? expectedNumbers.size
    expectedNumbers.set(id, expected)
    if (numbers.numberOf(id) !== expected) expect([id, numbers.numberOf(id)]).toEqual([id, expected])
  }
  expect(numbers.ids).toEqual([...expectedNumbers.keys()])
  for (const id of [0, 2_147_483_647]) expect(numbers.ids[numbers.numberOf(id)]).toBe(id)
})
