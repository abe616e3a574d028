import type { PlatformWay } from "../../lib/accounts/platform.ts"
import { DAY_MS } from "../../lib/time.ts"
import { foldReview } from "../../reviews/formulas/review-text.ts"
import { territoryOfStorefront } from "../sources/territories.ts"
import { type ConsoleResource, includedIn, listResources, resourceIn, stateOf, textOf } from "./console-documents.ts"

/** A stored review. Its id is the store's; the console uses another id. */
interface StoreReview {
  storefront: string
  stars: number
  title: string | null
  text: string
  at: Date
}

export interface StandingReply {
  id: string
  text: string
  /** The console's state, for example PUBLISHED. */
  state: string
  changedAt: string | null
}

/**
 * Maximum difference between the dates of a review, in days: the console dates it with a time zone offset, and feeds
 * date it by its last edit.
 */
export const SAME_DAYS = 2

/** Returns the console's id of a review. Null unless exactly one review there has the same stars, text and date. */
export async function findConsoleReview(
  way: PlatformWay,
  review: StoreReview,
  signal: AbortSignal,
): Promise<string | null> {
  const territory = territoryOfStorefront(review.storefront)
  if (territory === undefined) return null
  const query = new URLSearchParams({
    "filter[territory]": territory,
    "filter[rating]": String(review.stars),
    sort: "-createdDate",
    limit: "200",
  })
  const oldest = review.at.getTime() - SAME_DAYS * DAY_MS
  // Reviews are listed newest first, so all reviews after one that is too old are older.
  const isPast = (page: readonly ConsoleResource[]) => page.some((item) => dateOf(item) < oldest)
  const path = `/v1/apps/${way.app}/customerReviews?${query}`
  const listed = (await listResources(way, path, signal, isPast)) ?? []
  const same = listed.filter((item) => isSame(item, review))
  return same.length === 1 ? same[0]!.id : null
}

function isSame(resource: ConsoleResource, { stars, title, text, at }: StoreReview): boolean {
  const words = foldReview({ title: textOf(resource, "title"), text: textOf(resource, "body") ?? "" })
  const near = Math.abs(dateOf(resource) - at.getTime()) <= SAME_DAYS * DAY_MS
  return resource.attributes.rating === stars && near && words === foldReview({ title, text })
}

function dateOf(resource: ConsoleResource): number {
  return Date.parse(textOf(resource, "createdDate") ?? "")
}

/** Returns the current reply at the console. Null if there is none; undefined if the review no longer exists. */
export async function readReply(
  way: PlatformWay,
  id: string,
  signal: AbortSignal,
): Promise<StandingReply | null | undefined> {
  const document = await way.ask({ path: `/v1/customerReviews/${id}?include=response` }, signal)
  if (!document) return undefined
  const reply = includedIn(document, "customerReviewResponses")
  return reply && replyOf(reply)
}

/** Returns the reply in the response to the write. */
export function replyIn(document: Record<string, unknown>): StandingReply {
  return replyOf(resourceIn(document))
}

function replyOf(resource: ConsoleResource): StandingReply {
  return {
    id: resource.id,
    text: textOf(resource, "responseBody") ?? "",
    state: stateOf(resource, "state"),
    changedAt: textOf(resource, "lastModifiedDate"),
  }
}
