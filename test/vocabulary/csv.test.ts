import { expect, test } from "bun:test"
import fc from "fast-check"
import { csvRecord, defused } from "../../src/vocabulary/csv.ts"
import { readCsv } from "../links/read-csv.ts"
import { HOSTILE, isFormula } from "../pages/hostile.ts"

test("twelve hostile texts are no formula, and nothing but an apostrophe stands before them", () => {
  expect(HOSTILE).toHaveLength(12)
  const written = HOSTILE.map((text) => csvRecord(["first", text, 7])).join("")
  const read = readCsv(written)
  expect(read).toHaveLength(12)
  for (const [at, text] of HOSTILE.entries()) {
    const [first, cell, last] = read[at] as [string, string, string]
    expect([first, last]).toEqual(["first", "7"])
    expect([text, isFormula(cell), cell]).toEqual([text, false, `'${text}`])
  }
})

test("no text of signs, blanks, quotes and separators is a formula, and none gets more than an apostrophe before it", () => {
  const unit = fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", ";", ",", '"', "'", " ", "a", "1", "\u200b", "＝")
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      const cell = defused(text)
      expect(isFormula(cell)).toBe(false)
      expect(/^[\t\r\n]/.test(cell)).toBe(false)
      expect([text, `'${text}`]).toContain(cell)
      expect(readCsv(csvRecord([text, null, text]))).toEqual([[cell, "", cell]])
    }),
    { seed: 20_251_122, numRuns: 3_000 },
  )
})

test("what is no formula stands as it is: texts, numbers, booleans, and nothing for null", () => {
  const plain = [
    "tea",
    "a=b",
    "5 - 3",
    "it's",
    "“quoted”",
    "日本語, 茶",
    'say "hi"',
    " padded ",
    "line\r\nbreak",
    "Liked it:\n- the timer\n- the sounds\n=D",
    "nice ;-)",
    "a\t+1",
    "me@example.com",
    "",
  ]
  expect(readCsv(csvRecord(plain))).toEqual([plain])
  expect(csvRecord([-1.5, 0, true, false, null, "x"])).toBe("-1.5,0,true,false,,x\r\n")
})

test("ten thousand line breaks or quotes take no longer than they are", () => {
  for (const text of ["\n".repeat(10_000), '"'.repeat(10_000), ";\n ".repeat(10_000)]) {
    const began = performance.now()
    defused(text)
    expect(performance.now() - began).toBeLessThan(200)
  }
})
