import type { OperationId } from "../../answers.ts"

interface ReviewPart {
  title: string
  /** The operation that returns the facts, for digests and for assistants. */
  operation: OperationId
}

/**
 * The parts of a look back at a week or a day, in order. Digests by mail and the weekly review of assistants have the
 * same parts, which are read by the same operations and described in the same words.
 */
export const REVIEW_PARTS = {
  moves: { title: "What moved", operation: "list_alerts" },
  causes: { title: "Possible causes", operation: "get_timeline" },
  reviews: { title: "Reviews", operation: "search_reviews" },
  money: { title: "Money", operation: "get_portfolio_overview" },
  tasks: { title: "What to do", operation: "get_weekly_plan" },
} as const satisfies Record<string, ReviewPart>

export const NO_PROOF = "A movement after a change is no proof that the change caused it."
export const UNMEASURED = "What was not measured is unknown, not zero."
