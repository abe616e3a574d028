import { createOmissions, type Omission, type OmissionCounter, problemsOf } from "./checks/checker.ts"
import { type WritingLanguage, wordListOf } from "./languages.ts"
import { sentencesOf } from "./sentences.ts"
import {
  countedOf,
  figuresOf,
  MIN_THEME_SIZE,
  newestFirst,
  QUOTES_OF_THEME,
  type Quote,
  type SummedReview,
  type ThemeFigures,
  wholeText,
} from "./themes/theme-figures.ts"
import { deniedIn } from "./topics/denials.ts"
import { topicsOf } from "./topics/find-topics.ts"
import { NONE, TOPIC_LABELS, TOPICS, type Topic } from "./topics/topics.ts"

/** Reviews about one topic. A review may belong to several themes. */
export interface Theme extends ThemeFigures {
  topic: Topic
  /** True if the reviews deny the topic. The reviews that affirm the topic form a separate theme. */
  denied: boolean
  label: string
  quotes: Quote[]
}

export interface Summary {
  themes: Theme[]
  /** Number of reviews that belong to no theme. */
  without: number
  dropped: Omission[]
}

/**
 * Groups reviews by topic with word lists, largest themes first. No text is generated: labels come from the list,
 * quotes from reviews, and figures are counted. `languages` are the languages of the feed.
 */
export function summarise(
  reviews: readonly SummedReview[],
  { language, languages, now }: { language: WritingLanguage; languages: readonly WritingLanguage[]; now: Date },
): Summary {
  const counted = countedOf(reviews, now)
  const read = reviews.map((review) => {
    const topics = topicsOf(wholeText(review), languages)
    return { review, topics, denied: deniedIn(wholeText(review), languages, topics) }
  })
  const omissions = createOmissions()
  const grouped = TOPICS.flatMap((topic) =>
    [false, true].map((denied) => ({
      topic,
      denied,
      themeReviews: read.filter((item) => isOf(item, { topic, denied })),
    })),
  )
  const large = grouped.filter(({ themeReviews }) => themeReviews.length >= MIN_THEME_SIZE)
  const themes = large.map(({ topic, denied, themeReviews }) => ({
    topic,
    denied,
    label: denied ? `${TOPIC_LABELS[language][topic]}: ${NONE[language]}` : TOPIC_LABELS[language][topic],
    ...figuresOf(
      themeReviews.map(({ review }) => review),
      counted,
    ),
    quotes: quotesOf({ topic, denied }, themeReviews, languages, omissions),
  }))
  const quoted = themes.filter(({ quotes }) => quotes.length > 0)
  if (quoted.length < themes.length) omissions.add("theme", "no_quote_left", themes.length - quoted.length)
  return {
    themes: quoted.toSorted((a, b) => b.count - a.count || TOPICS.indexOf(a.topic) - TOPICS.indexOf(b.topic)),
    without: read.filter((item) => !quoted.some((theme) => isOf(item, theme))).length,
    dropped: omissions.list(),
  }
}

interface ReadReview {
  review: SummedReview
  topics: readonly Topic[]
  /** The topics that the review denies without also affirming them. */
  denied: readonly Topic[]
}

type Side = Pick<Theme, "topic" | "denied">

function isOf({ topics, denied }: Omit<ReadReview, "review">, side: Side): boolean {
  return topics.includes(side.topic) && denied.includes(side.topic) === side.denied
}

/**
 * Chooses quotes: takes the reviews with the fewest topics first, then the newest, and from each review the first
 * sentence about the topic that may be shown.
 */
function quotesOf(
  side: Side,
  themeReviews: readonly ReadReview[],
  languages: readonly WritingLanguage[],
  omissions: OmissionCounter,
): Quote[] {
  const quotes: Quote[] = []
  const ordered = themeReviews.toSorted((a, b) => a.topics.length - b.topics.length || newestFirst(a.review, b.review))
  for (const { review } of ordered) {
    if (quotes.length === QUOTES_OF_THEME) break
    const quote = quoteOf(review, side, languages, omissions)
    if (quote !== null && !quotes.some((other) => other.quote === quote))
      quotes.push({ reviewId: review.id, quote, stars: review.stars, at: review.at })
  }
  return quotes
}

/**
 * Returns a sentence to quote. Null if no sentence may be shown; the reasons are then counted. A review with
 * instructions is never quoted.
 */
function quoteOf(
  { title, text }: SummedReview,
  side: Side,
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
  const shows = (sentence: string) => {
    const topics = topicsOf(sentence, languages)
    return isOf({ topics, denied: deniedIn(sentence, languages, topics) }, side)
  }
  for (const sentence of sentences.filter(shows)) {
    const [problem] = whole.length === 0 ? [] : problemsOf("quote", sentence, ground)
    if (problem) omissions.add("quote", problem.rule)
    else return sentence
  }
  return null
}
