import { expect, test } from "bun:test"
import fc from "fast-check"
import { appRecordId, keywordRecordId, parseRecordId, rivalRecordId } from "../../src/lib/record-ids.ts"
import { isStoreId } from "../../src/lib/store-ids.ts"
import { normaliseTerm } from "../../src/lib/term.ts"
import { cases, slow } from "../long.ts"

const appId = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((id) => !id.includes(":"))
const country = fc.stringMatching(/^[a-z]{2}$/)
const isTerm = (term: string) => [...term].length >= 1 && [...term].length <= 150 && !term.includes("\0")
const term = fc
  .oneof(
    { weight: 3, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 150 }) },
    { weight: 2, arbitrary: fc.string({ unit: fc.constantFrom(..."%25:+/?&# aç日2F"), minLength: 1, maxLength: 20 }) },
    fc.constantFrom(
      "50% off",
      "c++",
      "a:b",
      "ça va",
      "日本語 辞書",
      "100%",
      "%41",
      "50%20off",
      "kw:app:us:x",
      "i̇stanbul",
    ),
  )
  .map(normaliseTerm)
  .filter(isTerm)
const RUNS = { numRuns: cases(300, 3_000), seed: 20_261_121 }

test("a parsed record id of a keyword has that keyword as its first candidate", () => {
  fc.assert(
    fc.property(appId, country, term, (app, cc, spelt) => {
      const id = keywordRecordId(app, cc, spelt)
      expect(parseRecordId(id)).toMatchObject({ kind: "keyword", appId: app, country: cc })
      expect((parseRecordId(id) as { terms: string[] }).terms[0]).toBe(spelt)
    }),
    RUNS,
  )
})

test("a record id whose term was percent-decoded in transit still names its keyword", () => {
  fc.assert(
    fc.property(appId, country, term, (app, cc, spelt) => {
      expect((parseRecordId(`kw:${app}:${cc}:${spelt}`) as { terms: string[] }).terms).toContain(spelt)
    }),
    RUNS,
  )
})

test("ids of apps and rivals are parsed back, and a rival's platform follows from the store id", () => {
  const storeId = fc.oneof(
    fc.stringMatching(/^[1-9]\d{4,11}$/),
    fc.stringMatching(/^[a-z][a-z0-9_]{0,9}(\.[a-zA-Z][a-z0-9_]{0,9}){1,3}$/),
  )
  fc.assert(
    fc.property(appId, storeId, (app, id) => {
      const platform = /^\d/.test(id) ? "ios" : "android"
      expect(isStoreId(platform, id)).toBe(true)
      expect(parseRecordId(appRecordId(app))).toEqual({ kind: "app", appId: app })
      expect(parseRecordId(rivalRecordId(app, id))).toEqual({ kind: "rival", appId: app, platform, storeId: id })
    }),
    RUNS,
  )
})

slow("random text is refused or parsed as a record id, and never throws", () => {
  const text = fc
    .tuple(fc.constantFrom("", "app:", "kw:", "rival:", "kw:a:us:"), fc.string({ unit: "binary" }))
    .map(([a, b]) => a + b)
  fc.assert(
    fc.property(text, (id) => {
      const parsed = parseRecordId(id)
      if (parsed?.kind === "keyword") for (const spelt of parsed.terms) expect(isTerm(spelt)).toBe(true)
    }),
    RUNS,
  )
})

test("malformed ids are refused", () => {
  const malformed = [
    "",
    "app",
    "app:",
    "app:a:b",
    "APP:a",
    " app:a",
    "keyword:a:us:x",
    "kw:a",
    "kw:a:us",
    "kw:a:us:",
    "kw:a:us: ",
    "kw::us:x",
    "kw:a:usa:x",
    "kw:a:US:x",
    `kw:a:us:${"x".repeat(151)}`,
    "rival:a",
    "rival:a:",
    "rival:a:1234",
    "rival:a:com",
    "rival:a:ios:12345",
    "rival:a:12345:1",
    `app:${"a".repeat(65)}`,
  ]
  for (const id of malformed) expect([id, parseRecordId(id)]).toEqual([id, null])
})
