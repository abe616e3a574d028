import { describe, expect, test } from "bun:test"
import { LISTING_LOCALES, languageOf, listingLocale, localesOf } from "../../src/lib/locales.ts"
import { STOREFRONTS } from "../../src/lib/storefronts.ts"
import { SIMPLIFIED, TRADITIONAL } from "../../src/lib/words/chinese.ts"
import { WORD_LISTS } from "../../src/lib/words/lists.ts"
import { wordKeys } from "../../src/listings/checks/word-keys.ts"

describe("word lists", () => {
  test("every App Store locale has a script, stop words, fillers, price words and deal words", () => {
    expect(LISTING_LOCALES).toHaveLength(50)
    for (const locale of LISTING_LOCALES) {
      const lists = WORD_LISTS[languageOf(locale)]!
      expect(lists.scripts.length).toBeGreaterThan(0)
      for (const [list, least] of [
        ["stop", 15],
        ["filler", 5],
        ["free", 2],
        ["deal", 3],
      ] as const)
        expect([locale, list, lists[list].split(" ").length >= least]).toEqual([locale, list, true])
    }
    expect(Object.keys(WORD_LISTS).sort()).toEqual([...new Set(LISTING_LOCALES.map(languageOf))].sort())
  })

  for (const [language, lists] of Object.entries(WORD_LISTS))
    test(`${language}: words are lower-case NFC in its script, and no word is both filler and price word`, () => {
      const kinds = ["stop", "filler", "free", "deal"] as const
      const ownScript = new RegExp(`[${lists.scripts.map((script) => `\\p{Script=${script}}`).join("")}]`, "u")
      for (const kind of kinds) {
        const words = lists[kind].split(" ")
        for (const word of words) {
          expect(word).toMatch(/^[\p{L}\p{M}\p{N}_'’·ฯ\u200d]+$/u)
          expect(word).toBe(word.normalize("NFC").toLocaleLowerCase(language === "tr" ? "tr" : "en"))
        }
        // A few English words are in lists of other scripts, because people there understand them.
        const foreign = words.filter((word) => !ownScript.test(word))
        expect([kind, foreign.filter((word) => !/^[a-z_]+$/.test(word))]).toEqual([kind, []])
      }
      const terms = (kind: (typeof kinds)[number]) =>
        lists[kind].split(" ").map((word) => wordKeys(word, language).term)
      const money = new Set([...terms("free"), ...terms("deal")])
      expect([...terms("filler"), ...terms("stop")].filter((term) => money.has(term))).toEqual([])
    })

  test("each simplified character is paired with its traditional form", () => {
    expect([...SIMPLIFIED]).toHaveLength([...TRADITIONAL].length)
    expect([...SIMPLIFIED].filter((character) => TRADITIONAL.includes(character))).toEqual([])
    expect(new Set(SIMPLIFIED).size).toBe([...SIMPLIFIED].length)
  })
})

describe("App Store locales", () => {
  test.each([
    ["en-US", "en-US"],
    ["en_us", "en-US"],
    ["EN", "en-US"],
    ["en-IN", "en-GB"],
    ["en-NZ", "en-AU"],
    ["ja", "ja"],
    ["ja-JP", "ja"],
    ["de", "de-DE"],
    ["de_AT", "de-DE"],
    ["es-419", "es-MX"],
    ["es-AR", "es-MX"],
    ["es", "es-ES"],
    ["fr-ca", "fr-CA"],
    ["fr-BE", "fr-FR"],
    ["pt", "pt-BR"],
    ["pt-AO", "pt-PT"],
    ["zh-Hant-HK", "zh-Hant"],
    ["zh_TW", "zh-Hant"],
    ["zh", "zh-Hans"],
    ["zh-CN", "zh-Hans"],
    ["nb-NO", "no"],
    ["iw", "he"],
    ["ar", "ar-SA"],
    ["bn", "bn-BD"],
    ["ur-IN", "ur-PK"],
    ["sl", "sl-SI"],
    ["or", "or-IN"],
  ])("the text %s is read as the locale %s", (text, locale) => {
    expect(listingLocale(text) as string).toBe(locale)
  })

  test.each([
    "",
    "e",
    "eo",
    "xx-YY",
    "english",
    "en-",
    "en US",
    "en-US-x",
    "de-DE ",
    "-",
    "eu",
    "zh-hant-hk-x",
    "__proto__",
    "constructor",
  ])("%p is not a locale of the store", (text) => {
    expect(listingLocale(text)).toBeUndefined()
  })

  test("every locale is found by its code in upper or lower case, with a hyphen or an underscore", () => {
    for (const locale of LISTING_LOCALES)
      for (const spelling of [locale, locale.toLowerCase(), locale.toUpperCase(), locale.replace("-", "_")])
        expect([spelling, listingLocale(spelling)]).toEqual([spelling, locale])
  })

  test("every storefront reads App Store locales, and every locale is read somewhere", () => {
    const read = STOREFRONTS.flatMap((storefront) => localesOf(storefront))
    expect(read.filter((locale) => !LISTING_LOCALES.includes(locale))).toEqual([])
    expect(LISTING_LOCALES.filter((locale) => !read.includes(locale))).toEqual([])
    for (const storefront of STOREFRONTS) {
      const locales = localesOf(storefront)
      expect(new Set(locales).size).toBe(locales.length)
      expect([storefront, locales.some((locale) => locale.startsWith("en"))]).toEqual([storefront, true])
    }
    expect([localesOf("us")[0], localesOf("jp")[0], localesOf("tr")[0]] as string[]).toEqual(["en-US", "ja", "en-GB"])
  })
})
