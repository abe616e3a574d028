import { expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { LISTING_LOCALES, languageOf } from "../../src/lib/locales.ts"
import { FIELDS, LIMITS } from "../../src/listings/checks/finding.ts"
import { MAX_SIMILAR, measured, type Texts } from "../../src/listings/checks/report.ts"
import { cases, slow } from "../long.ts"
import { checked, found, NOTHING_KNOWN, named, points, readListing } from "./listing.ts"

setDefaultTimeout(120_000)

const pieces = [
  "mood",
  "Mood",
  "diary",
  "diaries",
  "free",
  "app",
  "best",
  "the",
  "iPhone",
  "Android",
  "Google Play",
  "$4.99",
  "5 €",
  "e\u0301",
  "\u0301",
  "ß",
  "İ",
  "ı",
  "I",
  "家計簿",
  "アプリ",
  "無料",
  "安卓",
  "แอปแต่งรูป",
  "ฟรี",
  "일기",
  "\u1112\u1161\u11ab",
  "كِتاب",
  "יוֹמָן",
  "मुफ़्त",
  "क्\u200d",
  "Дневник",
  "Edit\u043er",
  "😀",
  "👨‍👩‍👧",
  "𠮷",
  "\u200b",
  "\u3000",
  "<b>",
  "#",
  ";",
  "、",
  ",",
  ",",
  "，",
  ",,",
  " ",
  " ",
  "  ",
  "-",
  "'",
  ".",
  "\n",
  "moodleaf",
  "lumen",
  "x".repeat(60),
]
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((some) => some.join(""))
const texts = fc.record(Object.fromEntries(FIELDS.map((field) => [field, text])), {
  requiredKeys: [],
}) as fc.Arbitrary<Texts>
const locale = fc.constantFrom(...LISTING_LOCALES)
const BACKGROUND = {
  name: "Lumen Journal",
  developer: "Lumen Labs Inc.",
  rivals: [{ name: "Moodleaf: Mood", developer: "Leaf AB" }],
  tracked: ["mood diary", "家計簿", "istanbul", "free journal"],
}

test("a finding quotes its exact text, is reported once, and costs at most the length of its field", () => {
  fc.assert(
    fc.property(texts, locale, (some, listingLocale) => {
      const { findings, findingsLeftOut, counts, keywordRoomLost } = checked(some, listingLocale, BACKGROUND)
      for (const finding of findings) {
        expect(finding.characters).toBeGreaterThanOrEqual(0)
        if (finding.offset === null) expect(finding.code).toBe("tracked_keyword_left_out")
        else {
          expect(named(some, finding)).toBe(finding.what)
          expect(finding.characters).toBeLessThanOrEqual(points(some[finding.field as keyof Texts] as string).length)
        }
        expect(finding.message).toEndWith(".")
      }
      expect(new Set(findings.map(({ code, field, offset, what }) => `${code} ${field} ${offset} ${what}`)).size).toBe(
        findings.length,
      )
      expect(counts.error + counts.warning + counts.hint).toBe(findings.length + findingsLeftOut)
      const length = some.keywords === undefined ? null : points(some.keywords).length
      if (length === null) expect(keywordRoomLost).toBeNull()
      else {
        expect(keywordRoomLost).toBeGreaterThanOrEqual(0)
        expect(keywordRoomLost).toBeLessThanOrEqual(length)
      }
    }),
    { seed: 20251120, numRuns: cases(6, 150) },
  )
})

test("the same texts give the same result on every check and in any Unicode composition", () => {
  fc.assert(
    fc.property(texts, locale, (some, listingLocale) => {
      const first = checked(some, listingLocale, BACKGROUND)
      expect(checked(some, listingLocale, BACKGROUND)).toEqual(first)
      const apart = Object.fromEntries(Object.entries(some).map(([field, value]) => [field, value?.normalize("NFD")]))
      expect(checked(apart, listingLocale, BACKGROUND)).toEqual(first)
    }),
    { seed: 20251121, numRuns: cases(4, 80) },
  )
})

test("lengths equal an independent count, and exactly the texts beyond the limit are too_long", () => {
  fc.assert(
    fc.property(texts, locale, (some, listingLocale) => {
      const { fields } = readListing(some, languageOf(listingLocale), NOTHING_KNOWN)
      for (const field of FIELDS) {
        const value = some[field]
        expect(fields[field] === undefined).toBe(value === undefined)
        if (value === undefined) continue
        let count = 0
        for (const character of value.normalize("NFC")) count += character.length > 0 ? 1 : 0
        const limit = LIMITS[field]
        const bytes = Buffer.byteLength(value.normalize("NFC"))
        const expected = {
          length: count,
          limit,
          over: Math.max(0, count - limit),
          left: Math.max(0, limit - count),
          bytes,
        }
        expect(measured(fields[field]!)).toEqual(expected)
        const over = checked(some, listingLocale).findings.filter(
          (finding) => finding.code === "too_long" && finding.field === field,
        )
        expect(over.map(({ characters }) => characters)).toEqual(count > limit ? [count - limit] : [])
      }
    }),
    { seed: 20251122, numRuns: cases(4, 80) },
  )
})

const REPEATS = ["repeated_word", "repeated_in_name", "repeated_in_subtitle"]
const plain = fc.array(fc.constantFrom("mood", "sleep", "yoga", "Yoga", "calm", "PRAYER", "prayer", "focus"), {
  maxLength: 14,
})

test("repeated words equal a simple count, and removing a repeated word removes its finding and cost", () => {
  fc.assert(
    fc.property(plain, plain, plain, (inName, inSubtitle, keywords) => {
      const [name, subtitle] = [inName.join(" "), inSubtitle.join(" ")]
      const repeats = (list: readonly string[]) =>
        checked({ name, subtitle, keywords: list.join(",") }, "en-US").findings.filter(
          ({ code, field }) => field === "keywords" && REPEATS.includes(code),
        )
      const lower = (list: readonly string[]) => list.map((word) => word.toLowerCase())
      const codes = lower(keywords).map((word, at) => {
        if (lower(inName).includes(word)) return "repeated_in_name"
        if (lower(inSubtitle).includes(word)) return "repeated_in_subtitle"
        return lower(keywords).indexOf(word) < at ? "repeated_word" : null
      })
      const findings = repeats(keywords)
      expect(findings.map(({ code }) => code as string)).toEqual(codes.filter((code) => code !== null))
      let remaining = keywords
      for (const { code, offset, characters } of findings.toReversed()) {
        const place = points(keywords.join(","))
          .slice(0, offset as number)
          .filter((sign) => sign === ",").length
        expect(codes[place] as string).toBe(code)
        const shortened = remaining.filter((_, at) => at !== place)
        // The last keyword has no comma that could be removed with it.
        const comma = shortened.length === 0 && keywords.length > 1 ? 1 : 0
        expect(remaining.join(",").length - shortened.join(",").length).toBe(characters - comma)
        expect(repeats(shortened)).toHaveLength(repeats(remaining).length - 1)
        remaining = shortened
      }
      expect(repeats(remaining)).toEqual([])
    }),
    { seed: 20251123, numRuns: cases(4, 60) },
  )
})

test("the reported lost room equals the characters saved by removing every reported keyword", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("mood", "best", "free", "app", "sleep", "yoga", "instagram"), {
        minLength: 1,
        maxLength: 12,
      }),
      (list) => {
        const keywords = list.join(",")
        const { findings, keywordRoomLost } = checked({ keywords }, "en-US")
        const named = new Set(
          findings.map(
            ({ offset }) =>
              points(keywords)
                .slice(0, offset as number)
                .filter((sign) => sign === ",").length,
          ),
        )
        const remaining = list.filter((_, at) => !named.has(at)).join(",")
        expect(keywordRoomLost).toBe(keywords.length - remaining.length)
        expect(found({ keywords: remaining }, "en-US")).toEqual([])
      },
    ),
    { seed: 20251124, numRuns: cases(4, 60) },
  )
})

const LONG = 100_000
const PIECES = [
  "a",
  "1",
  "1.,",
  "$",
  ",",
  " ",
  ", ",
  "word ",
  "free,",
  "<a ",
  "<",
  '"',
  "家計簿",
  "アプリ",
  "แอปแต่งรูป",
  "😀",
  "e\u0301",
  "a\u0300\u0301\u0302",
  "क्\u200d",
  "aб ",
  "aб",
  "앱",
  "تَطبيق ",
  "android ",
  "google ",
  "ss",
  "-free",
  "İ",
  "\n",
  "\u200b",
]
// Short runs try a third of the pieces: one of each script and kind of mark.
slow.each(PIECES.filter((_, at) => at % cases(3, 1) === 0))(
  "the text %p repeated 100,000 times is checked in linear time and has few findings",
  (piece) => {
    const long = piece.repeat(Math.ceil(LONG / piece.length))
    const listingLocale = /^[\p{ASCII}\p{M}\p{Script=Latin}]+$/u.test(piece) ? "en-US" : "ja"
    const started = performance.now()
    const { findings } = checked({ keywords: long, description: long }, listingLocale, BACKGROUND)
    // A check in quadratic time would take minutes.
    expect(performance.now() - started).toBeLessThan(10_000)
    const alike = Map.groupBy(findings, ({ code, field }) => `${code} ${field}`)
    expect(Math.max(...[...alike.values()].map(({ length }) => length))).toBeLessThanOrEqual(MAX_SIMILAR)
    expect(findings.every(({ what, message }) => what.length <= 200 && message.length < 500)).toBe(true)
  },
)
