import { describe, expect, test } from "bun:test"
import { checkListing } from "../../src/listings/checks/report.ts"
import { checked, found, readListing } from "./listing.ts"

describe("lengths of fields", () => {
  const over = (field: string, text: string, locale = "en-US") =>
    checked({ [field]: text }, locale).findings.filter(({ code }) => code === "too_long")

  test.each([
    ["name", 30],
    ["subtitle", 30],
    ["keywords", 100],
    ["promotionalText", 170],
    ["description", 4_000],
  ] as const)("the field %s accepts exactly %d characters, and one character more is an error", (field, limit) => {
    for (const letter of ["x", "日", "я", "😀", "ß", "가"]) {
      expect(over(field, letter.repeat(limit))).toEqual([])
      expect(over(field, letter.repeat(limit + 1))).toMatchObject([
        { severity: "error", field, what: letter, offset: limit, characters: 1 },
      ])
    }
  })

  test("the limit of the keywords counts characters, not bytes", () => {
    const keywords = "تغريدات,ردود,اعجابات,فلترة,بحث,ارشفة,ازالة,سجل,ريتويت,لايكات,منشن,خصوصية,منشورات,قديمة,حساب"
    expect(Buffer.byteLength(keywords)).toBe(168)
    expect(over("keywords", keywords, "ar-SA")).toEqual([])
  })

  test("a letter with its accent and a Korean syllable are one character in any composition", () => {
    expect(over("name", "é".normalize("NFD").repeat(30))).toEqual([])
    expect(over("name", "한".normalize("NFD").repeat(30), "ko")).toEqual([])
    expect(over("name", "한".normalize("NFD").repeat(31), "ko")).toHaveLength(1)
  })

  test("a name needs two characters, and a subtitle may be empty", () => {
    expect(found({ name: "X" }, "en-US")).toEqual(["too_short name: X"])
    expect(found({ name: "  X " }, "en-US", {}, ["too_short"])).toHaveLength(1)
    expect(found({ name: "Go", subtitle: "", keywords: "", promotionalText: "", description: "" }, "en-US")).toEqual([])
  })
})

describe("characters of fields", () => {
  test("pictographs are refused, and plain symbols and letters of every script pass", () => {
    expect(found({ description: "Great 🚨 news ✅" }, "en-US")).toEqual([
      "refused_character description: 🚨",
      "refused_character description: ✅",
    ])
    expect(found({ description: "★ 5 stars ✓ Foo™ © 2026 • one → two №1" }, "en-US")).toEqual([])
  })

  test("an invisible character is reported with its code, and a joiner that the script needs is allowed", () => {
    const [finding] = checked({ keywords: "mood\u200b,diary" }, "en-US").findings
    expect(finding).toMatchObject({ code: "invisible_character", offset: 4, characters: 1 })
    expect(finding?.message).toContain("U+200B")
    expect(
      found({ name: "क्\u200dष", description: "می\u200cخواهم\nline\r\n\ttab" }, "hi", {}, ["invisible_character"]),
    ).toEqual([])
  })

  test('HTML in a description is reported, and comparisons such as "a < b" are not', () => {
    expect(found({ description: "<b>Bold</b>, 1 < 2 > 0, <3" }, "en-US")).toEqual([
      "markup description: <b>",
      "markup description: </b>",
    ])
  })

  test("special characters are reported only in keywords", () => {
    expect(found({ keywords: "c++,rock&roll,#mood,don't,e-mail" }, "en-US", {}, ["special_character"])).toEqual([
      "special_character keywords: #",
    ])
    expect(found({ name: "#1 Mood!" }, "en-US", {}, ["special_character"])).toEqual([])
  })
})

describe("white space in fields", () => {
  test("white space around commas is reported with the number of characters that it costs", () => {
    const { findings, keywordRoomLost } = checked({ keywords: "mood, diary ,  sleep" }, "en-US")
    expect(findings.map(({ code, what, offset, characters }) => [code, what, offset, characters])).toEqual([
      ["keyword_space", " ", 5, 1],
      ["keyword_space", " ", 11, 1],
      ["keyword_space", "  ", 13, 2],
    ])
    expect(keywordRoomLost).toBe(4)
    expect(found({ keywords: "mood,self care" }, "en-US")).toEqual([])
  })

  test("the Chinese comma separates keywords, and an ideographic space after it is reported", () => {
    expect(found({ keywords: "天气，\u3000日历" }, "zh-Hans")).toEqual(["keyword_space keywords: \u3000"])
  })

  test("a comma without a keyword is reported, and its cost includes the spaces next to it", () => {
    const costs = (keywords: string) =>
      checked({ keywords }, "en-US").findings.map(({ code, offset, characters }) => [code, offset, characters])
    expect(costs("mood,,diary")).toEqual([["empty_keyword", 4, 1]])
    expect(costs("mood, ,diary")).toEqual([["empty_keyword", 4, 2]])
    expect(costs("mood,")).toEqual([["empty_keyword", 4, 1]])
    expect(costs(",mood")).toEqual([["empty_keyword", 0, 1]])
  })

  test.each([
    ["mood;diary", "en-US", ";"],
    ["家計簿、日記", "ja", "、"],
    ["يوميات،مزاج", "ar-SA", "،"],
    ["mood\ndiary", "en-US", "\n"],
  ])("a wrong separator is reported in the keywords %p", (keywords, locale, sign) => {
    expect(found({ keywords }, locale)).toContain(`wrong_separator keywords: ${sign}`)
  })

  test("outer and double spaces are reported in a name but not in a description", () => {
    expect(found({ name: " Mood  Diary ", description: "  x  y " }, "en-US")).toEqual([
      "outer_space name:  ",
      "double_space name:  ",
      "outer_space name:  ",
    ])
    expect(found({ promotionalText: "   " }, "en-US")).toEqual(["outer_space promotionalText:    "])
  })
})

describe("filler words", () => {
  test.each([
    ["en-US", "mood,app,best", ["app", "best"]],
    ["de-DE", "stimmung,beste,tagebuch", ["beste"]],
    ["fr-FR", "humeur,appli,journal", ["appli"]],
    ["ja", "日記,アプリ,気分", ["アプリ"]],
    ["ko", "일기,앱,기분", ["앱"]],
    ["tr", "günlük,en iyi,uygulama", ["en iyi", "uygulama"]],
    ["ru", "дневник,лучший,приложение", ["лучший", "приложение"]],
    ["ar-SA", "يوميات,تطبيق,مزاج", ["تطبيق"]],
    ["he", "יומן,אפליקציה", ["אפליקציה"]],
    ["th", "ไดอารี่,แอป", ["แอป"]],
    ["hi", "डायरी,ऐप", ["ऐप"]],
    ["ta-IN", "நாட்குறிப்பு,செயலி", ["செயலி"]],
    ["zh-Hans", "日记,软件", ["软件"]],
    ["vi", "nhật ký,ứng dụng", ["ứng dụng"]],
  ])("filler words are found in %s: %s", (locale, keywords, words) => {
    expect(found({ keywords }, locale, {}, ["filler_word"])).toEqual(
      words.map((word) => `filler_word keywords: ${word}`),
    )
  })

  test("a keyword that contains a filler word only as a part, such as bestiary, is not reported", () => {
    expect(found({ keywords: "apple pie,bestiary,applet" }, "en-US")).toEqual([])
    expect(found({ keywords: "手机壁纸,软件学院" }, "zh-Hans", {}, ["filler_word"])).toEqual([])
    expect(found({ name: "Best App" }, "en-US")).toEqual([])
  })

  test("a stop word is only a hint: its finding includes one space, and no keyword room counts as lost", () => {
    const { findings, keywordRoomLost } = checked({ keywords: "diary with lock" }, "en-US")
    expect(findings).toMatchObject([{ code: "stop_word", severity: "hint", what: "with", offset: 6, characters: 5 }])
    expect(keywordRoomLost).toBe(0)
    expect(found({ keywords: "tagebuch mit schloss" }, "de-DE")).toEqual(["stop_word keywords: mit"])
    expect(found({ keywords: "tagebuch mit schloss" }, "fi")).toEqual([])
  })
})

describe("scripts and languages", () => {
  test.each([
    ["ja", { subtitle: "Simple money tracker" }, ["foreign_script subtitle: Simple"]],
    ["ja", { subtitle: "Zaim 家計簿・レシート読取" }, []],
    ["de-DE", { description: "Дневник настроения и сна" }, ["foreign_script description: Дневник"]],
    ["de-DE", { description: "Sprachen: Deutsch, English, Русский, 日本語, العربية" }, []],
    ["ru", { subtitle: "Mood diary" }, ["foreign_script subtitle: Mood"]],
    ["ru", { subtitle: "Дневник для iPhone" }, ["apple_product subtitle: iPhone"]],
    ["th", { description: "Mood diary ไดอารี่" }, []],
    ["ko", { description: "気分日記アプリ" }, ["foreign_script description: 気分"]],
    ["he", { subtitle: "יומן מצב רוח" }, []],
    ["el", { subtitle: "Ημερολόγιο διάθεσης" }, []],
    ["ta-IN", { subtitle: "मनोदशा" }, ["foreign_script subtitle: मनोदशा"]],
  ])("words in a foreign script are reported in %s: %o", (locale, texts, words) => {
    expect(found(texts, locale)).toEqual(words)
  })

  test("in a locale with another script, a Latin name is a hint and a name in a third script a warning", () => {
    const severities = (name: string, locale: string) =>
      checked({ name }, locale).findings.map(({ severity }) => severity)
    expect(severities("Zaim", "ja")).toEqual(["hint"])
    expect(severities("Дневник", "ja")).toEqual(["warning"])
    expect(severities("Дневник", "uk")).toEqual([])
    expect(severities("118 712", "ja")).toEqual([])
  })

  test("a word that mixes two similar alphabets is reported", () => {
    expect(found({ name: "Photo Edit\u043er" }, "en-US")).toEqual(["mixed_script name: Edit\u043er"])
    expect(found({ name: "Photo Editor", subtitle: "iPhoneケース" }, "en-US", {}, ["mixed_script"])).toEqual([])
  })

  test.each([
    ["de-DE", "Keep a diary of your days and see what it does to you and all of your friends.", true],
    ["en-US", "Führe ein Tagebuch für deine Tage und sieh, was es mit dir und den anderen macht.", true],
    ["pt-BR", "Lleva un diario de tus días y mira lo que hace con tus amigos y con los demás.", true],
    ["uk", "Ведите дневник своих дней и смотрите, что это для вас и ваших друзей значит, объём, мысль", true],
    ["zh-Hans", "記錄您的每一天，這是個說話與學習的好時間，讓我們開始。", true],
    ["zh-Hant", "记录您的每一天，这是个说话与学习的好时间，让我们开始。", true],
    ["zh-Hant", "記錄您的每一天，這是個說話與學習的好時間，讓我們開始。", false],
    ["ja", "记录您的每一天，这是个说话与学习的好时间，让我们开始。", true],
    ["ja", "毎日の気分を記録して、学習の時間を見つけましょう。会話も国語も。", false],
    ["de-DE", "Führe ein Tagebuch für deine Tage und sieh, was es mit dir und den anderen macht.", false],
    ["da", "Før en dagbok for dagene dine og se hva det gjør med deg og de andre.", false],
    ["mr-IN", "अपनी डायरी लिखें और देखें कि यह आपके लिए क्या करती है, हर दिन के साथ।", true],
    ["hi", "अपनी डायरी लिखें और देखें कि यह आपके लिए क्या करती है, हर दिन के साथ।", false],
    ["ar-SA", "اپنی ڈائری لکھیں اور دیکھیں کہ یہ آپ کے لیے کیا کرتی ہے، ہر دن کے ساتھ۔", true],
  ])("in %s, the description %p is reported as another language: %p", (locale, description, other) => {
    const codes = found({ description }, locale).map((finding) => finding.split(" ")[0])
    expect(codes).toEqual(other ? ["wrong_language"] : [])
  })
})

test("a locale that the storefront does not read is reported, but missing tracked keywords are not", () => {
  const background = { name: null, developer: null, rivals: [], tracked: ["mood diary"] }
  const listing = readListing({ name: "Tagebuch", subtitle: "", keywords: "" }, "de", background)
  const { findings, coverage } = checkListing(listing, { storefront: "jp", locale: "de-DE" })
  expect(findings).toMatchObject([
    { code: "locale_not_read", severity: "hint", field: null, what: "de-DE", offset: null },
  ])
  expect(findings).toHaveLength(1)
  expect(coverage).toEqual([{ term: "mood diary", covered: false, missing: ["mood", "diary"], variants: [] }])
})

test("invisible characters, line breaks and tabs in a name are errors", async () => {
  const cases = await Bun.file(new URL("../cases/stores/validate.json", import.meta.url)).json()
  const names = [...cases.map(({ body }: { body: { name: string } }) => body.name), "Tidy\tMoon", "Tidy\u200eMoon"]
  for (const name of names) {
    const errors = checked({ name }, "en-US").findings.filter(({ code }) => code === "invisible_character")
    expect([name, errors.map(({ severity }) => severity)]).toEqual([name, ["error"]])
  }
})
