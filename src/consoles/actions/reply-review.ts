import * as v from "valibot"
import { action, CONSOLE_FAULTS } from "../../core/action.ts"
import type { Db } from "../../database/types.ts"
import type { OutsideWrite, Port, ProofFinding, SentWrite } from "../../jobs/outside.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { AppId, Country, textUpTo } from "../../lib/fields.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { countSameReviews, findReview } from "../../reviews/read/find-one.ts"
import type { StoredReview } from "../../reviews/read/reviews.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { findConsoleReview, readReply, replyIn, SAME_DAYS, type StandingReply } from "../writing/console-reviews.ts"
import { findWriter } from "../writing/writers.ts"
import { sameText } from "./same-text.ts"

/** Maximum number of characters that the store accepts. */
const LONGEST = 5_970

const Args = v.strictObject({
  appId: AppId,
  country: described(
    v.optional(coded(Country, "invalid_arguments")),
    "Storefront of the review. Default: the app's first storefront.",
  ),
  reviewId: v.pipe(textUpTo(200), v.description("Review id in the store, from search_reviews.")),
  response: v.pipe(textUpTo(LONGEST), v.description("The reply, in the name of the developer.")),
})

/** The review as read at the console, without its text. */
interface SeenReview {
  account: string
  /** The console's id of the review. */
  id: string
  stars: number
  day: string
  reply: StandingReply | null
}

export const replyReview = action({
  name: "reply_review",
  summary: "Replies to a review on the App Store as the developer.",
  description:
    "Requires a connected seller's console with writes enabled (account writes on). An existing reply is shown in " +
    "the preview and overwritten. The store shows the reply within a day.",
  scope: "reviews:write",
  plan: "free",
  credits: 2,
  destructive: true,
  args: Args,
  example: {
    appId: "app_4fD0Zs81hQbK",
    reviewId: "12345678901",
    response: "Thank you. Version 2.1 has what you miss.",
  },
  state: named(
    "ReviewReply",
    v.strictObject({
      reply: described(v.nullable(v.string()), "Current reply of the developer. Null if there is none."),
    }),
  ),
  result: v.strictObject({
    reviewId: v.string(),
    state: described(v.string(), "State in the console: PENDING_PUBLISH or PUBLISHED."),
  }),
  faults: [...CONSOLE_FAULTS, "review_not_found"],
  target: ({ appId, reviewId }) => `review ${appId} ${reviewId}`,
  account: ({ writer }) => writer.id,
  async look({ appId, country, reviewId }, { sql, caller, lock }) {
    await findIosApp(sql, caller, appId)
    const app = { workspaceId: caller.workspaceId, appId }
    const writer = await findWriter(sql, "app-store-connect", app, { lock })
    await findStoredReview(sql, { ...app, country, reviewId })
    return { writer }
  },
  diff(_, { reviewId, response }, seen) {
    const { stars, day, reply } = seen as SeenReview
    const reviewName = `${stars} ${stars === 1 ? "star" : "stars"}, ${day}`
    return {
      summary: `Reply to the review with ${stars} ${stars === 1 ? "star" : "stars"} of ${day}.`,
      target: { kind: "review", id: reviewId, name: reviewName },
      before: { reply: reply?.text ?? null },
      after: { reply: response },
      notes: reply
        ? [sameText(reply.text, response) ? "This is already the current reply." : "The current reply is overwritten."]
        : [],
    }
  },
  outside: {
    read,
    send,
    proof: { look, absentAt: [10, 60], absence: () => new Fault("asc_unavailable") },
  } as OutsideWrite,
})

type Arguments = v.InferOutput<typeof Args>

async function findIosApp(sql: Db, caller: { workspaceId: number; appList: readonly string[] | null }, appId: string) {
  const app = await findApp(sql, caller, appId)
  if (app.iosApp === null) throw new Fault("ios_only")
  return app
}

interface ReviewPlace extends Pick<Arguments, "appId" | "country" | "reviewId"> {
  workspaceId: number
}

/** Throws review_not_found, also when two stored reviews look the same. */
async function findStoredReview(
  sql: Db,
  { workspaceId, appId, country, reviewId }: ReviewPlace,
): Promise<StoredReview & { storefront: string }> {
  const app = await findIosApp(sql, { workspaceId, appList: null }, appId)
  const storefront = country?.toLowerCase() ?? app.countries[0]
  const feed = { appId: app.iosApp as number, feed: storefront }
  const review = await findReview(sql, [feed], reviewId, { from: "2008-07-10", to: addDays(dayOf(new Date()), 1) })
  if (!review) throw new Fault("review_not_found")
  if ((await countSameReviews(sql, feed, review, SAME_DAYS)) > 1) throw new Fault("review_not_found", { detail: TWINS })
  return { ...review, storefront }
}

const TWINS =
  "Another review within two days has the same stars and text, so the review cannot be identified in the console."
const UNLISTED = "The console lists no review, or several, with its stars, text and date."

async function read(args: Arguments, { sql, platforms, workspaceId, signal }: Port): Promise<SeenReview> {
  const { appId } = args
  const way = await platforms.open("app-store-connect", { workspaceId, appId })
  const review = await findStoredReview(sql, { workspaceId, ...args })
  // Look up the id each time: an edited review keeps its id at the console but has another text.
  const id = await findConsoleReview(way, review, signal)
  const reply = id === null ? undefined : await readReply(way, id, signal)
  if (id === null || reply === undefined) throw new Fault("review_not_found", { detail: UNLISTED })
  return { account: way.account, id, stars: review.stars, day: dayOf(review.at), reply }
}

async function send(
  { appId, reviewId, response }: Arguments,
  port: Parameters<OutsideWrite["send"]>[1],
  seen: SeenReview,
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
  if (!sameText(text, response)) throw new Error("the console took the reply and shows another")
  return { reviewId, state }
}

/** How far the console's clock may be behind ours. */
const CLOCKS_MS = 2 * 60_000

async function look(
  { appId, reviewId, response }: Arguments,
  port: Port,
  { before, sentAt }: SentWrite,
): Promise<ProofFinding> {
  const { platforms, workspaceId, signal } = port
  const { id, reply: earlier } = before as SeenReview
  const way = await platforms.open("app-store-connect", { workspaceId, appId })
  const reply = await readReply(way, id, signal)
  if (reply === undefined) return { verdict: "unclear", text: "The console no longer lists the review." }
  const isNewer = Date.parse(reply?.changedAt ?? "") >= sentAt.getTime() - CLOCKS_MS
  if (reply && isNewer && sameText(reply.text, response))
    return { verdict: "applied", text: "The reply stands there.", result: { reviewId, state: reply.state } }
  const asBefore =
    (reply?.text ?? null) === (earlier?.text ?? null) && (reply?.changedAt ?? null) === (earlier?.changedAt ?? null)
  return asBefore
    ? { verdict: "absent", text: reply ? "The earlier reply is unchanged." : "There is no reply." }
    : { verdict: "unclear", text: "There is another reply." }
}
