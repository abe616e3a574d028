import { expect, test } from "bun:test"
import fc from "fast-check"
import { titleHolder, titleMatch } from "../../../src/keywords/formulas/title-match.ts"

test.each([
  ["photo editor", "Lightroom: Photo & Video Editor", 0.5],
  ["photo editor", "Photo Editor Pro", 1],
  ["prize picks", "PrizePicks - Fantasy Sports", 1],
  ["prizepicks", "Prize Picks", 1],
  ["photo editor", "Photos", 0.125],
  ["photo editor", "Uber", 0],
  ["art", "Party Smart", 0],
  ["tea", "The Tea App", 1],
  ["tea", "Team Chat", 0.5],
  ["c++", "C & D", 1],
  ["50% off", "50 Off", 1],
])("the match of %s in %s is %d", (term, title, match) => {
  expect(titleMatch(term, title)).toBe(match)
})

test.each([
  ["istanbul", "İSTANBUL Kart", 1],
  ["ısı", "ISI Ölçer", 1],
  ["araba oyun", "Oyunlar: Araba ve Yarış", 0.5],
  ["müzik", "MÜZİK İndir", 1],
])("the match of Turkish %s in %s is %d", (term, title, match) => {
  expect(titleMatch(term, title)).toBe(match)
})

test.each([
  ["家計簿", "ふたり家計簿 - 共有", 1],
  ["日本語 辞書", "日本語辞書", 1],
  ["写真編集", "写真の編集アプリ", 0.25 * (2 / 3)],
  ["ＰＨＯＴＯ 写真", "photo写真加工", 1],
  ["翻訳", "音楽", 0],
  ["중국어", "중국어 사전", 1],
  ["แปลภาษา", "แอปแปลภาษาไทย", 1],
])("the match of %s in %s, without blanks between words or in Korean, is %d", (term, title, match) => {
  expect(titleMatch(term, title)).toBeCloseTo(match, 10)
})

test("a title matches its own words whatever surrounds them, and a match is between 0 and 1", () => {
  const word = fc.stringMatching(/^[a-zà-ž]{2,8}$/)
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), word, word, (words, before, after) => {
      const term = words.join(" ")
      expect(titleMatch(term, `${before}: ${term} – ${after}`)).toBe(1)
      const any = titleMatch(term, `${before} ${after}`)
      expect(any >= 0 && any <= 1).toBe(true)
    }),
    { seed: 20_250_901, numRuns: 1_000 },
  )
})

test("a keyword without a letter or digit matches nothing", () => {
  expect(titleMatch("!?", "Really?!")).toBe(0)
  expect(titleMatch("tea", "")).toBe(0)
})

test("titleHolder is true exactly if titleMatch is 1", () => {
  const holds = titleHolder()
  // few letters, so that many titles contain the keyword
  const text = fc.array(fc.stringMatching(/^[abİı 写真.]{0,3}$/), { maxLength: 4 }).map((parts) => parts.join(" "))
  const found = new Map([true, false].map((isMatch) => [isMatch, 0]))
  fc.assert(
    fc.property(text, text, (term, title) => {
      const isMatch = holds(term, title)
      expect(isMatch).toBe(titleMatch(term, title) === 1)
      found.set(isMatch, found.get(isMatch)! + 1)
    }),
    { seed: 20_251_126, numRuns: 3_000 },
  )
  expect(Math.min(...found.values())).toBeGreaterThan(100)
})
