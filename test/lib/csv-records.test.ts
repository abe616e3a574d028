import { expect, test } from "bun:test"
import fc from "fast-check"
import { csvRecords } from "../../src/lib/csv.ts"
import { storefrontNamed } from "../../src/lib/storefront-names.ts"
import { STOREFRONTS } from "../../src/lib/storefronts.ts"
import { cases } from "../long.ts"

const fields = (text: string, separator?: string) => [...csvRecords(text, separator)].map(({ fields }) => fields)
const lines = (text: string) => [...csvRecords(text)].map(({ line }) => line)

test("correctly quoted fields are read unchanged", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r\n", " ", "é", ";") })
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(rows, fc.constantFrom("\n", "\r\n"), fc.boolean(), (written, newline, closed) => {
      const quoted = written.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(","))
      const text = quoted.join(newline) + (closed ? newline : "")
      // A row of only blanks counts as a row if it is quoted.
      expect(fields(text)).toEqual(written)
    }),
    { seed: 20_250_901, numRuns: cases(200, 1_000) },
  )
})

test("plain and empty fields, other separators, a byte order mark and blank lines are read", () => {
  expect(fields("\uFEFFa,b\r\n\r\n,\n1,\n")).toEqual([
    ["a", "b"],
    ["", ""],
    ["1", ""],
  ])
  expect(fields("a;b,c;\n", ";")).toEqual([["a", "b,c", ""]])
  expect(fields('a,"b ""c"", d"')).toEqual([["a", 'b "c", d']])
  expect(fields('a,5" screen\n')).toEqual([["a", '5" screen']])
  expect(fields("")).toEqual([])
})

test("a record has the number of its first line, however many lines it spans", () => {
  expect(lines('a\n\n"b\nb"\r\nc')).toEqual([1, 3, 5])
})

test("broken quoting loses one line, not the rest of the text", () => {
  expect(fields('a,b\n"c,d\ne,f\n"g"x,h\ni,j')).toEqual([["a", "b"], null, ["e", "f"], null, ["i", "j"]])
  const lost = `a\n"${"x".repeat(20_000)}\nb,"c"`
  expect(fields(lost)).toEqual([["a"], null, ["b", "c"]])
})

test("a storefront is found by its code and by English names of its country", () => {
  for (const code of STOREFRONTS) {
    expect(storefrontNamed(code.toUpperCase())).toBe(code)
    const name = new Intl.DisplayNames(["en"], { type: "region" }).of(code.toUpperCase()) as string
    expect(storefrontNamed(` ${name.toUpperCase()} `)).toBe(code)
  }
  const otherNames = [
    "Turkey",
    "Türkiye",
    "Czech Republic",
    "Hong Kong",
    "Macau",
    "Korea, Republic of",
    "China mainland",
  ]
  expect(otherNames.map(storefrontNamed)).toEqual(["tr", "tr", "cz", "hk", "mo", "kr", "cn"])
  expect(["United Kingdom", "Côte d'Ivoire", "St Lucia", "Bosnia and Herzegovina"].map(storefrontNamed)).toEqual([
    ...["gb", "ci", "lc", "ba"],
  ])
  expect(["", "xx", "Atlantis", "United"].map(storefrontNamed)).toEqual(Array(4).fill(undefined))
})
