import { expect, test } from "bun:test"
import { normalForm } from "../../src/lib/normal-form.ts"
import { normaliseTerm } from "../../src/lib/term.ts"

const FORMS = ["NFC", "NFD", "NFKC", "NFKD"] as const
const WRITTEN = [
  "",
  "e\u0301",
  "I\u0307\u0327",
  "Việt",
  "ﬁ",
  "각\u1100\u1161\u11a8",
  "ﾊﾞ",
  "कि",
  "a".repeat(99),
  "👩‍👩‍👧",
]

test("text in any language gets Unicode's normal forms", () => {
  for (const text of [...WRITTEN, `a${"\u0301\u0316".repeat(15)}b`.repeat(3), WRITTEN.join(" ").repeat(20)]) {
    for (const form of FORMS) expect(normalForm(text, form)).toBe(text.normalize(form))
  }
})

test("a run of more than 30 marks is not changed, the rest is normalised, and a second pass changes nothing", () => {
  const run = "\u0301\u0316".repeat(20)
  const normalised = normalForm(`ﬁ${run}e\u0301 ﬁ`, "NFKC")
  expect(normalised).toBe(`fi${run}é fi`)
  expect(normalForm(normalised, "NFKC")).toBe(normalised)
})

test("a text of only marks is normalised in linear time", () => {
  const cpuMs = (work: () => unknown) => {
    const began = process.cpuUsage()
    work()
    return process.cpuUsage(began).user / 1_000
  }
  // A request body holds 32,000 marks. Without the limit they take 1 s, and 8 MB take hours.
  const small = Math.max(
    1,
    cpuMs(() => normaliseTerm(`a${"\u0301\u0316".repeat(16_000)}`)),
  )
  expect(cpuMs(() => normaliseTerm(`a${"\u0301\u0316".repeat(512_000)}`))).toBeLessThan(32 * 10 * small)
  expect(small).toBeLessThan(300)
})
