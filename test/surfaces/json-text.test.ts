import { expect, test } from "bun:test"
import { jsonText, quotedText } from "../../src/surfaces/json-text.ts"
import { atOnce } from "../at-once.ts"

const long = <Item>(item: Item) => Array.from({ length: 100 }, () => item)

test.each([
  ["a short answer", { a: 1, b: undefined, c: [1, undefined, null] }],
  ["long lists", { rows: long({ term: 'é\u2028"', at: new Date(0), left: undefined }), more: [], "ä\n": null }],
  [
    "what has no JSON, in a list and as a field",
    { list: long(undefined), of: long(() => 1), none: undefined, nan: long(Number.NaN) },
  ],
  ["nothing", {}],
  ["lists in lists", { rows: long(long([1, "a", null])) }],
])("%s is written as JSON.stringify writes it", (_, answer) => {
  expect(atOnce(jsonText(answer))).toBe(JSON.stringify(answer))
})

test("a long list is parted", () => {
  expect([...jsonText({ rows: long(1) })].length).toBeGreaterThan(5)
  expect([...jsonText({ rows: [1] })]).toEqual([])
})

test("a long text is quoted as JSON.stringify quotes it, in pieces that part no character", () => {
  // of two halves, so that one stands across each place where the text could be parted
  for (const begin of ["", "a"]) {
    const text = `${begin}${'😀é"\\\n'.repeat(40_000)}\ud800`
    expect(atOnce(quotedText(text))).toBe(JSON.stringify(text))
    expect([...quotedText(text)].length).toBeGreaterThan(2)
  }
  expect(atOnce(quotedText(""))).toBe('""')
})
