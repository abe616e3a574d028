// bun test/bench/writing.ts — measures the quality of rule-based texts on recorded reviews and results: quotes, counted
// themes, attacks, and hidden keywords that are found again. DATA is the folder of data that cannot be copied into the
// project. With AI_URL and AI_MODEL also measures the quality of a language model's texts: AI_URL=… AI_MODEL=… AI_KEY=…
// AI_PRICE=…

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { loadTesseract } from "../../src/commands/process/pictures.ts"
import { DEMO_APPS, DEMO_FILE } from "../../src/demo/demo.ts"
import { backgroundIn } from "../../src/listings/checks/background.ts"
import { readSettings } from "../../src/settings/settings.ts"
import { features } from "../../src/texts/checks/features.ts"
import { exclusionOf } from "../../src/texts/keywords/exclusions.ts"
import { keywordIdeas, type MeasuredKeyword } from "../../src/texts/keywords/keyword-ideas.ts"
import type { WritingLanguage } from "../../src/texts/languages.ts"
import { linesOf } from "../../src/texts/pictures/lines.ts"
import { openOcrThread } from "../../src/texts/pictures/ocr-thread.ts"
import { pictureSize } from "../../src/texts/pictures/picture-size.ts"
import { type Summary, summarise } from "../../src/texts/review-summary.ts"
import { sentencesOf } from "../../src/texts/sentences.ts"
import type { SummedReview } from "../../src/texts/themes/theme-figures.ts"
import { deniedIn } from "../../src/texts/topics/denials.ts"
import { topicsOf } from "../../src/texts/topics/find-topics.ts"
import { TOPICS } from "../../src/texts/topics/topics.ts"
import { ALL, COUNTRIES, isAllHere, type Row, rowsOf, SOME } from "../measuring/record/review-rows.ts"
import { ATTACKS } from "../texts/attacks.ts"
import { FEED_LANGUAGES } from "../texts/label-agreement.ts"
import captions from "../texts/pictures/opentracks/captions.json"
import { BY_PEOPLE, isWhole, ORIGINAL, problemsIn } from "../texts/translated-by-people.ts"
import { matchLabelled } from "../visibility/labelled-answers.ts"
import { otherFeeds } from "./writing-feeds.ts"
import { measureModel, recordedApps } from "./writing-model.ts"
import { measureLabels } from "./writing-topics.ts"

const rows = rowsOf(isAllHere ? ALL : SOME)
const feeds = [...Map.groupBy(rows, ({ game, country }) => `${game} ${COUNTRIES[country]}`)].map(
  ([feed, feedRows]) => ({
    reviews: feedRows.map(reviewOf),
    languages: FEED_LANGUAGES[feed.slice(-2)] ?? ["en" as const],
  }),
)
console.log(`${rows.length} reviews of ${feeds.length} feeds`)

measureLabels()
measureSummaries()
await measureOtherFeeds()
measureAttacks()
measureForeignSentences()
measureIdeas()
measurePeoplesTranslations()
await measureCaptions()
measureMentions()
const { writer } = readSettings(process.env, (path) => readFileSync(path, "utf8"))
if (writer) await measureModel(writer, feeds)
else
  console.log(
    "a model's texts (replies, sentences, themes, drafts, translations, cents): not measured, AI_URL is not set",
  )

function reviewOf({ review_id: id, title, review: text, rating, date }: Row): SummedReview {
  return { id, title, text, stars: Number(rating), at: new Date(`${date.slice(0, 19).replace(" ", "T")}Z`) }
}

function summaryOf(reviews: readonly SummedReview[], languages: readonly WritingLanguage[]): Summary {
  return summarise(reviews, { language: "en", languages, now: new Date("2026-01-12T00:00:00Z") })
}

function measureSummaries(): void {
  const startedAt = performance.now()
  const measured = feeds.map(({ reviews, languages }) => {
    const { themes } = summaryOf(reviews, languages)
    const byId = new Map(reviews.map((review) => [review.id, `${review.title}\n${review.text}`]))
    const quotes = themes.flatMap((theme) => theme.quotes)
    const named = new Set(themes.map(({ topic }) => topic))
    const low = reviews.filter(({ stars }) => stars <= 2)
    const inTheme = low.filter(({ title, text }) =>
      topicsOf(`${title}\n${text}`, languages).some((topic) => named.has(topic)),
    )
    const halves = [0, 1].map((half) =>
      summaryOf(
        reviews.filter((_, at) => at % 2 === half),
        languages,
      ),
    )
    return {
      quotes: quotes.length,
      found: quotes.filter(({ reviewId, quote }) => byId.get(reviewId)?.includes(quote)).length,
      covered: inTheme.length / low.length,
      agreement: spearman(halves.map(sharesOf) as [number[], number[]]),
    }
  })
  const ms = Math.round((performance.now() - startedAt) / feeds.length)
  const [quotes, found] = [
    sum(measured.map((summary) => summary.quotes)),
    sum(measured.map((summary) => summary.found)),
  ]
  console.log(`quotes that stand in their review: ${found} of ${quotes}`)
  console.log(`share of 1 and 2 stars in a shown theme: ${span(measured.map(({ covered }) => covered))}`)
  console.log(`rank correlation of themes between halves: ${span(measured.map(({ agreement }) => agreement))}`)
  console.log(`a feed whole and in halves: ${ms} ms`)
}

/** Reviews of other apps and stores: Google Play's, and the App Store's if available. */
async function measureOtherFeeds(): Promise<void> {
  for (const { label, reviews, languages } of await otherFeeds()) {
    const { themes, without } = summaryOf(reviews, languages)
    const byId = new Map(reviews.map((review) => [review.id, review]))
    const quotes = themes.flatMap((theme) => theme.quotes)
    const verbatim = quotes.filter(({ reviewId, quote }) => {
      const review = byId.get(reviewId)
      return review?.text.includes(quote) || review?.title?.includes(quote)
    })
    const counts = themes.every(({ count, reviewIds }) => count === new Set(reviewIds).size)
    console.log(
      `${label}, ${reviews.length} reviews: ${verbatim.length} of ${quotes.length} quotes stand in their review, ` +
        `${reviews.length - without} are in a theme, counts ${counts ? "are" : "ARE NOT"} those of the ids`,
    )
  }
}

/** Applies the rule against foreign features to sentences of other recorded apps, and to names of apps. */
function measureForeignSentences(): void {
  const apps = recordedApps()
  const isForeign = (text: string, sources: string[]) => features(text, { sources, language: "en" }).length > 0
  const foreign = apps.flatMap(({ trackName, description }, at) =>
    sentencesOf(apps[(at + apps.length / 2) % apps.length]!.description)
      .slice(0, 6)
      .map((sentence) => isForeign(sentence, [trackName, description])),
  )
  const names = apps.map(({ trackName, description }) => isForeign(trackName, [description]))
  console.log(
    `of ${apps.length} recorded listings: sentences of another app refused as a draft ` +
      `${foreign.filter(Boolean).length} of ${foreign.length}, people's own names ${names.filter(Boolean).length} of ` +
      `${names.length}`,
  )
}

function sharesOf({ themes }: Summary): number[] {
  return TOPICS.map((topic) => themes.find((theme) => theme.topic === topic)?.share ?? 0)
}

/**
 * Replaces one of 200 reviews by an attack and, for comparison, by a review without words. Counts every other
 * difference.
 */
function measureAttacks(): void {
  const changed = ATTACKS.filter((attack, n) => {
    const { reviews, languages } = feeds[n % feeds.length]!
    const [victim, ...rest] = reviews.slice(0, 200) as [SummedReview, ...SummedReview[]]
    const topics = topicsOf(attack, languages)
    const denied = deniedIn(attack, languages, topics)
    const [clean, attacked] = ["…", attack].map((text) =>
      summaryOf([{ ...victim, title: null, text }, ...rest], languages),
    ) as [Summary, Summary]
    return TOPICS.flatMap((topic) => [true, false].map((isDenied) => ({ topic, isDenied }))).some(
      ({ topic, isDenied }) => {
        const [before, after] = [clean, attacked].map(({ themes }) =>
          themes.find((theme) => theme.topic === topic && theme.denied === isDenied),
        )
        const foreign = (theme: typeof after) =>
          JSON.stringify(theme?.quotes.filter(({ reviewId }) => reviewId !== victim.id))
        const isOwn = topics.includes(topic) && denied.includes(topic) === isDenied
        if (!isOwn) return JSON.stringify(before) !== JSON.stringify(after)
        return (
          before !== undefined &&
          (after?.count !== before.count + 1 || !foreign(before)?.includes(foreign(after)!.slice(1, -1)))
        )
      },
    )
  })
  console.log(
    `attacks in 1 of 200 reviews that change anything but their own record: ${changed.length} of ${ATTACKS.length}`,
  )
}

/** Hides every second keyword of each demo app: the suggestable ones should be suggested again. */
function measureIdeas(): void {
  const lines = readFileSync(join(import.meta.dirname, "../../fixtures/demo", DEMO_FILE), "utf8")
    .trim()
    .split("\n")
  const lists: { term: string; seenAt: string; results: { id: string; name: string }[] }[] = lines.map((line) =>
    JSON.parse(line),
  )
  let [hidden, suggestable, foundAgain, measured, ideas] = [0, 0, 0, 0, 0]
  for (const { iosId, keywords } of DEMO_APPS) {
    const tracked = keywords.filter((_, at) => at % 2 === 0)
    const hiddenTerms = keywords.filter((term, at) => at % 2 === 1 && lists.some((list) => list.term === term))
    const rivals = lists
      .filter(({ term }) => (tracked as string[]).includes(term))
      .flatMap(({ results }) => results.slice(0, 10))
    const name = lists.flatMap(({ results }) => results).find(({ id }) => id === iosId)?.name ?? null
    const knownApp = {
      name,
      developer: null,
      tracked,
      rivals: rivals.filter(({ id }) => id !== iosId).map((app) => ({ name: app.name, developer: null })),
    }
    const rivalIds = new Set(rivals.map(({ id }) => id))
    const readings = lists.map((list): MeasuredKeyword => {
      const place = list.results.findIndex(({ id }) => id === iosId)
      const rivalRanks = list.results.flatMap((app, at) =>
        rivalIds.has(app.id) && app.id !== iosId ? [{ name: app.name, rank: at + 1 }] : [],
      )
      return {
        term: list.term,
        day: list.seenAt.slice(0, 10),
        rank: place < 0 ? null : place + 1,
        popularity: null,
        popularityLow: null,
        popularityHigh: null,
        popularitySource: null,
        popularityOrder: null,
        difficulty: null,
        rivals: rivalRanks,
      }
    })
    const found = keywordIdeas({
      language: "en",
      appBackground: knownApp,
      buried: [],
      measured: readings,
      suggested: [],
    }).ideas
    const isOut = exclusionOf({ language: "en", background: backgroundIn(knownApp, "en"), taken: tracked })
    const open = hiddenTerms.filter((term) => !isOut(term))
    hidden += hiddenTerms.length
    suggestable += open.length
    foundAgain += open.filter((term) => found.some((idea) => idea.term === term)).length
    ideas += found.length
    measured += found.filter((idea) => idea.measured !== null).length
  }
  console.log(
    `hidden keywords found again among the first 20: ${foundAgain} of ${suggestable} that may be suggested ` +
      `(${hidden} hidden; the others are names)`,
  )
  console.log(`ideas that rest on read results: ${measured} of ${ideas}`)
}

/** Applies the checks of translations to translations by people. Two of them have faults. */
function measurePeoplesTranslations(): void {
  const whole = BY_PEOPLE.filter(isWhole)
  const passes = whole.filter(({ locale, full }) => problemsIn(locale, full, ORIGINAL.full, 4_000).length === 0)
  const lacking = BY_PEOPLE.filter((text) => !isWhole(text))
  const refused = lacking.filter(({ locale, full }) => problemsIn(locale, full, ORIGINAL.full, 4_000).length > 0)
  console.log(
    `translations by people: ${passes.length} of ${whole.length} whole ones pass, ` +
      `${refused.length} of ${lacking.length} that lack lines are refused`,
  )
}

async function measureCaptions(): Promise<void> {
  const thread = openOcrThread({ load: (names) => loadTesseract(names) })
  const before = process.cpuUsage()
  let [words, right] = [0, 0]
  for (const [at, lines] of captions.entries()) {
    const picture = new Uint8Array(
      readFileSync(join(import.meta.dirname, `../texts/pictures/opentracks/${at + 1}.jpg`)),
    )
    const table = await thread.read(picture, ["eng"])
    const read = linesOf(table ?? "", pictureSize(picture)!).lines.flatMap(({ text }) => text.split(" "))
    const expectedWords = lines.join(" ").split(" ")
    words += expectedWords.length
    right += expectedWords.filter((word) => read.includes(word)).length
  }
  const { user, system } = process.cpuUsage(before)
  thread.stop()
  console.log(
    `caption words read: ${right} of ${words}, in ${((user + system) / 1e6 / captions.length).toFixed(1)} s of ` +
      "processor time a picture",
  )
}

/** Apps that assistants name, found by the code that parses their answers. */
function measureMentions(): void {
  const { answers, right, wrong, missed } = matchLabelled()
  const [precision, recall] = [right / (right + wrong), right / (right + missed)]
  console.log(
    `apps found in ${answers} labelled answers, precision and recall: ${precision.toFixed(3)} and ${recall.toFixed(3)}`,
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/**
 * Formats the mean and the range of the known values. Some values are unknown, because halves of a few reviews have no
 * order.
 */
function span(measured: readonly number[]): string {
  const values = measured.filter((value) => !Number.isNaN(value))
  if (values.length === 0) return "none"
  const round = (value: number) => value.toFixed(2)
  return `${round(sum(values) / values.length)} (${round(Math.min(...values))} to ${round(Math.max(...values))})`
}

/** Returns the rank correlation, with the middle rank for ties. */
function spearman([a, b]: [number[], number[]]): number {
  const [x, y] = [ranksOf(a), ranksOf(b)]
  const [mx, my] = [sum(x) / x.length, sum(y) / y.length]
  const covariance = sum(x.map((value, at) => (value - mx) * (y[at]! - my)))
  return covariance / Math.sqrt(sum(x.map((value) => (value - mx) ** 2)) * sum(y.map((value) => (value - my) ** 2)))
}

function ranksOf(values: readonly number[]): number[] {
  return values.map(
    (value) => values.filter((other) => other < value).length + values.filter((other) => other === value).length / 2,
  )
}
