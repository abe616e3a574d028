import { describe, expect, test } from "bun:test"
import { foldReview, foldReviewText } from "../../../src/reviews/formulas/review-text.ts"
import { cases, slow } from "../../long.ts"

const finds = (query: string, text: string) => foldReviewText(text).includes(foldReviewText(query))

describe("spellings of the same text match each other", () => {
  const SPELLINGS: [what: string, spellings: string[]][] = [
    ["Turkish", ["ISIRIK İPUCU", "ısırık ipucu", "isirik ipucu", "Isırık İpucu", "I\u0307S\u0131r\u0131k ipucu"]],
    ["German", ["große Straße", "GROSSE STRASSE", "grosse strasse", "GROẞE STRAẞE", "  große\n\tStraße "]],
    ["Japanese width", ["ガチャ ＡＰＰ １２", "ｶﾞﾁｬ app 12", "カ\u3099チャ App 12", "ガチャ　app　１２"]],
    ["Korean", ["광고가 많아요", "광고가 많아요".normalize("NFD"), "광고가 많아요".normalize("NFKD")]],
    ["Chinese", ["广告太多（真的）", "广告太多(真的)"]],
    ["compatibility ideographs", ["\u8c48\u66f4", "\uf900\uf901"]],
    ["accents", ["Café", "cafe\u0301", "CAFÉ", "CAFE\u0301"]],
    ["Greek", ["Ο ΔΡΌΜΟΣ", "ο δρόμος", "ο δρόμοσ"]],
    ["curly quotes", ["don’t say “no”", 'don\'t say "no"', "don´t say „no”", "DON`T SAY “NO“"]],
    ["hyphens", ["re-install e-mail", "re\u2011install e\u2010mail", "re－install e\u2212mail"]],
    ["Arabic vowel signs", ["التطبيق جيد جدا", "التَّطْبِيقُ جَيِّدٌ جِدًّا", "التـطبيق جيـد جدا"]],
    ["ligatures and invisible characters", ["ﬁx it", "fix\u200b it", "f\u00adix it", "FIX\ufeff IT"]],
  ]
  for (const [what, spellings] of SPELLINGS) {
    test(`spellings match: ${what}`, () => {
      for (const text of spellings)
        for (const query of spellings) expect([query, text, finds(query, `x ${text} y`)]).toEqual([query, text, true])
    })
  }
})

test("different words do not match, even if they look similar", () => {
  const DIFFERENT: [query: string, text: string][] = [
    ["o", "ö"],
    ["s", "ş"],
    ["cafe", "café"],
    ["schon", "schön"],
    ["か", "が"],
    ["か", "カ"],
    ["ハ", "パ"],
    ["가", "각"],
    ["国", "國"],
    ["е", "e"],
    ["a b", "ab"],
  ]
  for (const [query, text] of DIFFERENT) expect([query, text, finds(query, text)]).toEqual([query, text, false])
})

test("adjacent standalone letters of Hangul are found", () => {
  for (const query of ["ㅋㅋ", "ㅠㅠ", "ㅋㅠ", "ㅋㅋㅠㅠ", "ㅋ", "좋아"])
    expect([query, finds(query, "좋아ㅋㅋㅠㅠ")]).toEqual([query, true])
  expect(finds("큐", "ㅋㅋㅠㅠ")).toBe(false)
  expect("ㅋㅋㅠㅠ".normalize("NFKC")).toContain("큐")
})

test("a query does not match across title and text", () => {
  const review = foldReview({ title: "Good game", text: "over and\nover" })
  expect(review).toBe("good game\nover and over")
  for (const query of ["game over", "game\nover", "game \n over"]) expect(review).not.toContain(foldReviewText(query))
  expect(foldReview({ title: null, text: "" })).toBe("")
})

slow("folding is idempotent and ignores case and composition of every character", () => {
  const wrong: string[] = []
  for (let code = 1; code <= 0x10ffff; code += code < 0x3000 ? 1 : cases(7, 1)) {
    const character = String.fromCodePoint(code)
    if (UNEVENTFUL.test(character)) continue
    const text = `${character} i${character} a${character}b`
    const folded = foldReviewText(text)
    const composed = [text.normalize("NFD"), text.normalize("NFC")]
    const cased = [text.toUpperCase(), text.toLowerCase(), text.toLocaleUpperCase("tr"), text.toLocaleLowerCase("tr")]
    const variants = [folded, ...composed, ...cased].map(foldReviewText)
    if (variants.some((other) => other !== folded)) wrong.push(code.toString(16))
  }
  expect(wrong).toEqual([])
})

/** Characters without case and composition, and unassigned code points. */
const UNEVENTFUL = /\p{Unified_Ideograph}|\p{Script=Tangut}|\p{Private_Use}|\p{Unassigned}|\p{Surrogate}/u
