import { expect, test } from "bun:test"
import fc from "fast-check"
import { sampleJson } from "../../src/docs/sample-json.ts"

const ROW = { term: "tea timer", country: "us", rank: null, measuredAt: "2026-11-02T06:00:00.000Z", depth: 200 }

test("JSON that fits is on one line, and longer JSON is split into lines", () => {
  expect(sampleJson({ a: [1, 2, 3], b: null })).toBe('{"a":[1,2,3],"b":null}')
  expect(sampleJson({ rows: [ROW], next: null })).toBe(`{
  "rows": [
    {
      "term": "tea timer",
      "country": "us",
      "rank": null,
      "measuredAt": "2026-11-02T06:00:00.000Z",
      "depth": 200
    }
  ],
  "next": null
}`)
})

test("a shortened list shows how many entries are missing, and a shortened text ends in a mark", () => {
  const cut = sampleJson([ROW, ROW, ROW, { text: "x".repeat(40) }], { entries: 2, characters: 7 })
  expect(cut).toEndWith("  }\n  … 2 more\n]")
  expect(cut).toContain('"term": "tea tim…"')
  expect(sampleJson("é😀".repeat(9), { entries: 1, characters: 2 })).toBe('"é😀…"')
  expect(sampleJson([ROW, ROW], { entries: 2, characters: 99 })).not.toContain("…")
})

test("unshortened JSON parses to the value that it shows (2,000 random values)", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(JSON.parse(sampleJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: 2_000, seed: 20_261_122 },
  )
})
