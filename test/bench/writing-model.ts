// The quality of a language model's texts, for owners of a key: each kind on recorded data, by the product's checks of
// texts, and in comparison with texts by people.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as v from "valibot"
import type { ListingLocale } from "../../src/lib/locales.ts"
import type { WritingTask } from "../../src/lib/writing/written-text.ts"
import { backgroundIn } from "../../src/listings/checks/background.ts"
import { digestOf } from "../../src/texts/digest.ts"
import { draftTask } from "../../src/texts/listing-draft.ts"
import { replyTask } from "../../src/texts/reply.ts"
import { summarise } from "../../src/texts/review-summary.ts"
import { sentencesTask } from "../../src/texts/themes/theme-sentences.ts"
import { translationTask } from "../../src/texts/translation.ts"
import { ATTACKS } from "../texts/attacks.ts"
import { BY_PEOPLE, chrF, isWhole, languageOfLocale, ORIGINAL } from "../texts/translated-by-people.ts"

import { type Feed, openAsking, type Settings } from "./writing-asking.ts"
import { measureAssignments, measureAttackedThemes, measureThemes } from "./writing-themes.ts"

export async function measureModel(settings: Settings, feeds: readonly Feed[]): Promise<void> {
  console.log(`by ${settings.model}:`)
  await measureReplies(settings, feeds)
  await measureAttackedReplies(settings)
  await measureSentences(settings, feeds)
  await measureThemes(settings, feeds)
  await measureAssignments(settings)
  await measureAttackedThemes(settings, feeds)
  await measureDrafts(settings)
  await measureTranslations(settings)
}

const replyTo = (review: { title: string | null; text: string; stars: number }, language: string) =>
  replyTask({ digest: digestOf(review), review, appName: "the game", note: undefined, language, most: 350 })

async function measureReplies(settings: Settings, feeds: readonly Feed[]): Promise<void> {
  const { ask, report } = openAsking(settings)
  for (const [n, { reviews, languages }] of feeds.entries())
    await ask(replyTo(reviews[n % reviews.length]!, languages[0]!))
  report("replies")
}

/**
 * Prints the replies to attacks, because a reply that passes the checks may still follow the attack in words that no
 * check knows.
 */
async function measureAttackedReplies(settings: Settings): Promise<void> {
  const { ask, report } = openAsking(settings)
  for (const text of ATTACKS) {
    const result = await ask(replyTo({ title: null, text, stars: 1 }, "en"))
    if (result) console.log(`  "${text.slice(0, 60)}" is replied to with "${result.reply.slice(0, 160)}"`)
  }
  report("replies to attacks")
}

/**
 * Asks for each sentence in a second prompt whether it follows from its quotes. AI_JUDGE names the model of this
 * prompt; default: the same model.
 */
async function measureSentences(settings: Settings, feeds: readonly Feed[]): Promise<void> {
  const [writer, judge] = [
    openAsking(settings),
    openAsking({ ...settings, model: process.env.AI_JUDGE ?? settings.model }),
  ]
  let [sentences, themes, follow, judged] = [0, 0, 0, 0]
  for (const { reviews, languages } of feeds) {
    const now = new Date("2026-01-12T00:00:00Z")
    const summary = summarise(reviews, { language: "en", languages, now })
    const written = await writer.ask(sentencesTask(summary.themes, { digest: "", language: "en" }))
    themes += summary.themes.length
    for (const { topic, quotes } of summary.themes) {
      const sentence = written?.[topic]
      if (sentence === undefined) continue
      sentences++
      if (judged >= MAX_JUDGED) continue
      const verdict = await judge.ask(
        followsTask(
          sentence,
          quotes.map(({ quote }) => quote),
        ),
      )
      if (verdict === null) continue
      judged++
      if (verdict.follows) follow++
    }
  }
  writer.report(`sentences of themes, ${sentences} of ${themes} shown`)
  judge.report(`of ${judged} sentences ${follow} follow from their quotes, as a model judges; judged`)
}

const MAX_JUDGED = 200

export function followsTask(sentence: string, quotes: readonly string[]): WritingTask<{ follows: boolean }> {
  return {
    kind: "follows",
    digest: "",
    version: 1,
    mostTokens: 200,
    orders: "Say whether the sentence of the record s says nothing that the quotes of the record q do not.",
    records: [
      { r: "q", quotes },
      { r: "s", sentence },
    ],
    answer: v.strictObject({ follows: v.boolean() }),
    judge: (value: { follows: boolean }) => ({ value, dropped: [] }),
  }
}

/** Prints the number of fields with a draft, for at most twenty recorded apps. */
async function measureDrafts(settings: Settings): Promise<void> {
  const { ask, report } = openAsking(settings)
  let [drafted, fields] = [0, 0]
  for (const { trackName: name, description, artistName: developer } of recordedApps()) {
    const background = backgroundIn({ name, developer, rivals: [], tracked: [] }, "en")
    const drafts = await ask(
      draftTask({
        digest: "",
        platform: "ios",
        keywords: [],
        praise: [],
        language: "en",
        background,
        live: { name, subtitle: null, promotionalText: null, description },
        limits: { name: 30, subtitle: 30, promotionalText: 170, description: 4_000 },
        place: { storefront: "us", locale: "en-US" },
      }),
    )
    fields += 4
    drafted += drafts?.filter(({ kept }) => kept === null).length ?? 0
  }
  report(`drafts without an error, ${drafted} of ${fields} fields`)
}

export interface RecordedApp {
  trackName: string
  description: string
  artistName: string
}

export function recordedApps(): RecordedApp[] {
  const files = [
    "search-vpn-us-2026-03-20",
    "search-deliveries-us-cut3",
    "search-things-us-cut6",
    "lookup-developer-us",
    "developer-us",
    "lookup-284882215-us",
    "lookup-mac-us",
  ]
  const apps = files.flatMap((file): RecordedApp[] => {
    const text = readFileSync(join(import.meta.dirname, `../../fixtures/upstream/itunes-${file}.json`), "utf8")
    return JSON.parse(text).results.filter(({ description }: Partial<RecordedApp>) => description)
  })
  return [...new Map(apps.map((app) => [app.trackName, app])).values()].slice(0, 20)
}

/** Translates into the languages of seventeen whole translations by people, and compares characters with them. */
async function measureTranslations(settings: Settings): Promise<void> {
  const { ask, report } = openAsking(settings)
  const likeness: number[] = []
  let withheldCount = 0
  for (const { locale, full } of BY_PEOPLE.filter(isWhole)) {
    const background = backgroundIn({ name: "OpenTracks", developer: null, rivals: [], tracked: [] }, "en")
    const translation = await ask(
      translationTask({
        digest: "",
        from: "en",
        to: languageOfLocale(locale),
        names: ["OpenTracks"],
        keywords: [],
        captions: [],
        source: { name: ORIGINAL.title, subtitle: null, promotionalText: null, description: ORIGINAL.full },
        limits: { name: 30, subtitle: 30, promotionalText: 170, description: 4_000 },
        place: { storefront: "us", locale: locale as ListingLocale },
        background,
      }),
    ).catch(() => null)
    const description = translation?.fields.find(({ field }) => field === "description")
    if (description?.kept === null) likeness.push(chrF(description.text ?? "", full))
    else withheldCount++
  }
  const mean = likeness.reduce((sum, value) => sum + value, 0) / Math.max(1, likeness.length)
  report(
    `translations, ${likeness.length} descriptions shown and ${withheldCount} kept, ` +
      `chrF2 to people's ${mean.toFixed(2)}`,
  )
}
