import type { ReviewText } from "../formulas/review-text.ts"
import { dayOf } from "../vocabulary/days.ts"
import { eachOf } from "../vocabulary/pieces.ts"
import { DAY_MS } from "../vocabulary/time.ts"
import { createOmissions, type Omission, type OmissionCounter, problemsOf } from "./checks/checker.ts"
import { type WritingLanguage, wordListOf } from "./languages.ts"
import { sentencesOf } from "./sentences.ts"
import { topicsOf } from "./topics/find-topics.ts"
import { TOPIC_LABELS, TOPICS, type Topic } from "./topics/topics.ts"

export interface SummedReview extends ReviewText {
  id: string
  stars: number
  at: Date
}

export interface Quote {
  reviewId: string
  /** A sentence of the review, in its own characters. */
  quote: string
  stars: number
  at: Date
}

/** Reviews that are about one thing; a review may be in several. */
export interface Theme {
  topic: Topic
  label: string
  sentiment: Sentiment
  count: number
  /** Of the reviews looked at, 0 to 1, to four decimals. */
  share: number
  /** Their average, to two decimals. */
  stars: number
  firstDay: string
  lastDay: string
  /** Null = the reviews looked at do not reach back over both months. */
  change: ThemeChange | null
  quotes: Quote[]
}

/** Reviews about it of the last 30 days, and of the 30 before them; of how many. */
export interface ThemeChange {
  recent: { count: number; reviews: number }
  before: { count: number; reviews: number }
  /** What its share gained, in percentage points; null = of one of the months there is no review. */
  points: number | null
}

export const SENTIMENTS = ["complaint", "mixed", "praise"] as const
export type Sentiment = (typeof SENTIMENTS)[number]

export interface Summary {
  themes: Theme[]
  /** Reviews in no theme. */
  without: number
  dropped: Omission[]
}

/** A theme of fewer reviews is chance. */
export const LEAST_IN_THEME = 2
export const QUOTES_OF_THEME = 2

/**
 * What reviews are about, by the words of a list: the most reviews first. Nothing of it is written: labels are the list's,
 * quotes the reviews', figures counted. `languages` are those that the feed's reviews are looked at in.
 */
export function* summarise(
  reviews: readonly SummedReview[],
  { language, languages, now }: { language: WritingLanguage; languages: readonly WritingLanguage[]; now: Date },
): Generator<unknown, Summary> {
  const all = monthsOf(reviews, now)
  const read = yield* eachOf(reviews, (review) => ({ review, topics: topicsOf(wholeText(review), languages) }))
  const omissions = createOmissions()
  const grouped = TOPICS.map((topic) => ({ topic, held: read.filter(({ topics }) => topics.includes(topic)) }))
  const large = grouped.filter(({ held }) => held.length >= LEAST_IN_THEME)
  const themes = yield* eachOf(large, ({ topic, held }) => ({
    topic,
    label: TOPIC_LABELS[language][topic],
    ...figuresOf(held.map(({ review }) => review)),
    share: rounded(held.length / reviews.length, 4),
    change: all && changeOf(all, held.map(({ review }) => review), now), // biome-ignore format: one line
    quotes: quotesOf(topic, held, languages, omissions),
  }))
  const shown = themes.filter(({ quotes }) => quotes.length > 0)
  if (shown.length < themes.length) omissions.add("theme", "no_quote_left", themes.length - shown.length)
  const named = new Set(shown.map(({ topic }) => topic))
  return {
    themes: shown.toSorted((a, b) => b.count - a.count || TOPICS.indexOf(a.topic) - TOPICS.indexOf(b.topic)),
    without: read.filter(({ topics }) => !topics.some((topic) => named.has(topic))).length,
    dropped: omissions.list(),
  }
}

function wholeText({ title, text }: ReviewText): string {
  return title === null ? text : `${title}\n${text}`
}

function figuresOf(reviews: readonly SummedReview[]) {
  const stars = reviews.reduce((sum, review) => sum + review.stars, 0) / reviews.length
  const days = reviews.map(({ at }) => dayOf(at)).sort()
  return {
    sentiment: (stars <= 2.5 ? "complaint" : stars < 4 ? "mixed" : "praise") as Sentiment,
    count: reviews.length,
    stars: rounded(stars, 2),
    firstDay: days[0] as string,
    lastDay: days.at(-1) as string,
  }
}

const MONTH_MS = 30 * DAY_MS

/** How many are of the last month and of the one before; null where the oldest is younger than both. */
function monthsOf(reviews: readonly SummedReview[], now: Date): [recent: number, before: number] | null {
  const months = reviews.map(({ at }) => Math.floor((now.getTime() - at.getTime()) / MONTH_MS))
  return months.some((month) => month >= 2) ? countMonths(months) : null
}

function countMonths(months: readonly number[]): [recent: number, before: number] {
  return [months.filter((month) => month <= 0).length, months.filter((month) => month === 1).length]
}

function changeOf([recent, before]: [number, number], held: readonly SummedReview[], now: Date): ThemeChange {
  const [count, earlier] = countMonths(held.map(({ at }) => Math.floor((now.getTime() - at.getTime()) / MONTH_MS)))
  return {
    recent: { count, reviews: recent },
    before: { count: earlier, reviews: before },
    points: recent > 0 && before > 0 ? rounded(100 * (count / recent - earlier / before), 1) : null,
  }
}

interface ReadReview {
  review: SummedReview
  topics: readonly Topic[]
}

/** Of reviews about little else, the newest first: of each the first sentence that names the topic and may be shown. */
function quotesOf(
  topic: Topic,
  held: readonly ReadReview[],
  languages: readonly WritingLanguage[],
  omissions: OmissionCounter,
): Quote[] {
  const quotes: Quote[] = []
  const ordered = held.toSorted((a, b) => a.topics.length - b.topics.length || newestFirst(a.review, b.review))
  for (const { review } of ordered) {
    if (quotes.length === QUOTES_OF_THEME) break
    const quote = quoteOf(review, topic, languages, omissions)
    if (quote !== null && !quotes.some((other) => other.quote === quote))
      quotes.push({ reviewId: review.id, quote, stars: review.stars, at: review.at })
  }
  return quotes
}

function newestFirst(a: SummedReview, b: SummedReview): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? -1 : 1)
}

/** Null where no sentence of it may be shown; why is counted. A review that gives orders is not quoted at all. */
function quoteOf(
  { title, text }: SummedReview,
  topic: Topic,
  languages: readonly WritingLanguage[],
  omissions: OmissionCounter,
): string | null {
  const ground = { sources: [], language: wordListOf(languages[0] ?? "en") }
  const whole = problemsOf("quote", wholeText({ title, text }), ground)
  const order = whole.find(({ rule }) => rule === "instructions")
  if (order) {
    omissions.add("quote", order.rule)
    return null
  }
  const sentences = [...sentencesOf(text), ...sentencesOf(title ?? "")]
  for (const sentence of sentences.filter((one) => topicsOf(one, languages).includes(topic))) {
    const [problem] = whole.length === 0 ? [] : problemsOf("quote", sentence, ground)
    if (problem) omissions.add("quote", problem.rule)
    else return sentence
  }
  return null
}

function rounded(value: number, decimals: number): number {
  const unit = 10 ** decimals
  return Math.round(value * unit) / unit
}
