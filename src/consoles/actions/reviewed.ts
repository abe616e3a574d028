import type { Platform } from "../../core/observation/provenance.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Db } from "../../database/types.ts"
import type { ProofFinding } from "../../jobs/outside.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { countSameReviews, findReview, isStoredOnPlay } from "../../reviews/read/find-one.ts"
import type { StoredReview } from "../../reviews/read/reviews.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { SAME_DAYS } from "../writing/console-reviews.ts"
import { sameText } from "./same-text.ts"

export type ReplyArgs = {
  appId: string
  country?: string | undefined
  reviewId: string
  response: string
}

interface SeenReply {
  text: string
  /** ISO 8601. */
  changedAt: string | null
}

/** The review as read at the console, without its text. */
export interface SeenReview {
  /** Omitted for the App Store. */
  store?: "android"
  account: string
  stars: number
  /** The UTC day when it was written or last edited. */
  day: string
  reply: SeenReply | null
}

/**
 * Returns the store of a review. For a review that is not stored, returns ios if the app is in the App Store. Throws
 * ios_only if the app is in neither store.
 */
export async function storeOf(
  sql: Db,
  app: Pick<TrackedApp, "id" | "iosApp" | "androidApp" | "countries">,
  { country, reviewId }: Pick<ReplyArgs, "country" | "reviewId">,
): Promise<Platform> {
  if (app.androidApp === null) {
    if (app.iosApp === null) throw new Fault("ios_only")
    return "ios"
  }
  if (app.iosApp === null) return "android"
  const feed = { appId: app.iosApp, feed: country?.toLowerCase() ?? app.countries[0] }
  if (await findReview(sql, [feed], reviewId, allDays())) return "ios"
  const onPlay = { trackedApp: app.id, appId: app.androidApp, reviewId }
  return (await isStoredOnPlay(sql, onPlay)) ? "android" : "ios"
}

interface ReviewPlace extends Pick<ReplyArgs, "appId" | "country" | "reviewId"> {
  workspaceId: number
}

/**
 * Returns a stored review of the App Store. Throws review_not_found when no stored review matches, or when two look the
 * same.
 */
export async function findFeedReview(
  sql: Db,
  { workspaceId, appId, country, reviewId }: ReviewPlace,
): Promise<StoredReview & { storefront: string }> {
  const app = await findApp(sql, { workspaceId, appList: null }, appId)
  if (app.iosApp === null) throw new Fault("ios_only")
  const storefront = country?.toLowerCase() ?? app.countries[0]
  const feed = { appId: app.iosApp, feed: storefront }
  const review = await findReview(sql, [feed], reviewId, allDays())
  if (!review) throw new Fault("review_not_found")
  if ((await countSameReviews(sql, feed, review, SAME_DAYS)) > 1) throw new Fault("review_not_found", { detail: TWINS })
  return { ...review, storefront }
}

const TWINS =
  "Another review within two days has the same stars and text, so the review cannot be identified in the console."

/** Throws review_not_found unless the review was stored from Google Play's page or from a console of the workspace. */
export async function findStoredOnPlay(
  sql: Db,
  { id, androidApp }: Pick<TrackedApp, "id" | "androidApp">,
  { reviewId }: Pick<ReplyArgs, "reviewId">,
): Promise<void> {
  const isStored = androidApp !== null && (await isStoredOnPlay(sql, { trackedApp: id, appId: androidApp, reviewId }))
  if (!isStored) throw new Fault("review_not_found")
}

/** Maximum time that a store's clock may be behind ours. */
const CLOCKS_MS = 2 * 60_000

/**
 * Decides whether the reply was applied: compares the reply that the store shows now with the sent reply and with the
 * reply before it. The finding contains `result` if the reply was applied.
 */
export function verdictOf(
  current: SeenReply | null,
  sent: { response: string; sentAt: Date; earlier: SeenReply | null; result: Record<string, unknown> },
): ProofFinding {
  const { response, sentAt, earlier, result } = sent
  const isNewer = Date.parse(current?.changedAt ?? "") >= sentAt.getTime() - CLOCKS_MS
  if (current && isNewer && sameText(current.text, response))
    return { verdict: "applied", text: "The store shows the reply that was sent.", result }
  const isAsBefore =
    (current?.text ?? null) === (earlier?.text ?? null) && (current?.changedAt ?? null) === (earlier?.changedAt ?? null)
  return isAsBefore
    ? { verdict: "absent", text: current ? "The earlier reply is unchanged." : "There is no reply." }
    : { verdict: "unclear", text: "There is another reply." }
}

function allDays() {
  return { from: "2008-07-10", to: addDays(dayOf(new Date()), 1) }
}
