import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { foldApp, foldedWords, gramsOf, gramsOfSearch, partOf, wordsOf } from "../../src/stores/app-text.ts"
import { cases } from "../long.ts"

/** Finds an app in the same way as a search of the index does. */
function isFound(search: string, names: readonly string[], publisher: string | null = null): boolean {
  const words = wordsOf(search)
  const folded = foldApp(names, publisher) ?? ""
  const grams = new Set(gramsOf(foldedWords(folded)))
  const byGrams = gramsOfSearch(words).every((gram) => grams.has(gram))
  const byText = words.every((word) => folded.includes(partOf(word)))
  if (byText) expect({ search, names, byGrams }).toEqual({ search, names, byGrams: true })
  return words.length > 0 && byGrams && byText
}

describe("words of a text", () => {
  test.each([
    ["Hearth & Home", ["hearth", "home"]],
    ["CAFÉ Café cafe\u0301", ["cafe", "cafe", "cafe"]],
    ["Łódź Straße ΟΔΟΣ İstanbul ısı", ["lodz", "strasse", "οδοσ", "istanbul", "isi"]],
    ["Ёлка Й", ["елка", "и"]],
    ["ＦＵＬＬ ﬁt ①", ["full", "fit", "1"]],
    ["Let’s McDonald's", ["lets", "mcdonalds"]],
    ["LINE漫画 2.0", ["line", "漫画", "2", "0"]],
    ["ﾗｲﾝ ガーデン", ["ライン", "カーテン"]],
    ["카카오톡 KakaoTalk", ["카카오톡", "kakaotalk"]],
    ["100%_off", ["100", "off"]],
    ["Tea™ Pro®", ["tea", "pro"]],
    ["🍵 ... !?", []],
    ["", []],
    ["\ud800 tea\udfff", ["tea"]],
  ])("text %p has the words %p", (text, words) => {
    expect(wordsOf(text)).toEqual(words)
  })

  test("only the first 200 letters of a text are split into words", () => {
    expect(wordsOf("tea ".repeat(1_000))).toHaveLength(50)
    expect([...wordsOf("茶".repeat(5_000))[0]!]).toHaveLength(200)
    expect(wordsOf("\u0301".repeat(100_000))).toEqual([])
  })
})

describe("search text of an app", () => {
  test("an app's search text contains each name once, whatever the order of the names", () => {
    expect(foldApp(["Tea", "お茶", "TEA"], "Leaves")).toBe("\n tea\n お茶\n\t leaves\n")
    expect(foldApp(["お茶", "Tea"], "Leaves")).toBe(foldApp(["Tea", "お茶", "TEA"], "Leaves"))
    expect(foldApp([], "Leaves")).toBe("\n\t leaves\n")
    expect([foldApp([], null), foldApp(["🍵"], "…")]).toEqual([null, null])
  })

  test("three letters match anywhere in a word, and one or two letters match only its start", () => {
    const names = ["Hearth & Home", "暖炉と家", "난로와 집", "Очаг и Дом"]
    const found = ["hearth", "art", "h", "ho", "HOME hea", "暖", "炉と", "家", "난로", "로와", "очаг", "ДОМ", "чаг"]
    const not = ["ea", "om", "earth home!x", "炉家", "와로", "аг", "hearthhome", "%", "_", "x_arth", "hear%the", ""]
    expect(found.filter((search) => !isFound(search, names))).toEqual([])
    expect(not.filter((search) => isFound(search, names))).toEqual([])
    expect([isFound("north", names, "Northfield"), isFound("home north", names, "Northfield")]).toEqual([true, true])
  })

  test("a search that matches an app's search text also matches the n-grams of that text", () => {
    const letter = fc.constantFrom(..."abcéE'漫画のガ한국ไทยЁй 1&ﬁ\u0301𝒳🍵")
    const text = fc.array(letter, { maxLength: 12 }).map((letters) => letters.join(""))
    const shapes = new Set<boolean>()
    fc.assert(
      fc.property(fc.array(text, { maxLength: 3 }), text, text, fc.nat(12), (names, publisher, search, length) => {
        shapes.add(isFound(search, names, publisher))
        const whole = names[0] ?? ""
        if (wordsOf(whole).length > 0) expect(isFound(whole, names, publisher)).toBe(true)
        isFound([...whole].slice(0, length).join(""), names, publisher)
      }),
      { seed: 37, numRuns: cases(100, 6_000) },
    )
    expect(shapes.size).toBe(2)
  })
})
