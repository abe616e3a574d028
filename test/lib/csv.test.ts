import { expect, test } from "bun:test"
import fc from "fast-check"
import { csvRecord, defused } from "../../src/lib/csv.ts"
import { cases } from "../long.ts"
import { HOSTILE, isFormula } from "../pages/hostile.ts"
import { readCsv } from "../sharing/read-csv.ts"

test("twelve hostile texts are not read as formulas, and only apostrophes are added to them", () => {
  expect(HOSTILE).toHaveLength(12)
  const written = HOSTILE.map((text) => csvRecord(["first", text, 7])).join("")
  const read = readCsv(written)
  expect(read).toHaveLength(12)
  for (const [at, text] of HOSTILE.entries()) {
    const [first, cell, last] = read[at] as [string, string, string]
    expect([first, last]).toEqual(["first", "7"])
    expect([text, isFormula(cell), cell.startsWith("'")]).toEqual([text, false, true])
    expect(cell.replaceAll("'", "")).toBe(text.replaceAll("'", ""))
  }
})

test("no text of signs, blanks, quotes and separators is read as a formula, and only apostrophes are added", () => {
  const unit = fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", ";", ",", '"', "'", " ", "a", "1", "\u200b", "＝")
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      const cell = defused(text)
      expect(isFormula(cell)).toBe(false)
      expect(/^[\t\r\n]/.test(cell)).toBe(false)
      // apart from apostrophes, the text is unchanged
      expect(cell.replaceAll("'", "")).toBe(text.replaceAll("'", ""))
      expect(readCsv(csvRecord([text, null, text]))).toEqual([[cell, "", cell]])
    }),
    { seed: 20_251_122, numRuns: cases(300, 3_000) },
  )
})

test("texts, numbers and booleans that are not formulas are not changed, and null is an empty cell", () => {
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
    "Liked it:\n- the timer\n- the sounds\n– both",
    "nice ;-)",
    "me@example.com",
    "",
  ]
  expect(readCsv(csvRecord(plain))).toEqual([plain])
  expect(csvRecord([-1.5, 0, true, false, null, "x"])).toBe("-1.5,0,true,false,,x\r\n")
})

test("no cell begins with a formula in a spreadsheet that separates by semicolons and ignores quotes", () => {
  const texts = [
    'a,"b"\n=1+1',
    "good\r\n+1",
    "x\n @SUM(1)",
    "x\n-1+1",
    "x\n-cmd|' /C calc'!A0",
    'x\n"=1+1',
    "x\n\u200b=1",
    "x;=1+1",
    "x\t=1",
    "=1\n=2",
  ]
  const split = csvRecord(["first", ...texts]).split(/[\r\n;\t]/)
  for (const cell of split.slice(1)) expect([cell, isFormula(cell.replace(/^"+/, ""))]).toEqual([cell, false])
  expect(defused('a,"b"\n=1+1')).toBe(`a,"b"\n'=1+1`)
  expect(defused("Liked:\n- the timer")).toBe("Liked:\n- the timer")
})

test("ten thousand line breaks or quotes take linear time", () => {
  for (const text of ["\n".repeat(10_000), '"'.repeat(10_000), ";\n ".repeat(10_000)]) {
    const began = performance.now()
    defused(text)
    expect(performance.now() - began).toBeLessThan(200)
  }
})
