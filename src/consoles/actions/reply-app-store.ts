import type { OutsideWrite, Port, ProofFinding, SentWrite } from "../../jobs/outside.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { findConsoleReview, readReply, replyIn, type StandingReply } from "../writing/console-reviews.ts"
import { findFeedReview, type ReplyArgs, type SeenReview, verdictOf } from "./reviewed.ts"
import { sameText } from "./same-text.ts"

interface AppStoreReview extends SeenReview {
  /** The console's id of the review. */
  id: string
  reply: StandingReply | null
}

/** How a reply reaches the App Store. */
export const replyOnAppStore = {
  read,
  send,
  proof: { look, absentAt: [10, 60], absence: () => new Fault("asc_unavailable") },
} as OutsideWrite

const UNLISTED = "The console lists no review, or several reviews, with the same stars, text and date."

async function read(args: ReplyArgs, { sql, platforms, workspaceId, signal }: Port): Promise<AppStoreReview> {
  const { appId } = args
  const way = await platforms.open("app-store-connect", { workspaceId, appId })
  const review = await findFeedReview(sql, { workspaceId, ...args })
  // The id is looked up each time, because an edited review keeps its id at the console but has another text.
  const id = await findConsoleReview(way, review, signal)
  const reply = id === null ? undefined : await readReply(way, id, signal)
  if (id === null || reply === undefined) throw new Fault("review_not_found", { detail: UNLISTED })
  return { account: way.account, id, stars: review.stars, day: dayOf(review.at), reply }
}

async function send(
  { appId, reviewId, response }: ReplyArgs,
  port: Parameters<OutsideWrite["send"]>[1],
  seen: AppStoreReview,
) {
  const { platforms, workspaceId, signal } = port
  const way = await platforms.open("app-store-connect", { workspaceId, appId })
  const change = { reply: { from: seen.reply?.text ?? null, to: response } }
  const answer = await port.step({ what: "reply", entity: "customerReview", id: seen.id, change }, () =>
    way.send(
      {
        method: "POST",
        path: "/v1/customerReviewResponses",
        body: {
          data: {
            type: "customerReviewResponses",
            attributes: { responseBody: response },
            relationships: { review: { data: { type: "customerReviews", id: seen.id } } },
          },
        },
        missing: () => new Fault("review_not_found", { detail: UNLISTED }),
      },
      signal,
    ),
  )
  return doneWith(reviewId, replyIn(answer), response)
}

function doneWith(reviewId: string, { text, state }: StandingReply, response: string) {
  if (!sameText(text, response)) throw new Error("the console accepted the reply but returned another one")
  return { reviewId, state }
}

async function look(
  { appId, reviewId, response }: ReplyArgs,
  port: Port,
  { before, sentAt }: SentWrite,
): Promise<ProofFinding> {
  const { platforms, workspaceId, signal } = port
  const { id, reply: earlier } = before as AppStoreReview
  const way = await platforms.open("app-store-connect", { workspaceId, appId })
  const reply = await readReply(way, id, signal)
  if (reply === undefined) return { verdict: "unclear", text: "The console no longer lists the review." }
  const result = { reviewId, state: reply?.state }
  return verdictOf(reply, { response, sentAt, earlier, result })
}
