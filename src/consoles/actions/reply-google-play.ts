import type { OutsideWrite, Port, ProofFinding, SentWrite } from "../../jobs/outside.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { REPLY_LENGTHS } from "../../lib/store-pages.ts"
import { playReviewPath, readPlayReview, repliedText } from "../writing/play-reviews.ts"
import { type ReplyArgs, type SeenReview, verdictOf } from "./reviewed.ts"
import { sameText } from "./same-text.ts"

interface PlayReview extends SeenReview {
  store: "android"
}

/** How a reply reaches Google Play. */
export const replyOnGooglePlay = {
  read,
  send,
  proof: { look, absentAt: [10, 60], absence: () => new Fault("unavailable", { detail: NOT_THERE }) },
} as OutsideWrite

const NOT_THERE = "Google Play still has no such reply an hour later: it was not published. Send it again."
const UNLISTED = "Play Console has no review with this id: it was deleted, or it belongs to another app."

/** Throws invalid_arguments if Google would refuse the reply or change it. */
export function checkPlayReply(response: string): void {
  const { length } = [...response]
  const refuse = (detail: string) => new Fault("invalid_arguments", { field: "response", detail })
  if (length > REPLY_LENGTHS.android)
    throw refuse(`response has ${length} characters; a reply on Google Play has at most ${REPLY_LENGTHS.android}.`)
  // Google removes tags, so the published reply would differ from the approved one.
  if (/<[/!]?[a-z][^>]*>/i.test(response))
    throw refuse("response contains an HTML tag, which Google Play removes from replies. Write it without tags.")
}

async function read({ appId, reviewId }: ReplyArgs, { platforms, workspaceId, signal }: Port): Promise<PlayReview> {
  const way = await platforms.open("google-play-console", { workspaceId, appId })
  const review = await readPlayReview(way, reviewId, signal)
  if (review === null) throw new Fault("review_not_found", { detail: UNLISTED })
  return { store: "android", account: way.account, stars: review.stars, day: dayOf(review.at), reply: review.reply }
}

async function send(
  { appId, reviewId, response }: ReplyArgs,
  port: Parameters<OutsideWrite["send"]>[1],
  seen: PlayReview,
) {
  const { platforms, workspaceId, signal } = port
  const way = await platforms.open("google-play-console", { workspaceId, appId })
  const change = { reply: { from: seen.reply?.text ?? null, to: response } }
  const answer = await port.step({ what: "reply", entity: "review", id: reviewId, change }, () =>
    way.send(
      {
        method: "POST",
        path: `${playReviewPath(way, reviewId)}:reply`,
        body: { replyText: response },
        missing: () => new Fault("review_not_found", { detail: UNLISTED }),
      },
      signal,
    ),
  )
  if (!sameText(repliedText(answer), response)) throw new Error("Google accepted the reply but returned another one")
  return { reviewId, state: ACCEPTED }
}

/** Google accepts a reply without returning a state. */
const ACCEPTED = "ACCEPTED"

async function look(
  { appId, reviewId, response }: ReplyArgs,
  { platforms, workspaceId, signal }: Port,
  { before, sentAt }: SentWrite,
): Promise<ProofFinding> {
  const { reply: earlier } = before as PlayReview
  const way = await platforms.open("google-play-console", { workspaceId, appId })
  const review = await readPlayReview(way, reviewId, signal)
  if (review === null) return { verdict: "unclear", text: "Play Console no longer has the review." }
  const result = { reviewId, state: ACCEPTED }
  return verdictOf(review.reply, { response, sentAt, earlier, result })
}
