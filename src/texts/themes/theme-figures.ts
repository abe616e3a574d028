import { dayOf } from "../../lib/days.ts"
import { DAY_MS } from "../../lib/time.ts"
import type { ReviewText } from "../../reviews/formulas/review-text.ts"

export interface SummedReview extends ReviewText {
  id: string
  stars: number
  at: Date
}

export interface Quote {
  reviewId: string
  /** A part of the review, copied exactly. */
  quote: string
  stars: number
  at: Date
}

/** Figures counted from the reviews of a theme. */
export interface ThemeFigures {
  sentiment: Sentiment
  count: number
  /** Share of the reviews in the summary, 0 to 1, to four decimals. */
  share: number
  /** Average stars, to two decimals. */
  stars: number
  firstDay: string
  lastDay: string
  /** Null if the reviews do not cover both months. */
  change: ThemeChange | null
  /** Ids of all reviews of the theme, newest first. */
  reviewIds: string[]
}

/** Reviews of the theme and all reviews, in the last 30 days and in the 30 days before. */
interface ThemeChange {
  recent: { count: number; reviews: number }
  before: { count: number; reviews: number }
  /** Change of the theme's share in percentage points. Null if one of the months has no reviews. */
  points: number | null
}

export const SENTIMENTS = ["complaint", "mixed", "praise"] as const
type Sentiment = (typeof SENTIMENTS)[number]

/** Minimum number of reviews in a theme. A single review is not a theme. */
export const MIN_THEME_SIZE = 2
export const QUOTES_OF_THEME = 2

/** Totals of the reviews from which themes are counted. */
export interface CountedReviews {
  size: number
  now: Date
  /** Number of reviews in the last month and in the month before. Null if the oldest review is too recent. */
  months: [recent: number, before: number] | null
}

export function countedOf(reviews: readonly SummedReview[], now: Date): CountedReviews {
  const months = monthsOf(reviews, now)
  return { size: reviews.length, now, months: months.some((month) => month >= 2) ? countMonths(months) : null }
}

/** Returns the figures of a theme. Expects at least one review. */
export function figuresOf(reviews: readonly SummedReview[], { size, now, months }: CountedReviews): ThemeFigures {
  const stars = reviews.reduce((sum, review) => sum + review.stars, 0) / reviews.length
  const days = reviews.map(({ at }) => dayOf(at)).sort()
  return {
    sentiment: stars <= 2.5 ? "complaint" : stars < 4 ? "mixed" : "praise",
    count: reviews.length,
    stars: rounded(stars, 2),
    firstDay: days[0] as string,
    lastDay: days.at(-1) as string,
    share: rounded(reviews.length / size, 4),
    change: months && changeOf(months, reviews, now),
    reviewIds: reviews.toSorted(newestFirst).map(({ id }) => id),
  }
}

export function newestFirst(a: SummedReview, b: SummedReview): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? -1 : 1)
}

export function wholeText({ title, text }: ReviewText): string {
  return title === null ? text : `${title}\n${text}`
}

const MONTH_MS = 30 * DAY_MS

export function monthsOf(reviews: readonly SummedReview[], now: Date): number[] {
  return reviews.map(({ at }) => Math.floor((now.getTime() - at.getTime()) / MONTH_MS))
}

function countMonths(months: readonly number[]): [recent: number, before: number] {
  return [months.filter((month) => month <= 0).length, months.filter((month) => month === 1).length]
}

function changeOf([recent, before]: [number, number], reviews: readonly SummedReview[], now: Date): ThemeChange {
  const [count, earlier] = countMonths(monthsOf(reviews, now))
  return {
    recent: { count, reviews: recent },
    before: { count: earlier, reviews: before },
    points: recent > 0 && before > 0 ? rounded(100 * (count / recent - earlier / before), 1) : null,
  }
}

function rounded(value: number, decimals: number): number {
  const unit = 10 ** decimals
  return Math.round(value * unit) / unit
}
