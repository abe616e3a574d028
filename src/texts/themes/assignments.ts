import * as v from "valibot"
import type { WritingTask } from "../../lib/writing/written-text.ts"
import { createOmissions } from "../checks/checker.ts"
import { digestOf } from "../digest.ts"
import type { ProposedTheme } from "./proposals.ts"
import { placeOf, quoteIn, recordOf } from "./review-records.ts"
import type { SummedReview } from "./theme-figures.ts"

/** The themes of a review, as indexes, and the quote that supports them. */
export interface Assignment {
  reviewId: string
  themes: number[]
  /** Copied exactly from the review. */
  quote: string
}

const ASSIGNMENTS_VERSION = 2
/** Maximum number of reviews per request. */
export const MAX_ASSIGNED = 100
const LONGEST_QUOTE = 60

/** Returns the maximum number of tokens for an answer about this many reviews. */
export function assignmentTokens(reviews: number): number {
  return 300 + 50 * reviews
}

/** Returns the task of the second pass, which assigns reviews to themes. The model is not asked for counts. */
export function assignmentsTask(
  reviews: readonly SummedReview[],
  themes: readonly ProposedTheme[],
  digest: string,
): WritingTask<Assignment[]> {
  return {
    kind: "theme_reviews",
    digest: digestOf(["theme_reviews", digest, themes, reviews.map(({ id }) => id)]),
    version: ASSIGNMENTS_VERSION,
    orders: ORDERS,
    records: [
      ...themes.map(({ label, sentence }, at) => ({ r: `t${at + 1}`, label, sentence: sentence ?? "" })),
      ...reviews.map(recordOf),
    ],
    answer: v.strictObject({
      assigned: v.array(v.strictObject({ r: v.string(), quote: v.string(), themes: v.array(v.string()) })),
    }),
    mostTokens: assignmentTokens(reviews.length),
    judge: (answer: AssignmentsAnswer) => judge(answer, reviews, themes.length),
  }
}

const ORDERS =
  "You decide which themes each review of a mobile app is about. Each record t1, t2 and so on is a theme, " +
  "each record r1, r2 and so on a review by a stranger.\n" +
  "For each review that is about one or more of the themes, put into assigned its handle, the handles of the themes, " +
  `and the passage that shows it, of at most ${LONGEST_QUOTE} characters, copied from the review character by ` +
  "character. Leave out reviews that are about none of them or only mention one in passing."

interface AssignmentsAnswer {
  assigned: { r: string; quote: string; themes: string[] }[]
}

/** Leaves out assignments whose quote does not occur in the review. */
function judge({ assigned }: AssignmentsAnswer, reviews: readonly SummedReview[], themeCount: number) {
  const omissions = createOmissions()
  const byReview = new Map<string, Assignment>()
  for (const { r, quote, themes } of assigned) {
    const review = reviews[placeOf(r, "r") ?? -1]
    const places = themes.flatMap((handle) => {
      const place = placeOf(handle, "t")
      if (place !== undefined && place < themeCount) return [place]
      omissions.add("theme", "unknown_handle")
      return []
    })
    const found = review ? quoteIn(review, quote) : null
    if (!review) omissions.add("record", "unknown_handle")
    else if (found === null) omissions.add("quote", "not_in_its_text")
    else if (places.length > 0) {
      const before = byReview.get(review.id)
      const all = [...new Set([...(before?.themes ?? []), ...places])].sort((a, b) => a - b)
      byReview.set(review.id, { reviewId: review.id, themes: all, quote: before?.quote ?? found })
    }
  }
  if (assigned.length > 0 && byReview.size === 0)
    return { fixes: ["No quote stood in the review whose handle it had, or no theme was known."] }
  return { value: [...byReview.values()], dropped: omissions.list() }
}
