import type { Write, WritingState, WritingTask, WrittenText } from "../../lib/writing/written-text.ts"
import { createOmissions, type Omission, problemsOf, sumOmissions } from "../checks/checker.ts"
import { type WritingLanguage, wordListOf } from "../languages.ts"
import { type Assignment, assignmentsTask, assignmentTokens, MAX_ASSIGNED } from "./assignments.ts"
import { PROPOSALS_TOKENS, type ProposedTheme, proposalsTask } from "./proposals.ts"
import { partsOf, sampleOf, tellable } from "./review-records.ts"
import {
  type CountedReviews,
  countedOf,
  figuresOf,
  MIN_THEME_SIZE,
  newestFirst,
  QUOTES_OF_THEME,
  type Quote,
  type SummedReview,
  type ThemeFigures,
} from "./theme-figures.ts"

/**
 * A theme that a model named and assigned to reviews. Its quotes occur in their reviews, and its figures are counted.
 */
export interface FinerTheme extends ThemeFigures {
  label: string
  sentence: string | null
  quotes: Quote[]
}

interface ThemesQuery {
  digest: string
  language: WritingLanguage
  now: Date
}

/** Number of reviews from which themes are proposed. */
const SAMPLE = 150
/** Upper bound in tokens for instructions, schema, frame and themes. */
const AROUND = 1_500
/** Maximum time per step; steps usually end sooner. */
const STEP_MS = 600_000

/**
 * Writes themes in two passes: the first names them from a sample, the second assigns all reviews, in as many requests
 * as needed. If a request fails there are no themes, but finished requests are stored for the next call.
 */
export async function writeThemes(
  write: Write,
  reviews: readonly SummedReview[],
  query: ThemesQuery,
): Promise<WritingState<FinerTheme[]>> {
  // the writer's context size determines how many reviews a part of the second pass has
  if (!write.isOn) return { state: "failed", why: "off" }
  const safeReviews = tellable(reviews)
  const sample = sampleOf(safeReviews, SAMPLE, write.contextTokens - PROPOSALS_TOKENS - AROUND)
  const proposed = await write(proposalsTask(sample, query), STEP_MS)
  if (proposed.state !== "done") return proposed
  const tokens = write.contextTokens - AROUND
  const parts = partsOf(safeReviews, MAX_ASSIGNED, (size) => tokens - assignmentTokens(size))
  const themes = proposed.value
  const tasks = themes.length === 0 ? [] : parts.map((part) => assignmentsTask(part, themes, query.digest))
  const texts = await writeInTurn(write, tasks)
  if (!Array.isArray(texts)) return texts
  const counted = countThemes(
    themes,
    texts.flatMap(({ value }) => value),
    reviews,
    query,
  )
  const omissions = createOmissions()
  if (safeReviews.length < reviews.length) omissions.add("record", "instructions", reviews.length - safeReviews.length)
  const dropped = [omissions.list(), ...[proposed, ...texts].map((text) => text.dropped as Omission[]), counted.dropped]
  return { ...proposed, value: counted.themes, dropped: sumOmissions(dropped.flat()) }
}

/** At most 4 tasks wait for the writer at once, because the time limit of a task starts when it is submitted. */
const AT_ONCE = 4

/** Returns all texts, or the first failure. After a failure, no more texts are requested. */
async function writeInTurn<Value>(
  write: Write,
  tasks: readonly WritingTask<Value>[],
): Promise<WrittenText<Value>[] | Exclude<WritingState<Value>, { state: "done" }>> {
  const texts: WrittenText<Value>[] = []
  let [next, failed]: [number, Exclude<WritingState<Value>, { state: "done" }> | null] = [0, null]
  const lane = async () => {
    while (failed === null && next < tasks.length) {
      const at = next++
      const state = await write(tasks[at]!, STEP_MS)
      if (state.state === "done") texts[at] = state
      else failed ??= state
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return failed ?? texts
}

/** Counts the themes, largest first. */
function countThemes(
  proposed: readonly ProposedTheme[],
  assigned: readonly Assignment[],
  reviews: readonly SummedReview[],
  { language, now }: ThemesQuery,
) {
  const omissions = createOmissions()
  const counted = countedOf(reviews, now)
  const byId = new Map(reviews.map((review) => [review.id, review]))
  const themes = proposed.flatMap((theme, at): FinerTheme[] => {
    const assignments = assigned.filter((item) => item.themes.includes(at))
    if (assignments.length < MIN_THEME_SIZE) return []
    const finerTheme = themeOf(
      theme,
      assignments.map(({ reviewId, quote }) => ({ review: byId.get(reviewId)!, quote })),
      counted,
      language,
    )
    if (finerTheme.quotes.length > 0) return [finerTheme]
    omissions.add("theme", "no_quote_left")
    return []
  })
  return {
    themes: themes.toSorted((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1)),
    dropped: omissions.list(),
  }
}

function themeOf(
  { label, sentence }: ProposedTheme,
  assigned: readonly { review: SummedReview; quote: string }[],
  counted: CountedReviews,
  language: WritingLanguage,
): FinerTheme {
  const ground = { sources: [], language: wordListOf(language) }
  const quotes: Quote[] = []
  for (const { review, quote } of assigned.toSorted((a, b) => newestFirst(a.review, b.review))) {
    if (quotes.length === QUOTES_OF_THEME) break
    if (quotes.some((other) => other.quote === quote) || problemsOf("quote", quote, ground).length > 0) continue
    quotes.push({ reviewId: review.id, quote, stars: review.stars, at: review.at })
  }
  return {
    label,
    sentence,
    ...figuresOf(
      assigned.map(({ review }) => review),
      counted,
    ),
    quotes,
  }
}
