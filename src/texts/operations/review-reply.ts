import * as v from "valibot"
import { planDays } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { AppCountry, Platform, textOrEmptyUpTo, textUpTo } from "../../lib/fields.ts"
import { LISTING_LOCALES, type ListingLocale, languageOf, localesOf } from "../../lib/locales.ts"
import { described } from "../../lib/schema.ts"
import { REPLY_LENGTHS } from "../../lib/store-pages.ts"
import { guessLocale } from "../../listings/checks/guess-locale.ts"
import { feedsOf, readAppFeed } from "../../reviews/operations/review-shapes.ts"
import { findReview } from "../../reviews/read/find-one.ts"
import type { StoredReview } from "../../reviews/read/reviews.ts"
import { Count, ListingLocale as Locale, Store, Storefront } from "../../tracking/shapes.ts"
import { digestOf } from "../digest.ts"
import { replyTask } from "../reply.ts"
import { assertWriter, takeUnit, WRITE_MS, Written, writtenBy, writtenOr } from "./writing-shapes.ts"

const LONGEST_NOTE = 500
const LONGEST_ID = 200

export const draftReviewReply = operation({
  id: "draft_review_reply",
  method: "GET",
  path: "/apps/:appId/reviews/reply-draft",
  group: "Your apps",
  toolset: "reviews",
  summary: "Drafts a reply to a review with a language model.",
  description:
    "Sends nothing to a store. A new draft takes one Review AI unit; repeating it on the same UTC day takes none.",
  effect: "spends",
  scope: "reviews:read",
  plan: "free",
  price: 1,
  faults: ["review_not_found", "review_ai_limit", "ai_not_configured", "ai_failed", "ai_timeout"],
  names: "reviewId",
  missing: "review_not_found",
  deadlineMs: WRITE_MS + 4_000,
  input: ofApp({
    country: AppCountry,
    store: Platform,
    reviewId: v.pipe(textUpTo(LONGEST_ID), v.description("Review id from search_reviews.")),
    note: v.optional(v.pipe(textOrEmptyUpTo(LONGEST_NOTE), v.description("What the reply should say."))),
  }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    reviewId: described(v.string(), "The requested review."),
    locale: described(Locale, "Language of the review and the reply."),
    reply: described(v.string(), "The draft, written by a language model. Check it before sending."),
    characters: described(Count, "Length in Unicode code points."),
    limit: described(Count, "Maximum length in the store."),
    addresses: described(v.array(v.string()), "Verbatim passages of the review that the reply addresses."),
    written: described(Written, "Provenance of the text and parts removed by the checks."),
  }),
}).run(async ({ app, storefront, store: platform, reviewId, note }, ctx) => {
  const feeds = feedsOf(await readAppFeed(ctx.sql, app, { platform, storefront }))
  const review = feeds && (await findReview(ctx.sql, feeds, reviewId, planDays("reviews", ctx.now(), ctx.caller)))
  if (!review) throw new Fault("review_not_found")
  const locale = localeOf(review, storefront)
  const inputs = {
    review: textOf(review),
    appName: app.name,
    note,
    language: languageOf(locale),
    most: REPLY_LENGTHS[platform],
  }
  const digest = digestOf(["reply", ctx.caller.workspaceId, dayOf(ctx.now()), inputs])
  const task = replyTask({ digest, ...inputs })
  await assertWriter(ctx, task)
  await takeUnit(ctx, "reviewAi", digest, "review_ai_limit")
  const text = await writtenOr(ctx, task)
  const { reply, addresses } = text.value
  return {
    country: storefront,
    platform,
    reviewId,
    locale,
    reply,
    characters: [...reply].length,
    limit: REPLY_LENGTHS[platform],
    addresses,
    written: writtenBy(text, digest),
  }
})

function textOf({ stars, title, text }: StoredReview) {
  return { stars, title, text }
}

/**
 * Returns the locale that the words of the review indicate. If there are too few words, returns the storefront's
 * locale.
 */
function localeOf({ title, text }: StoredReview, storefront: string): ListingLocale {
  const locales = localesOf(storefront)
  return guessLocale(`${title ?? ""}\n${text}`, [...locales, ...LISTING_LOCALES]) ?? (locales[0] as ListingLocale)
}
