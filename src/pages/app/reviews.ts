import * as v from "valibot"
import type { Caller } from "../../access/caller.ts"
import { readConsoleReplies } from "../../consoles/read/read-replies.ts"
import { findWriter } from "../../consoles/writing/writers.ts"
import { planDays } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { Fault } from "../../lib/faults.ts"
import { AppCountry, Platform } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day, Time } from "../../lib/shapes.ts"
import { REPLY_LENGTHS } from "../../lib/store-pages.ts"
import { Feed, feedsOf, Review, readAppFeed, shownReview } from "../../reviews/operations/review-shapes.ts"
import { findReview } from "../../reviews/read/find-one.ts"
import { readThemes } from "../../texts/operations/review-summary.ts"
import { listApprovals } from "../../writes/approvals.ts"
import { readTargetJobs, type TargetJob } from "../../writes/target-jobs.ts"

const shared = {
  method: "GET" as const,
  group: "Your apps" as const,
  toolset: "reviews" as const,
  effect: "reads" as const,
  scope: "reviews:read" as const,
  price: 0,
}

const ReviewId = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

export const getReview = operation({
  ...shared,
  id: "get_review",
  path: "/page/:appId/review",
  summary: "One review.",
  names: "reviewId",
  missing: "review_not_found",
  faults: ["review_not_found"],
  input: ofApp({ country: AppCountry, platform: Platform, reviewId: ReviewId }),
  output: v.strictObject({ feed: Feed, review: Review }),
}).run(async ({ app, storefront, platform, reviewId }, { sql, now, caller }) => {
  const feed = await readAppFeed(sql, app, { platform, storefront })
  const feeds = feedsOf(feed)
  const review = feeds && (await findReview(sql, feeds, reviewId, planDays("reviews", now(), caller)))
  if (!review) throw new Fault("review_not_found")
  return { feed: feed.shown, review: shownReview(review) }
})

const ConsoleReply = v.strictObject({
  reviewId: v.string(),
  text: v.string(),
  at: described(Time, "When the reply was last changed."),
})

const Reply = v.strictObject({
  reviewId: v.string(),
  text: v.string(),
  state: described(
    v.picklist(["approval", "queued", "sent", "refused", "unknown"]),
    "approval: waits for a person. queued: waits to be sent. sent: the console has it. refused: nothing was sent. " +
      "unknown: it may have been sent.",
  ),
  at: Time,
  published: described(v.nullable(v.boolean()), "Whether the store shows it. Null unless it was sent."),
  why: described(v.nullable(v.string()), "Why it was refused, or what the console showed since."),
})

export const listReviewReplies = operation({
  ...shared,
  id: "list_review_replies",
  path: "/page/:appId/review-replies",
  summary: "Replies that were sent from here, and whether another can be sent.",
  faults: [],
  input: ofApp({ platform: Platform, reviewIds: v.pipe(v.array(ReviewId), v.maxLength(1_000)) }),
  output: v.strictObject({
    sending: v.strictObject({
      state: v.picklist(["ready", "not_allowed", "not_connected", "off"]),
      why: described(v.nullable(v.string()), "What is missing. Null if replies can be sent."),
      limit: described(Count, "Maximum length of a reply in the store, in characters."),
    }),
    present: described(
      v.array(ConsoleReply),
      "Replies that a connected Google Play Console listed at the last reading, whoever sent them.",
    ),
    replies: v.array(Reply),
  }),
}).run(async ({ app, platform, reviewIds }, { sql, caller }) => {
  const { workspaceId } = caller
  const targets = new Map(reviewIds.map((id) => [`review ${app.id} ${id}`, id]))
  const jobs = await readTargetJobs(sql, workspaceId, [...targets.keys()])
  // callers who are limited to some apps get no waiting replies, because an approval does not name its app; everybody
  // else who may read reviews gets them, even without the right to approve them
  const waiting = caller.appList ? [] : await listApprovals(sql, { workspaceId, rights: null })
  const replies = waiting.filter(({ action, shown }) => {
    return action === "reply_review" && reviewIds.includes(shown.target.id)
  })
  const approvals = replies.map(({ shown, createdAt }) => ({
    reviewId: shown.target.id,
    text: String(shown.after.reply),
    state: "approval" as const,
    at: createdAt.toISOString(),
    published: null,
    why: null,
  }))
  const sent = jobs.map((job) => replyOf(job, targets.get(job.target) as string))
  const sending = { ...(await sendingState(sql, app, { platform, caller })), limit: REPLY_LENGTHS[platform] }
  const present = platform === "ios" ? [] : await readConsoleReplies(sql, app, reviewIds)
  return {
    sending,
    present: present.map(({ at, ...reply }) => ({ ...reply, at: at.toISOString() })),
    replies: [...approvals, ...sent],
  }
})

function replyOf({ status, args, result, createdAt, finishedAt, why, finding }: TargetJob, reviewId: string) {
  const states = { queued: "queued", running: "queued", done: "sent", failed: "refused", unknown: "unknown" } as const
  return {
    reviewId,
    text: String(args.response),
    state: states[status],
    at: (finishedAt ?? createdAt).toISOString(),
    published: status === "done" ? result?.state === "PUBLISHED" : null,
    why: status === "unknown" ? finding : why,
  }
}

/** Returns whether this person can send a reply now and, if not, what is missing. */
async function sendingState(
  sql: Sql,
  app: TrackedApp,
  { platform, caller }: { platform: "ios" | "android"; caller: Caller },
) {
  const console = platform === "ios" ? ("app-store-connect" as const) : ("google-play-console" as const)
  if (!caller.scopes.includes("reviews:write")) return { state: "not_allowed" as const, why: null }
  try {
    await findWriter(sql, console, { workspaceId: caller.workspaceId, appId: app.id }, { lock: false })
    return { state: "ready" as const, why: null }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { detail, reason } = error.extra
    const why = reason ?? detail ?? error.message
    return { state: error.code === "write_limit_reached" ? ("off" as const) : ("not_connected" as const), why }
  }
}

/** Maximum number of themes that fit beside the list. */
const MAX_THEMES = 6

export const listReviewThemes = operation({
  ...shared,
  id: "list_review_themes",
  path: "/page/:appId/review-themes",
  summary: "The largest themes of the newest reviews, found by rules, each with quotes.",
  faults: [],
  input: ofApp({ country: AppCountry, platform: Platform }),
  output: v.strictObject({
    reviews: described(v.nullable(Count), "Reviews with a text that were read. Null if there are too few."),
    from: v.nullable(Day),
    to: v.nullable(Day),
    themes: v.array(
      v.strictObject({
        label: v.string(),
        sentiment: v.string(),
        count: Count,
        share: v.number(),
        points: described(v.nullable(v.number()), "Change of the share in 30 days, in percentage points."),
        quotes: v.array(v.strictObject({ reviewId: v.string(), quote: v.string(), rating: Count, date: Time })),
      }),
    ),
  }),
}).run(async ({ app, storefront, platform }, ctx) => {
  const summary = await readThemes(ctx, app, { platform, storefront })
  if (summary === null) return { reviews: null, from: null, to: null, themes: [] }
  const { reviews, from, to } = summary
  const themes = summary.themes.slice(0, MAX_THEMES).map(({ label, sentiment, count, share, change, quotes }) => ({
    label,
    sentiment,
    count,
    share,
    points: change?.points ?? null,
    quotes: quotes.slice(0, 2).map(({ reviewId, quote, stars, at }) => {
      return { reviewId, quote, rating: stars, date: at.toISOString() }
    }),
  }))
  return { reviews, from, to, themes }
})
