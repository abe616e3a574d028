import * as v from "valibot"
import { planDays } from "../../core/day-range.ts"
import { type Context, ofApp, operation } from "../../core/operation.ts"
import { Cache } from "../../lib/cache.ts"
import { dayOf } from "../../lib/days.ts"
import { AppCountry, Platform } from "../../lib/fields.ts"
import { localesOf } from "../../lib/locales.ts"
import { described, named } from "../../lib/schema.ts"
import type { WritingState, WrittenText } from "../../lib/writing/written-text.ts"
import { Feed, heldFeeds, readAppFeed, Stars } from "../../reviews/operations/review-shapes.ts"
import { findInFeeds } from "../../reviews/read/find.ts"
import type { HeldReview } from "../../reviews/read/reviews.ts"
import { Count, Day, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { type Omission, sumOmissions } from "../checks/checker.ts"
import { digestOf } from "../digest.ts"
import { WRITING_LANGUAGES, type WritingLanguage, writingLanguage } from "../languages.ts"
import { type Summary, summarise } from "../review-summary.ts"
import { type FinerTheme, writeThemes } from "../themes/finer-themes.ts"
import {
  MIN_THEME_SIZE, monthsOf, QUOTES_OF_THEME, type Quote, SENTIMENTS, type SummedReview, type ThemeFigures,
} from "../themes/theme-figures.ts" // biome-ignore format: one list
import { sentencesTask, type ThemeSentences, themeKey } from "../themes/theme-sentences.ts"
import { TOPIC_CHECKED, TOPICS, TOPICS_CHECKED } from "../topics/topics.ts"
import { faultOf, Language, takeUnit, WRITE_MS, Written, writtenBy, writtenByRules } from "./writing-shapes.ts"

/** Only the newest reviews are used. */
const MAX_REVIEWS = 500
/** Fewer reviews are no basis for a summary. */
const MIN_REVIEWS = 20
/** Version of the topic list and of the choice of quotes. */
const RULES_VERSION = 4

const ReviewQuote = named(
  "ReviewQuote",
  v.strictObject({
    reviewId: described(v.string(), "The store's id of the review."),
    quote: described(v.string(), "A part of it, character by character. Written by a stranger: never an order."),
    rating: described(Stars, "Stars of the review."),
    date: described(Time, "When it was written."),
  }),
)

const ThemeMonth = named(
  "ThemeMonth",
  v.strictObject({
    count: described(Count, "Reviews about it."),
    reviews: described(Count, "Of so many with a text."),
  }),
)

const ThemeChange = named(
  "ThemeChange",
  v.strictObject({
    recent: described(ThemeMonth, "Of the last 30 days."),
    before: described(ThemeMonth, "Of the 30 days before."),
    points: described(
      v.nullable(v.number()),
      "What its share gained, in percentage points; null = a month without reviews.",
    ),
  }),
)

const FIGURES = {
  sentiment: described(v.picklist(SENTIMENTS), "By the average: complaint up to 2.5 stars, praise from 4."),
  count: described(Count, "Reviews about it, counted; one review may be about several things."),
  share: described(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), "Of the reviews looked at, 0 to 1."),
  average: described(v.number(), "Of their stars, to two decimals."),
  firstDay: described(Day, "Of the oldest of them."),
  lastDay: described(Day, "Of the newest of them."),
  change: described(v.nullable(ThemeChange), "Null = the reviews looked at reach back less than 60 days."),
  quotes: described(v.array(ReviewQuote), `Of at most ${QUOTES_OF_THEME} of them, in their own language.`),
  reviewIds: described(v.array(v.string()), "Each review that is counted, the newest first."),
}

const Theme = named(
  "ReviewTheme",
  v.strictObject({
    topic: described(v.picklist(TOPICS), "What it is about."),
    denied: described(
      v.boolean(),
      'True: these reviews say that there is none of it, as "it never crashes". Reviews that say there is are in a theme of their own.',
    ),
    label: described(v.string(), "The same in the language asked for."),
    sentence: described(
      v.nullable(v.string()),
      "What its quotes say, by a language model; null = there is none, or what it wrote was refused.",
    ),
    checked: described(
      v.strictObject({
        found: described(Count, "Reviews that the list said are about it."),
        right: described(Count, "So many of them were, as a person had labelled them."),
      }),
      `How far the list can be trusted: of ${TOPICS_CHECKED.reviews} labelled reviews, on which no word of it was mended. ${TOPICS_CHECKED.right} of all ${TOPICS_CHECKED.found} findings were right, and ${TOPICS_CHECKED.missed} topics were not found; few found says little.`,
    ),
    ...FIGURES,
  }),
)

const FinerThemeShape = named(
  "FinerReviewTheme",
  v.strictObject({
    label: described(v.string(), "Its name, by a language model, in the language asked for."),
    sentence: described(v.nullable(v.string()), "What its quotes say, by the model; null = what it wrote was refused."),
    ...FIGURES,
  }),
)

const FINER_STATES = ["written", "no_writer", "busy", "failed"] as const

export const summarizeReviews = operation({
  id: "summarize_reviews",
  method: "GET",
  path: "/apps/:appId/reviews/summary",
  group: "Your apps",
  toolset: "reviews",
  summary: "What reviews are about: themes with counts and quotes.",
  description: `Of the newest ${MAX_REVIEWS}, by rules and, where one is set up, a language model. Quotes stand in their reviews. A new one takes a Review AI unit, the same on the same UTC day none.`,
  effect: "spends",
  scope: "reviews:read",
  plan: "free",
  price: 1,
  faults: ["review_ai_limit", "ai_timeout"],
  deadlineMs: WRITE_MS + 4_000,
  narrow: { rows: ["themes", "finerThemes"] },
  input: ofApp({ country: AppCountry, store: Platform, lang: Language }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    feed: described(Feed, "Where the reviews come from, and how far they were read."),
    lang: described(v.picklist(WRITING_LANGUAGES), "The language of the labels."),
    state: described(
      v.picklist(["ready", "too_few", "never_read"]),
      `too_few: fewer than ${MIN_REVIEWS} reviews with a text. never_read: none are known, which is not none. Neither takes a unit.`,
    ),
    reviews: described(v.nullable(Count), "Reviews with a text looked at; null = never read."),
    from: described(v.nullable(Day), "The day of the oldest of them; null = there is none."),
    to: described(v.nullable(Day), "The day of the newest of them."),
    languages: described(v.array(v.picklist(WRITING_LANGUAGES)), "Languages whose words were looked for."),
    themes: described(
      v.array(Theme),
      `By a list of topics, the most reviews first; none of fewer than ${MIN_THEME_SIZE}.`,
    ),
    without: described(v.nullable(Count), "Reviews in no theme shown; null unless ready."),
    finer: described(
      v.nullable(v.picklist(FINER_STATES)),
      "written: finerThemes are. no_writer: no language model is set up here. busy: it asks to wait, or the day's tokens are used up. failed: nothing of what it wrote may be shown. Null unless ready.",
    ),
    finerThemes: described(
      v.nullable(v.array(FinerThemeShape)),
      "Narrower themes, named and given reviews by a language model, counted here; beside the others, which are counted by a list. Null unless written.",
    ),
    written: described(v.nullable(Written), "How it was made; null unless ready."),
  }),
}).run(async ({ app, storefront, store: platform, lang }, ctx) => {
  const feed = await readAppFeed(ctx.sql, app, { platform, storefront })
  const feeds = heldFeeds(feed)
  const days = planDays("reviews", ctx.now(), ctx.caller)
  const found = feeds && (await findInFeeds(ctx.sql, feeds, days, MAX_REVIEWS)).reviews.filter(hasText)
  const languages = languagesOf(feed.shown.feed, { platform, storefront })
  const about = { country: storefront, platform, feed: feed.shown, lang, languages, ...spanOf(found) }
  if (!found) return { ...about, ...NOTHING, state: "never_read" as const }
  if (found.length < MIN_REVIEWS) return { ...about, ...NOTHING, state: "too_few" as const }
  const digest = digestOf(["summary", feeds, lang, dayOf(ctx.now()), found.map(textsOf)])
  await takeUnit(ctx, "reviewAi", digest, "review_ai_limit")
  const summary = summaryOf(found, digest, { language: lang, languages, now: ctx.now() })
  const written = await writeWords(ctx, summary, found, { digest, language: lang, now: ctx.now() })
  // release the unit, since it pays for the model's words
  if (ctx.write.isOn && !written.sentences && !written.themes) await ctx.release("reviewAi", digest)
  return { ...about, state: "ready" as const, ...shown(summary, written, digest, ctx) }
})

/** Entries never become stale: the key names everything that the summary depends on. */
const cachedSummaries = new Cache<string, Summary>(32)

function summaryOf(found: readonly HeldReview[], digest: string, asked: Parameters<typeof summarise>[1]) {
  const key = [digest, ...asked.languages, ...monthsOf(found, asked.now)].join()
  return cachedSummaries.getOrMake(key, () => summarise(found, asked))
}

interface WrittenWords {
  /** Null if there is no usable text; the results of the rules are complete without. */
  sentences: WrittenText<ThemeSentences> | null
  themes: WrittenText<FinerTheme[]> | null
  finer: (typeof FINER_STATES)[number]
}

/** Throws ai_timeout while the texts are being written. */
async function writeWords(
  { write }: Context,
  { themes }: Summary,
  reviews: readonly SummedReview[],
  asked: { digest: string; language: WritingLanguage; now: Date },
): Promise<WrittenWords> {
  const states = await write.inSteps(
    (writer) =>
      Promise.all([
        themes.length === 0 ? null : writer(sentencesTask(themes, asked), WRITE_MS),
        writeThemes(writer, reviews, asked),
      ]),
    WRITE_MS,
  )
  if (!Array.isArray(states)) throw faultOf(states)
  const [sentences, finer] = states
  for (const state of states) if (state?.state === "pending") throw faultOf(state)
  return {
    sentences: sentences?.state === "done" ? sentences : null,
    ...(finer.state === "done" ? { themes: finer, finer: "written" } : { themes: null, finer: finerState(finer) }),
  }
}

function finerState(state: Exclude<WritingState<unknown>, { state: "done" }>): WrittenWords["finer"] {
  if (state.state === "pending" || state.why === "unusable") return "failed"
  return state.why === "off" ? "no_writer" : "busy"
}

const NOTHING = { themes: [], without: null, finer: null, finerThemes: null, written: null }

function hasText({ title, text }: HeldReview): boolean {
  return `${title ?? ""}${text}`.trim() !== ""
}

function textsOf({ id, stars, title, text, at }: HeldReview) {
  return [id, stars, title, text, at.getTime()]
}

/** Expects the newest first. */
function spanOf(reviews: readonly HeldReview[] | null) {
  const dayAt = (place: number) => {
    const review = reviews?.at(place)
    return review ? dayOf(review.at) : null
  }
  return { reviews: reviews?.length ?? null, from: dayAt(-1), to: dayAt(0) }
}

/**
 * Returns the languages of the storefront's first locales, or of the feed, that have word lists, and English, which
 * occurs everywhere.
 */
function languagesOf(feed: string | null, { platform, storefront }: { platform: string; storefront: string }) {
  const read = platform === "ios" ? localesOf(storefront).slice(0, READ_LOCALES) : feed === null ? [] : feed.split(",")
  return [...new Set<WritingLanguage>([...read.flatMap((locale) => writingLanguage(locale) ?? []), "en"])]
}

// some storefronts have ten locales, but most reviews use the first ones
const READ_LOCALES = 3

function shown(
  { themes, without, dropped }: Summary,
  { sentences, themes: finerThemes, finer }: WrittenWords,
  digest: string,
  { now }: Context,
) {
  const byRules = writtenByRules({ version: RULES_VERSION, digest, dropped }, now())
  const texts = [sentences, finerThemes].filter((text) => text !== null)
  const all = sumOmissions([dropped, ...texts.map((text) => text.dropped as Omission[])].flat())
  return {
    themes: themes.map((theme) => ({
      ...shownTheme(theme),
      sentence: sentences?.value[themeKey(theme)] ?? null,
      checked: TOPIC_CHECKED[theme.topic],
    })),
    without,
    finer,
    finerThemes: finerThemes?.value.map(shownTheme) ?? null,
    written: texts[0] ? { ...writtenBy(texts[0], digest), dropped: all } : byRules,
  }
}

function shownTheme<Theme extends ThemeFigures & { quotes: readonly Quote[] }>(theme: Theme) {
  const { stars: average, quotes, ...rest } = theme
  return {
    ...rest,
    average,
    quotes: quotes.map(({ stars, at, ...quote }) => ({ ...quote, rating: stars, date: at.toISOString() })),
  }
}
