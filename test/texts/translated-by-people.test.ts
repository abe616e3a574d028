import { expect, test } from "bun:test"
import { BY_PEOPLE, chrF, isWhole, ORIGINAL, problemsIn } from "./translated-by-people.ts"

const rulesOf = (locale: string, text: string) => problemsIn(locale, text, ORIGINAL.full, 4_000).map(({ rule }) => rule)

test("17 complete human translations pass, except for the known errors in two of the translations", () => {
  const whole = BY_PEOPLE.filter(isWhole)
  const refused = whole.flatMap(({ locale, full }) => rulesOf(locale, full).map((rule) => `${locale} ${rule}`))
  expect([whole.length, refused]).toEqual([17, EXPECTED])
})

test("every human translation that lacks lines is refused for the missing lines", () => {
  const cut = BY_PEOPLE.filter((text) => !isWhole(text))
  expect([cut.length, cut.filter(({ locale, full }) => !rulesOf(locale, full).includes("lines"))]).toEqual([14, []])
})

test("the similarity is 1 for the same text, 0 for an unrelated text, and between for a similar text", () => {
  const [german, dutch] = ["de-DE", "nl-NL"].map((locale) => BY_PEOPLE.find((text) => text.locale === locale)!.full)
  expect(chrF(german!, german!)).toBeCloseTo(1, 6)
  expect(chrF("abc", "xyz")).toBe(0)
  expect(chrF(german!.replaceAll("Daten", "Angaben"), german!)).toBeWithin(0.9, 1)
  expect(chrF(dutch!, german!)).toBeWithin(0.1, 0.6)
})

// the Kannada text is in English; the Vietnamese text has EGM2009 instead of EGM2008 and lacks WGS84
const EXPECTED = ["kn-IN language", "kn-IN untranslated", "vi kept_marks", "vi kept_marks", "vi kept_marks"]
