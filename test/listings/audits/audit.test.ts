import { describe, expect, test } from "bun:test"
import { storefrontName } from "../../../src/lib/storefront-names.ts"
import { STOREFRONTS } from "../../../src/lib/storefronts.ts"
import { auditOf, languagesRead, type ScannedStorefront, writtenIn } from "../../../src/listings/audits/audit.ts"
import { randomOf, shuffled } from "../../measuring/record/listed.ts"
import { TEXTS } from "../operations/audited.ts"

const row = (country: string, rest: Partial<ScannedStorefront> = {}): ScannedStorefront => ({
  country,
  state: "sold",
  name: "Tea Timer: Steep It Right",
  subtitle: "A quiet clock for your cup",
  text: "one",
  writtenIn: null,
  screenshotsPhone: 3,
  ratings: 1,
  ...rest,
})
const localised = (rows: ScannedStorefront[]) => auditOf(rows).map((item) => item.localised)

describe("language of a description", () => {
  test("a description's language is detected by its words and letters", () => {
    const written = { en: TEXTS.en, de: TEXTS.de, ja: TEXTS.ja, ...MORE }
    for (const [language, text] of Object.entries(written))
      expect([language, writtenIn(text)]).toEqual([language, language])
  })

  test("a description that is missing, too short or without words has no language", () => {
    for (const text of [null, "", "A timer. For tea.", "1234 5678 ".repeat(40), "★ ".repeat(200)])
      expect([text, writtenIn(text)]).toEqual([text, null])
  })
})

describe("localised pages", () => {
  test("a page is localised if its language is the storefront's default language", () => {
    const rows = ["us", "gb", "de", "jp"].map((country) => row(country, { writtenIn: "en" }))
    expect(localised(rows)).toEqual([true, true, false, false])
    expect(localised([row("de", { writtenIn: "de" })])).toEqual([true])
  })

  test("if English is only a storefront's fallback, a page in any of its languages is localised", () => {
    expect(languagesRead("hr")).toEqual(["en", "hr"])
    expect(languagesRead("de")).toEqual(["de"])
    expect(localised(["hr", "us", "de"].map((country) => row(country, { writtenIn: "hr" })))).toEqual([
      true,
      false,
      false,
    ])
  })

  test("a page of unknown language is localised if its text is shown only in storefronts of one language", () => {
    expect(localised([row("de"), row("at"), row("us", { text: "two" })])).toEqual([true, true, true])
  })

  test("a page of unknown language stays unknown if storefronts of several languages show its text", () => {
    expect(localised([row("de"), row("us"), row("jp", { text: "two" })])).toEqual([null, null, true])
    expect(localised([row("de"), row("at")])).toEqual([null, null])
    expect(localised([row("de", { state: "not_read", text: null }), row("us")])).toEqual([null, null])
  })
})

test("sameTextAs is the first other storefront with the same text; localised is independent of the order", () => {
  const random = randomOf(7)
  for (let round = 0; round < 300; round++) {
    const some = shuffled(STOREFRONTS, random).slice(0, 1 + Math.floor(random() * 40))
    const rows = some.map((country) => row(country, { text: random() < 0.1 ? null : `t${Math.floor(random() * 4)}` }))
    const audited = auditOf(rows)
    const text = new Map(rows.map((item) => [item.country, item.text]))
    for (const { country, sameTextAs, localised } of audited) {
      const twin = rows.find(
        (item) => item.country !== country && item.text === text.get(country) && item.text !== null,
      )
      expect(sameTextAs).toBe(twin?.country ?? null)
      if (text.get(country) === null) expect(localised).toBe(null)
    }
    const verdicts = (all: typeof audited) => all.map((item) => `${item.country} ${item.localised}`).sort()
    expect(verdicts(auditOf(shuffled(rows, random)))).toEqual(verdicts(audited))
  }
})

test("a finding is reported exactly from its threshold on, and never for an unknown number", () => {
  const of = (rest: Partial<ScannedStorefront>) => auditOf([row("us", { writtenIn: "en", ...rest })])[0]!.findings
  expect(of({})).toEqual([])
  expect([of({ name: "x".repeat(14) }), of({ name: "x".repeat(15) })]).toEqual([["name_short"], []])
  expect([of({ subtitle: "x".repeat(14) }), of({ subtitle: "茶".repeat(15) })]).toEqual([["subtitle_short"], []])
  expect(of({ subtitle: null })).toEqual(["subtitle_missing"])
  expect([of({ screenshotsPhone: 2 }), of({ screenshotsPhone: null })]).toEqual([["screenshots_few"], []])
  expect([of({ ratings: 0 }), of({ ratings: null })]).toEqual([["no_ratings"], []])
  const emptyRow = { name: null, subtitle: null, text: null, writtenIn: null, screenshotsPhone: null, ratings: null }
  expect(of({ ...emptyRow, state: "not_sold" })).toEqual(["not_sold"])
  expect(of({ ...emptyRow, state: "not_read" })).toEqual(["not_read"])
})

test("every storefront has a unique name and a language", () => {
  expect(new Set(STOREFRONTS.map(storefrontName)).size).toBe(175)
  for (const country of STOREFRONTS) expect(languagesRead(country).length).toBeGreaterThan(0)
  expect([storefrontName("us"), storefrontName("xk")]).toEqual(["United States", "Kosovo"])
})

const MORE = {
  fr:
    "Laissez infuser votre thé à la minute près. Choisissez ce que vous buvez et le minuteur vous dit quand c'est " +
    "prêt. Il est fait pour ceux qui aiment s'asseoir et attendre leur tasse, sans rien de plus.",
  es:
    "Deja reposar tu té justo los minutos que necesita. Elige lo que vas a beber y el reloj te avisa cuando está " +
    "listo. Está hecho para los que quieren sentarse a esperar la taza, y para nada más que eso.",
  pt:
    "Deixe o seu chá em infusão pelo tempo certo. Escolha o que você vai beber e o relógio avisa quando estiver " +
    "pronto. Ele foi feito para quem gosta de sentar e esperar pela xícara, e não para outra coisa.",
  hr:
    "Vaš čaj stoji točno onoliko minuta koliko treba. Odaberite što pijete, a sat će vam reći kada je gotov. " +
    "Napravljen je za one koji vole sjesti i čekati svoju šalicu, i ni za što drugo. Nema oglasa ni računa.",
  ru:
    "Чай заваривается ровно столько минут, сколько нужно. Выберите, что вы пьёте, и таймер скажет, когда он готов. " +
    "Он сделан для тех, кто любит сидеть и ждать свою чашку, и ни для чего другого.",
  ko:
    "차를 정확한 시간 동안 우려내는 타이머입니다. 마실 차를 고르기만 하면 다 되었을 때 알려 드립니다. 앉아서 천천히 기다리는 것을 좋아하는 사람을 위해 만들었습니다. " +
    "그 밖에는 아무것도 없지만 매일의 차 시간이 더 즐거워집니다. 지금 바로 사용해 보세요.",
}
