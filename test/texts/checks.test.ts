import { describe, expect, test } from "bun:test"
import { problemsOf } from "../../src/texts/checks/checker.ts"
import { addressesIn } from "../../src/texts/checks/links.ts"
import { numbersIn } from "../../src/texts/checks/numbers.ts"
import { findQuote } from "../../src/texts/checks/quotes.ts"
import { COUNTRIES, rowsOf, SOME } from "../measuring/record/review-rows.ts"

const ground = { sources: [] as string[], language: "en" }
const rulesOf = (...[kind, text, against]: Parameters<typeof problemsOf>) =>
  problemsOf(kind, text, against).map(({ rule }) => rule)

describe("a quote", () => {
  test.each([
    ["it crashes", "Since May it crashes daily", "it crashes"],
    ["IT  CRASHES", "Since May it\n crashes daily", "it\n crashes"],
    ["don't  open", "They don’t open", "don’t open"],
    ["strasse weg", "Die Straße weg", "Straße weg"],
    ["ﾊﾞｸﾞが多い", "本当にバグが多いです", "バグが多い"],
    ["çok ILIK", "Çok ılık bir gün", "Çok ılık"],
    ["ㅋㅋㅠㅠ 재밌", "너무 ㅋㅋㅠㅠ 재밌어요", "ㅋㅋㅠㅠ 재밌"],
  ])("the quote of %s is returned in the characters of its review", (quote, text, expected) =>
    expect(findQuote(quote, text)).toBe(expected),
  )

  test.each([
    ["it crushes", "Since May it crashes daily"],
    ["a", "a"],
    ["", "anything at all"],
    ["tras", "Straße Straße"],
    ["s the end", "Spaß the end"],
    ["\u200b\u200b\u200b\u200b\u200b", "anything at all"],
  ])("the quote %j is not found in %j", (quote, text) => expect(findQuote(quote, text)).toBeNull())

  test("any part of a real review is found in it, in any case and spacing", () => {
    for (const [at, { review }] of rowsOf(SOME).entries()) {
      const points = [...review.normalize("NFC")]
      const from = (at * 7) % Math.max(1, points.length - 20)
      const quote = points
        .slice(from, from + 20)
        .join("")
        .toUpperCase()
        .replaceAll(" ", "  ")
      const found = findQuote(quote, review)
      // a part may begin or end within a visible character
      if (found !== null) expect(review).toInclude(found)
      else expect([...quote.trim()].length < 4 || /\p{M}|\u200d|\ufe0f|\p{Emoji_Modifier}|SS/u.test(quote)).toBeTrue()
    }
  })

  test("a quote with one changed letter is found in no real review", () => {
    for (const { review } of rowsOf(SOME)) {
      const points = [...review].slice(0, 30)
      if (points.length < 8) continue
      const quote = points.with(5, "Ѫ").join("")
      expect(findQuote(quote, review)).toBeNull()
    }
  })
})

describe("refused texts", () => {
  test("a number that no source has is refused, in any notation", () => {
    expect(numbersIn("1,000 or 1.000 or 1 000, 2.5, ١٢ and 5.3.0")).toEqual([
      "1000",
      "1000",
      "1",
      "000",
      "2.5",
      "12",
      "5.3.0",
    ])
    expect(rulesOf("sentence", "It crashes 3 times", { ...ground, sources: ["crashed 3 times"] })).toEqual([])
    expect(rulesOf("sentence", "It crashes 3 times", { ...ground, sources: ["crashed 13 times"] })).toEqual(["numbers"])
  })

  test.each([
    ["en", "Most users complain about ads"],
    ["de", "Viele Nutzer klagen über Werbung"],
    ["tr", "Herkes reklamlardan şikâyet ediyor"],
    ["es", "La mayoría se queja de los anuncios"],
    ["fr", "La plupart se plaignent des publicités"],
    ["pt", "Muitos reclamam dos anúncios"],
    ["ru", "Многие жалуются на рекламу"],
    ["ja", "多くの人が広告に不満です"],
    ["ko", "대부분 광고에 불만입니다"],
    ["zh-Hans", "许多用户抱怨广告太长"],
  ])("words in %s that claim how many people share an opinion are refused", (language, text) =>
    expect(rulesOf("sentence", text, { sources: [], language })).toContain("quantities"),
  )

  test.each([
    ["en", "We will refund you.", "Please update your rating."],
    ["de", "Wir erstatten den Betrag.", "Bitte die Bewertung ändern."],
    ["tr", "Size indirim yapacağız.", "Lütfen puanınızı güncelleyin."],
    ["es", "Le haremos un reembolso.", "¿Puedes actualizar tu reseña?"],
    ["fr", "Nous allons vous rembourser.", "Merci de modifier votre note."],
    ["pt", "Faremos o reembolso.", "Pode atualizar sua avaliação?"],
    ["ru", "Мы сделаем возврат средств.", "Прошу изменить оценку."],
    ["ja", "返金いたします。", "ぜひ評価を変更してください。"],
    ["ko", "환불해 드리겠습니다.", "별점을 수정해 주세요."],
    ["zh-Hans", "我们会给您退款。", "希望您修改评分。"],
  ])("a promise of money or a request for stars in %s is refused", (language, money, stars) => {
    expect(rulesOf("reply", money, { sources: [], language })).toContain("promises")
    expect(rulesOf("reply", stars, { sources: [], language })).toContain("promises")
  })

  test("a web address that no source has is refused, even if it is disguised", () => {
    const hidden = [
      "https://evil.example/x",
      "WWW.Evil.Com",
      "evil[.]com",
      "evil (dot) com",
      "e\u200bvil.com",
      "ｅｖｉｌ．ｃｏｍ",
      "www.evil.example",
      "me@evil.org",
      "@evil_corp",
    ]
    for (const text of hidden)
      expect([text, rulesOf("reply", `Look at ${text} now`, ground)[0]]).toEqual([text, "links"])
    expect(addressesIn("It works.But then. It took 5.3.0 and e.g. that")).toEqual([])
    const sources = ["Write to help@lumen.app or see https://www.lumen.app/help."]
    expect(rulesOf("sentence", "See lumen.app/help", { ...ground, sources })).toEqual([])
  })

  test("an email address, phone number or account is refused, even if a source has it", () => {
    const texts = [
      "me@mail.example.org",
      "call +49 30 1234567",
      "0171/2345678",
      "DE89 3704 0044 0532 0130 00",
      "4111 1111 1111 1111",
      "05321234567",
    ]
    for (const text of texts)
      expect([text, new Set(rulesOf("quote", text, { ...ground, sources: [text] }))]).toEqual([
        text,
        new Set(["personal_data"]),
      ])
    for (const text of [
      "since 2024-05-01",
      "on 01.05.2024",
      "version 10.12.2024",
      "level 12345",
      "1,000,000 coins",
      "12345678 gems",
    ])
      expect([text, rulesOf("quote", text, ground)]).toEqual([text, []])
  })

  test("a text in another language than the requested one is refused", () => {
    expect(rulesOf("sentence", "この広告は長すぎます", ground)).toContain("language")
    expect(
      rulesOf("sentence", "Die Werbung ist viel zu lang und sie kommt nach jedem Level, das ist nicht gut", ground),
    ).toContain("language")
    expect(rulesOf("sentence", "The ads are too long and come after each level", ground)).toEqual([])
    expect(
      rulesOf("sentence", "The ads are too long and they come after each level", { sources: [], language: "ja" }),
    ).toContain("language")
    expect(rulesOf("sentence", "広告が長すぎます", { sources: [], language: "ja" })).toEqual([])
  })

  test("a text is refused if it is too long or empty, repeats its prompt or names another store", () => {
    const orders = "Write one short reply in the language of the review and nothing else"
    expect(rulesOf("reply", "😀".repeat(11), { ...ground, most: 10 })).toEqual(["length"])
    expect(rulesOf("reply", "😀".repeat(10), { ...ground, most: 10 })).toEqual([])
    expect(rulesOf("reply", " \n", ground)).toEqual(["length"])
    expect(rulesOf("reply", "I write one short reply in the language of the review", { ...ground, orders })).toEqual([
      "told",
    ])
    expect(rulesOf("reply", "It is on Google Play too", ground)).toEqual(["stores"])
    expect(rulesOf("reply", "It is on Google Play too", { ...ground, sources: ["Bought on Google Play"] })).toEqual([])
  })
})

test("the rule against instructions matches few real reviews", () => {
  const rows = rowsOf(SOME).filter(({ country }) => COUNTRIES[country])
  const accepted = rows.filter(({ review }) => rulesOf("quote", review, ground).includes("instructions"))
  expect(accepted.map(({ review }) => review)).toEqual([])
})
