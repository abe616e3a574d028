import { expect, test } from "bun:test"
import * as v from "valibot"
import { Term } from "../../src/lib/fields.ts"
import { normaliseTerm } from "../../src/lib/term.ts"
import { checkTerms } from "../../src/tracking/checks.ts"

test("a keyword has one normal form, whatever invisible characters were copied with it", async () => {
  const cases = await Bun.file(new URL("../cases/stores/keywords.json", import.meta.url)).json()
  for (const { term } of cases) if (term !== undefined) expect(normaliseTerm(term)).toBe("tide times")
  const invisible =
    "\u0001\u001b\u007f\u009f\ufff9\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e" +
    "\u2060\u2064\u2066\u2069\u206f\u3164\ufe00\ufe0f\ufeff\uffa0\u{e0001}\u{e0067}\u{e0100}"
  for (const character of invisible) {
    expect(normaliseTerm(`${character}Tide${character} ti${character}mes${character}`)).toBe("tide times")
    expect(normaliseTerm(character)).toBe("")
  }
})

test("a keyword keeps its visible characters: inner white space, joined letters, emoji and flags", () => {
  const unchanged = [
    "a  b",
    "a\u00a0b",
    "می\u200cخواهم",
    "क्\u200dष",
    "❤️ tides",
    "👨‍👩‍👧 app",
    "1️⃣",
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "👍🏽",
    "🏃‍♀️",
  ]
  for (const term of unchanged) expect(normaliseTerm(` ${term}\t`)).toBe(term)
})

test("a keyword is lower-cased, including Turkish letters, and normalising again changes nothing", () => {
  expect(normaliseTerm("İNDİRİM")).toBe("indirim")
  expect(normaliseTerm("İstanbul 93")).toBe("istanbul 93")
  expect(normaliseTerm("I\u0307stanbul")).toBe("istanbul")
  expect(normaliseTerm("ılık")).toBe("ılık")
  for (const term of ["\u0130\u0327", "i\u0307\u0301", "\u200d\u0307i", "i\u200b\u0307", "e\u200b\u0301"]) {
    const normalised = normaliseTerm(term)
    expect(normaliseTerm(normalised)).toBe(normalised)
  }
})

test('a keyword that is a path step ("." or "..") is refused with the reason, one with more dots is accepted', () => {
  for (const term of [".", "..", " .. ", ".\u200b"]) {
    expect(v.is(Term, term)).toBe(false)
    expect(() => checkTerms(["tides", term])).toThrow(
      '"." and ".." are not keywords, because they mean a folder in an address',
    )
  }
  for (const term of ["...", ".net", "node.js", "a ."]) {
    expect(v.is(Term, term)).toBe(true)
    expect(checkTerms([term])).toEqual([term])
  }
})
