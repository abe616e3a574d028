import type { PlatformDocument, PlatformWay } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"
import { at } from "../../measuring/parsing/json.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { playReviewIn } from "../sources/play-reviews.ts"

interface PlayReview {
  stars: number
  at: Date
  reply: { text: string; changedAt: string } | null
}

export function playReviewPath({ app }: Pick<PlatformWay, "app">, reviewId: string): string {
  const [name, id] = [app, reviewId].map(encodeURIComponent)
  return `/androidpublisher/v3/applications/${name}/reviews/${id}`
}

/**
 * Returns a review with its current reply. Null if the console has no review with this id. Unlike the list of reviews,
 * this includes reviews that are older than a week.
 */
export async function readPlayReview(
  way: PlatformWay,
  reviewId: string,
  signal: AbortSignal,
): Promise<PlayReview | null> {
  const document = await way.ask({ path: playReviewPath(way, reviewId) }, signal)
  if (!document) return null
  const { id, stars, at, reply } = parsed(document)
  if (id !== reviewId) throw unreadable()
  return { stars, at, reply: reply ? { text: reply.text, changedAt: reply.at.toISOString() } : null }
}

function parsed(document: PlatformDocument) {
  try {
    return playReviewIn(document, new Date())
  } catch (error) {
    throw error instanceof ReadFailure ? unreadable() : error
  }
}

function unreadable(): Fault {
  return new Fault("unavailable", { detail: "Google's response about the review cannot be read. Nothing was changed." })
}

/** Returns the text of the reply in the response to the write. Null if it has none. */
export function repliedText(answer: PlatformDocument): string | null {
  const text = at(answer, "result", "replyText")
  return typeof text === "string" ? text : null
}
