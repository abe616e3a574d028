import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { patternOf } from "../../src/texts/checks/phrase-list.ts"
import type { WritingLanguage } from "../../src/texts/languages.ts"
import { topicsOf } from "../../src/texts/topics/find-topics.ts"
import { TOPIC_PAIRS } from "../../src/texts/topics/topic-pairs.ts"
import { TOPIC_WORDS } from "../../src/texts/topics/topic-words.ts"
import { TOPIC_CHECKED, TOPIC_LABELS, TOPICS, TOPICS_CHECKED } from "../../src/texts/topics/topics.ts"
import { slow } from "../long.ts"
import { ALL, isAllHere, rowsOf, SOME } from "../measuring/record/review-rows.ts"
import { agreementOf, HELD_OUT, LABELLED, precisionOf, recallOf } from "./label-agreement.ts"

test("every language has words and a label for every topic, without duplicate words in a list", () => {
  for (const [language, words] of Object.entries(TOPIC_WORDS) as [WritingLanguage, (typeof TOPIC_WORDS)["en"]][]) {
    const labels = Object.values(TOPIC_LABELS[language])
    expect([language, labels.length, new Set(labels).size]).toEqual([language, TOPICS.length, TOPICS.length])
    for (const topic of TOPICS) {
      const pairs = (TOPIC_PAIRS[language][topic] ?? []).flatMap((pair) =>
        pair.filter((part) => typeof part === "string"),
      )
      for (const list of [words[topic], ...pairs].map((phrase) => phrase.split(" "))) {
        expect(list).not.toContain("")
        expect([language, topic, list.filter((word, at) => list.indexOf(word) !== at)]).toEqual([language, topic, []])
      }
    }
  }
})

describe("labelled reviews", () => {
  test("the rules' accuracy on held-out reviews equals the accuracy shown in every answer and the manual", () => {
    expect([HELD_OUT.length, HELD_OUT.filter(({ topics }) => topics === undefined)]).toEqual([
      TOPICS_CHECKED.reviews,
      [],
    ])
    const { all, ...each } = agreementOf(HELD_OUT)
    const checked = Object.entries(each).map(([topic, { both, rules }]) => [
      topic,
      { found: both + rules, right: both },
    ])
    expect(Object.fromEntries(checked)).toEqual(TOPIC_CHECKED)
    const { found, right, missed } = TOPICS_CHECKED
    expect([found, right, missed]).toEqual([all.both + all.rules, all.both, all.labels])
    expect(precisionOf(all)).toBeGreaterThan(0.85)
    expect(recallOf(all)).toBeGreaterThan(0.7)
    const manual = readFileSync(join(import.meta.dirname, "../../src/docs/manual/texts.md"), "utf8")
    expect(manual.replace(/\s+/g, " ")).toContain(
      `Of ${found} findings in ${HELD_OUT.length} reviews, nearly all of games, ${right} were right; ` +
        `${missed} were missed`,
    )
  })

  test("held-out reviews occur in no other file, and their ids are those of the documented random sample", () => {
    const usedIds = new Set([...LABELLED.map(({ row }) => row), ...rowsOf(SOME)].map(({ review_id: id }) => id))
    expect(HELD_OUT.filter(({ row }) => usedIds.has(row.review_id))).toEqual([])
    const digest = (text: string) => createHash("sha256").update(text).digest("hex")
    const rank = (id: string) => digest(`held out ${id}`)
    expect(HELD_OUT.filter(({ row }) => digest(`never read ${row.review_id}`) >= "4")).toEqual([])
    if (!isAllHere) return
    const feeds = Map.groupBy(
      rowsOf(ALL).filter(({ review_id: id }) => !usedIds.has(id) && digest(`never read ${id}`) < "4"),
      ({ game, country }) => `${game} ${country}`,
    )
    const drawn = [...feeds.values()].flatMap((rows) =>
      rows
        .map(({ review_id: id }) => id)
        .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
        .slice(0, 9),
    )
    expect(HELD_OUT.slice(0, 162).map(({ row }) => row.review_id)).toEqual(drawn)
  })

  slow("the rules find nine of ten topics in the reviews used for tuning, and nine of ten findings are right", () => {
    expect([LABELLED.length, LABELLED.filter(({ topics }) => topics === undefined)]).toEqual([970, []])
    const { all, ads, misleading } = agreementOf(LABELLED)
    expect([precisionOf(all), recallOf(all)].map((score) => score > 0.89)).toEqual([true, true])
    // "not like the ads" is no complaint about ads in the app
    expect([precisionOf(ads) > 0.85, recallOf(misleading) > 0.8]).toEqual([true, true])
  })
})

test.each([
  ["Ein Spiel, um die Langeweile zu vertreiben.", "de", []],
  ["開いてもすぐに消えてしまう。", "ja", []],
  ["Came here through ads about this game.", "en", []],
  ["Ads about this game brought me here, and now there are ads after every level.", "en", ["ads"]],
  ["Not gonna lie, it is nice.", "en", []],
  ["Don't lie, they lie.", "en", ["misleading"]],
  ["Ich spiele fast täglich.", "de", []],
  ["It loads fast.", "en", ["speed"]],
  ["Used ten gold bars.", "en", []],
  ["There are fewer gold bars now.", "en", ["rewards"]],
] as const)(
  "an ambiguous word indicates a topic only near a second word of the topic: %s",
  (text, language, topics) => {
    expect(topicsOf(text, [language, "en"])).toEqual([...topics])
  },
)

test.each([
  ["in one order", "The game differs from the ad.", ["misleading"]],
  ["in the reverse order", "The ad differs from the game.", ["misleading"]],
  ["in two sentences", "No ads. It differs a lot.", ["ads"]],
  ["in two lines", "No ads\nIt differs a lot", ["ads"]],
  ["far from each other", `No ads, ${"and so on and so on, ".repeat(3)}it differs a lot`, ["ads"]],
] as const)("two words indicate a topic only near each other: %s", (_, text, topics) => {
  expect(topicsOf(text, ["en"])).toEqual([...topics])
})

test.each([
  ["without diacritics", "Reklamlar cok fazla, odul vermiyor", ["tr"], ["ads", "rewards"]],
  ["with diacritics", "Reklamlar çok fazla, ödül vermiyor", ["tr"], ["ads", "rewards"]],
  ["with repeated letters", "Sooo many adddsss", ["en"], ["ads"]],
  ["Russian in an English feed", "Слишком много рекламы", ["en"], ["ads"]],
  ["Turkish in an English feed", "Bu bölüm imkansız, geçilmiyor, şaka gibi", ["en"], ["difficulty"]],
  ["Latin letters in Japanese", "ウザイCMが長すぎる", ["ja"], ["ads"]],
] as const)("topics are found in the spellings that people use: %s", (_, text, languages, topics) => {
  expect(topicsOf(text, languages)).toEqual([...topics])
})

test.each([
  ["It crashes.", ["crashes"]],
  ["A candy crash of a game.", []],
  ["It gets so boring, I got bored.", ["boring"]],
  ["Good when you're bored.", []],
] as const)("a topic's word does not indicate the topic in a phrase with another meaning: %s", (text, topics) => {
  expect(topicsOf(text, ["en"])).toEqual([...topics])
})

describe("a list of phrases", () => {
  const found = (phrases: string, text: string) => [...text.matchAll(patternOf(phrases)!)].map(([match]) => match)

  test("a list of phrases matches whole words, the longest phrase, and each alternative", () => {
    expect(found("ad ad_free", "an ad free game, a bad ad")).toEqual(["ad free", "ad"])
    expect(found("no/many_ads/adverts", "many ads, no adverts, ads")).toEqual(["many ads", "no adverts"])
    expect(found("crash* crash*_again", "crashes again, crashed")).toEqual(["crashes again", "crashed"])
    expect(found("*verlust c++ i'", "datenverlust c++ i'm")).toEqual(["verlust", "c++", "i'"])
  })

  test("Latin words in a list of phrases end where another script begins, and other words match anywhere", () => {
    expect(found("cm 広告 実況/動画_cm", "このcmが広告だ cms 動画 cm")).toEqual(["cm", "広告", "動画 cm"])
  })

  test("a list of phrases searches a long hostile text within a second of processor time", () => {
    const text = "i can't level lost coins ad ".repeat(3_000)
    const before = process.cpuUsage()
    topicsOf(text, ["en", "tr"])
    const { user } = process.cpuUsage(before)
    expect(user / 1e6).toBeLessThan(1)
  })
})
