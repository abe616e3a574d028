import { describe, expect, test } from "bun:test"
import { checked, found } from "./listing.ts"

describe("repeated words", () => {
  const REPEATS = ["repeated_word", "repeated_in_name", "repeated_in_subtitle", "similar_word"]
  const repeats = (texts: object, locale: string) => found(texts, locale, {}, REPEATS)

  test("a word repeated from name, subtitle or keywords is reported, and its cost includes one comma", () => {
    const texts = {
      name: "Mood Diary",
      subtitle: "Daily journal",
      keywords: "diary,sleep,JOURNAL,sleep,self care,care",
    }
    const { findings, keywordRoomLost } = checked(texts, "en-US")
    expect(findings.map(({ code, what, offset, characters }) => [code, what, offset, characters])).toEqual([
      ["repeated_in_name", "diary", 0, 6],
      ["repeated_in_subtitle", "JOURNAL", 12, 8],
      ["repeated_word", "sleep", 20, 6],
      ["repeated_word", "care", 36, 5],
    ])
    expect(keywordRoomLost).toBe(25)
  })

  test.each([
    ["en-US", { name: "Mood", subtitle: "Moody days" }, []],
    ["en-US", { name: "The Mood of the Day", subtitle: "A day in the life" }, ["repeated_in_name subtitle: day"]],
    ["en-US", { keywords: "photo,photos" }, ["similar_word keywords: photos"]],
    ["en-US", { keywords: "diary,diaries" }, ["similar_word keywords: diaries"]],
    ["en-US", { keywords: "bus,us,class,glass" }, []],
    ["es-ES", { keywords: "diario,diarios" }, ["similar_word keywords: diarios"]],
    ["de-DE", { keywords: "straße,STRASSE" }, ["repeated_word keywords: STRASSE"]],
    ["de-DE", { keywords: "schon,schön" }, ["similar_word keywords: schön"]],
    ["fr-FR", { keywords: "café,cafe" }, ["similar_word keywords: cafe"]],
    ["tr", { keywords: "günlük,GÜNLÜK,ısı,ISI" }, ["repeated_word keywords: GÜNLÜK", "repeated_word keywords: ISI"]],
    ["tr", { name: "İstanbul", keywords: "istanbul" }, ["repeated_in_name keywords: istanbul"]],
    ["tr", { keywords: "sınır,sinir" }, ["similar_word keywords: sinir"]],
    ["en-US", { keywords: "INSTANT,instant" }, ["repeated_word keywords: instant"]],
    ["ru", { keywords: "ёлка,елка,Ёлка" }, ["similar_word keywords: елка", "repeated_word keywords: Ёлка"]],
    ["ru", { keywords: "йод,иод" }, []],
    ["el", { keywords: "ΟΔΟΣ,οδος,οδός" }, ["repeated_word keywords: οδος", "similar_word keywords: οδός"]],
    ["ar-SA", { keywords: "كِتاب,كتاب,كتـاب" }, ["repeated_word keywords: كتاب", "repeated_word keywords: كتـاب"]],
    ["he", { keywords: "יוֹמָן,יומן" }, ["repeated_word keywords: יומן"]],
    ["ko", { keywords: `일기,${"일기".normalize("NFD")}` }, ["repeated_word keywords: 일기"]],
    ["ko", { keywords: "일기,일기장" }, []],
    ["hi", { keywords: "दिन,दीन" }, []],
    ["ja", { name: "家計簿", keywords: "家計簿,日記" }, ["repeated_in_name keywords: 家計"]],
    ["ja", { keywords: "カメラ,ｶﾒﾗ" }, ["repeated_word keywords: ｶﾒﾗ"]],
    ["ja", { keywords: "ハハ,パパ" }, []],
    ["th", { keywords: "แต่งรูป,รูป" }, ["repeated_word keywords: รูป"]],
    ["zh-Hans", { name: "天气", keywords: "天气,日历" }, ["repeated_in_name keywords: 天气"]],
  ])("repeated words are found in %s: %o", (locale, texts, words) => {
    expect(repeats(texts, locale)).toEqual(words)
  })

  test("in scripts without spaces, a repeat inside a longer keyword is only a hint", () => {
    const [finding] = checked({ name: "家計簿", keywords: "家計管理" }, "ja").findings
    expect(finding).toMatchObject({ code: "repeated_in_name", severity: "hint", what: "家計", characters: 2 })
  })
})

describe("price words", () => {
  const PRICES = ["price_word", "price_amount", "deal_word"]
  const prices = (texts: object, locale: string, background = {}) => found(texts, locale, background, PRICES)

  test.each([
    ["en-US", "Free Mood Diary", "Free"],
    ["de-DE", "Tagebuch kostenlos", "kostenlos"],
    ["de-DE", "Free Tagebuch", "Free"],
    ["fr-FR", "Journal gratuit", "gratuit"],
    ["es-MX", "Diario gratis", "gratis"],
    ["pt-BR", "Diário Grátis", "Grátis"],
    ["ja", "日記 無料", "無料"],
    ["ja", "完全無料日記", "完全無料"],
    ["ko", "무료 일기", "무료"],
    ["tr", "ÜCRETSİZ Günlük", "ÜCRETSİZ"],
    ["ru", "Дневник бесплатно", "бесплатно"],
    ["uk", "Щоденник безкоштовно", "безкоштовно"],
    ["pl", "Dziennik za darmo", "za darmo"],
    ["ar-SA", "يوميات مجّاناً", "مجّاناً"],
    ["he", "יומן חינם", "חינם"],
    ["hi", "मुफ़्त डायरी", "मुफ़्त"],
    ["th", "ไดอารี่ฟรี", "ฟรี"],
    ["vi", "Nhật ký miễn phí", "miễn phí"],
    ["zh-Hans", "免费日记", "免费"],
    ["zh-Hant", "免費日記", "免費"],
    ["bn-BD", "ফ্রি ডায়েরি", "ফ্রি"],
    ["ur-PK", "مفت ڈائری", "مفت"],
  ])("a price word is found in %s: %s", (locale, name, word) => {
    expect(prices({ name }, locale)).toEqual([`price_word name: ${word.normalize("NFC")}`])
    expect(checked({ name }, locale).counts.error).toBe(1)
  })

  test.each([
    ["en-US", "Ad-Free Radio"],
    ["en-US", "Gluten Free Recipes"],
    ["en-US", "Free Throw Trainer"],
    ["en-US", "FreeCell"],
    ["en-US", "Freedom: Hands-free"],
    ["en-US", "Freestyle Libre"],
    ["de-DE", "Freizeit: zuckerfrei leben"],
    ["th", "ฟรีแลนซ์"],
    ["it", "Libero"],
    ["ja", "セールス日報"],
    ["fr-FR", "Gratin dauphinois"],
  ])("no price word is found in %s: %s", (locale, name) => {
    expect(prices({ name }, locale)).toEqual([])
  })

  test("a price word is an error in name and subtitle, a warning in keywords, and allowed in the description", () => {
    const texts = { name: "Free", subtitle: "Free-to-play", keywords: "free", description: "Free forever." }
    const severities = checked(texts, "en-US").findings.filter(({ code }) => code === "price_word")
    expect(severities.map(({ field, severity }) => [field, severity])).toEqual([
      ["name", "error"],
      ["subtitle", "error"],
      ["keywords", "warning"],
    ])
  })

  test("a price word that the app's store name already has is only a hint", () => {
    const background = { name: "Flow Free" }
    expect(
      checked({ name: "Flow Free: Bridges" }, "en-US", background).findings.map(({ severity }) => severity),
    ).toEqual(["hint"])
  })

  test.each([
    ["$4.99", "$4.99"],
    ["only 5€ now", "5€"],
    ["€ 5", "€ 5"],
    ["100円から", "100円"],
    ["3,99 zł", "3,99 zł"],
    ["99 cents", "99 cents"],
    ["₩5,000", "₩5,000"],
    ["5 USD", "5 USD"],
  ])("the name %p contains the amount %p", (name, amount) => {
    expect(prices({ name }, "en-US")).toContain(`price_amount name: ${amount}`)
    const findings = checked({ description: name }, "en-US").findings.filter(({ code }) => code === "price_amount")
    expect(findings).toMatchObject([{ severity: "hint", what: amount }])
  })

  test.each(["118 712", "24/7", "5 kraft", "US$", "B2B 365", "1.000 recipes", "iOS 17", "2 friends", "MP3 euro"])(
    "the name %p contains no amount",
    (name) => {
      expect(found({ name }, "en-US", {}, ["price_amount"])).toEqual([])
    },
  )

  test("deal words are reported only in the locale's language", () => {
    expect(prices({ subtitle: "Rabatt und Gutscheine" }, "de-DE")).toEqual(["deal_word subtitle: Rabatt"])
    expect(prices({ subtitle: "Rabatt und Gutscheine" }, "en-US")).toEqual([])
    expect(prices({ subtitle: "割引クーポン" }, "ja")).toEqual(["deal_word subtitle: 割引"])
  })
})

describe("names of other apps and companies", () => {
  const background = {
    name: "Lumen Journal",
    developer: "Lumen Labs, Inc.",
    rivals: [
      { name: "Daybook Garden - Diary", developer: "Garden Apps LLC" },
      { name: "Moodleaf: Mood Tracker", developer: "Nordic Minds AB" },
      { name: "Daily Journal", developer: null },
      { name: "Mood Diary & Journal", developer: null },
      { name: "まいにち日記 - 気分", developer: "株式会社サンプル工房" },
    ],
    tracked: ["daily journal"],
  }
  const NAMES = ["own_brand", "known_brand", "rival_name", "rival_developer", "apple_product", "other_platform"]
  const names = (texts: object, locale = "en-US", of: object = background) => found(texts, locale, of, NAMES)

  test("names of rivals and their developers are reported, but common words and tracked keywords are not", () => {
    expect(
      names({ keywords: "moodleaf,daybook garden,daybook,garden apps,nordic minds,daily journal,mood,diary" }),
    ).toEqual([
      "rival_name keywords: moodleaf",
      "rival_name keywords: daybook garden",
      "rival_developer keywords: garden apps",
      "rival_developer keywords: nordic minds",
    ])
    expect(names({ subtitle: "Like Moodleaf" })).toEqual(["rival_name subtitle: Moodleaf"])
    expect(names({ description: "Import from Moodleaf" })).toEqual([])
    expect(names({ keywords: "まいにち日記,サンプル工房" }, "ja")).toEqual([
      "rival_name keywords: まいにち日記",
      "rival_developer keywords: サンプル工房",
    ])
  })

  test("a rival's name is not reported if it consists of words that other rivals use too", () => {
    const rivals = [
      { name: "Collage Maker", developer: null },
      { name: "Foo: Photo Collage", developer: null },
      { name: "Bar - Card Maker", developer: null },
    ]
    expect(names({ keywords: "collage maker,foo,bar" }, "en-US", { rivals })).toEqual([
      "rival_name keywords: foo",
      "rival_name keywords: bar",
    ])
    expect(names({ keywords: "collage maker" }, "en-US", { rivals: rivals.slice(0, 2) })).toHaveLength(1)
  })

  test("a rival's name is not found in two keywords that a comma separates", () => {
    expect(names({ keywords: "daybook,garden" })).toEqual([])
  })

  test("the developer's name in keywords is reported; the app's name is a repeat if the name field is given", () => {
    expect(names({ keywords: "lumen labs,mood" })).toEqual(["own_brand keywords: lumen labs"])
    expect(names({ keywords: "lumen journal" })).toEqual(["own_brand keywords: lumen journal"])
    expect(found({ name: "Lumen Journal", keywords: "lumen" }, "en-US", background)).toEqual([
      "repeated_in_name keywords: lumen",
    ])
  })

  test("well-known names are reported, unless the name is the app's own", () => {
    expect(names({ name: "Stories for Instagram", keywords: "tiktok,candy crush,candy,インスタグラム" })).toEqual([
      "known_brand name: Instagram",
      "known_brand keywords: tiktok",
      "known_brand keywords: candy crush",
      "known_brand keywords: インスタグラム",
    ])
    expect(names({ name: "Instagram" }, "en-US", { name: "Instagram", developer: "Instagram, Inc." })).toEqual([])
    expect(names({ name: "Cash Book", keywords: "app,crush" })).toEqual([])
  })

  test.each([
    ["en-US", "Diary for Android", "other_platform name: Android"],
    ["en-US", "Get it on Google Play", "other_platform name: Google Play"],
    ["en-US", "Diary for Windows", "other_platform name: for Windows"],
    ["en-US", "Diary on iPhone", "apple_product name: iPhone"],
    ["en-US", "Apple Watch Faces", "apple_product name: Apple Watch"],
    ["ru", "Дневник Андроид", "other_platform name: Андроид"],
    ["ja", "アンドロイド版日記", "other_platform name: アンドロイド"],
    ["ko", "안드로이드 일기", "other_platform name: 안드로이드"],
    ["zh-Hans", "安卓日记", "other_platform name: 安卓"],
    ["ar-SA", "يوميات أندرويد", "other_platform name: أندرويد"],
    ["he", "יומן אנדרואיד", "other_platform name: אנדרואיד"],
    ["th", "ไดอารี่ไอโฟน", "apple_product name: ไอโฟน"],
  ])("a platform name is found in %s: %s", (locale, name, finding) => {
    expect(names({ name }, locale)).toEqual([finding])
  })

  test.each(["Window Cleaner", "Windows & Doors", "Galaxy Map", "Pixel Art", "Switch Planner", "Apple Pie", "Google"])(
    "the name %s names no platform",
    (name) => {
      expect(found({ name }, "en-US", {}, ["other_platform", "apple_product"])).toEqual([])
    },
  )

  test("Android is an error in the subtitle and a warning in the description, where iPhone is allowed", () => {
    const texts = { subtitle: "On Android", description: "Also on Android. For iPhone and iPad." }
    expect(checked(texts, "en-US").findings.map(({ field, severity }) => [field, severity])).toEqual([
      ["subtitle", "error"],
      ["description", "warning"],
    ])
  })
})

describe("tracked keywords in a listing", () => {
  const cover = (texts: object, locale: string, tracked: string[]) =>
    checked(texts, locale, { tracked }).coverage.map(({ covered, missing, variants }) => [covered, missing, variants])
  const all = { name: "Lumen Journal", subtitle: "Daily mood", keywords: "lock,photo" }

  test("a tracked keyword is covered by words of all three fields in any order, without stop words", () => {
    const tracked = ["daily journal", "mood lock journal", "journal with lock", "photos", "diary", "daily diary app"]
    expect(cover(all, "en-US", tracked)).toEqual([
      [true, [], []],
      [true, [], []],
      [true, [], []],
      [true, [], ["photos"]],
      [false, ["diary"], []],
      [false, ["diary", "app"], []],
    ])
    expect(found(all, "en-US", { tracked })).toEqual([
      "tracked_keyword_left_out keywords: diary",
      "tracked_keyword_left_out keywords: daily diary app",
    ])
  })

  test("a keyword with missing words has unknown coverage if one of the fields is not given", () => {
    const { subtitle: _, ...some } = all
    expect(cover(some, "en-US", ["lumen photo", "daily journal"])).toEqual([
      [true, [], []],
      [null, ["daily"], []],
    ])
    expect(found(some, "en-US", { tracked: ["daily journal"] })).toEqual([])
    expect(found({ ...some, subtitle: "" }, "en-US", { tracked: ["daily journal"] })).toHaveLength(1)
  })

  test.each([
    ["ja", "家計簿アプリ", { name: "かんたん家計簿", subtitle: "アプリで節約", keywords: "" }, true],
    ["ja", "日記アプリ", { name: "かんたん家計簿", subtitle: "アプリで節約", keywords: "" }, false],
    ["zh-Hans", "记账软件", { name: "记账", subtitle: "", keywords: "软件" }, true],
    ["th", "แต่งรูป", { name: "แอปแต่งรูป", subtitle: "", keywords: "" }, true],
    ["tr", "istanbul ısı", { name: "İSTANBUL", subtitle: "ISI", keywords: "" }, true],
    ["de-DE", "strassenkarte", { name: "Straßenkarte", subtitle: "", keywords: "" }, true],
    ["ko", "일기 무료", { name: "일기", subtitle: "", keywords: "무료" }, true],
    ["ar-SA", "كتاب", { name: "كِتَاب", subtitle: "", keywords: "" }, true],
  ])("coverage is computed in %s: %s", (locale, term, texts, covered) => {
    expect(cover(texts, locale, [term])[0]?.[0]).toBe(covered)
  })
})
