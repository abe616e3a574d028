import * as v from "valibot"
import { action, CONSOLE_FAULTS } from "../../core/action.ts"
import type { OutsideWrite } from "../../jobs/outside.ts"
import { AppId, Country, textUpTo } from "../../lib/fields.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { REPLY_LENGTHS } from "../../lib/store-pages.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { findWriter } from "../writing/writers.ts"
import { replyOnAppStore } from "./reply-app-store.ts"
import { checkPlayReply, replyOnGooglePlay } from "./reply-google-play.ts"
import { findFeedReview, findStoredOnPlay, type ReplyArgs, type SeenReview, storeOf } from "./reviewed.ts"
import { sameText } from "./same-text.ts"

const Args = v.strictObject({
  appId: AppId,
  country: described(
    v.optional(coded(Country, "invalid_arguments")),
    "App Store: storefront of the review. Default: the app's first.",
  ),
  reviewId: v.pipe(textUpTo(200), v.description("Review id in the store, from search_reviews.")),
  response: v.pipe(
    textUpTo(REPLY_LENGTHS.ios),
    v.description(`The developer's reply. Google Play: at most ${REPLY_LENGTHS.android} characters.`),
  ),
})

export const replyReview = action({
  name: "reply_review",
  summary: "Replies to a review as the developer.",
  description:
    "Requires a connected console of the store, with writes enabled (account writes on). The preview shows the " +
    "reply that is overwritten. The App Store shows a reply within a day.",
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
    state: described(
      v.string(),
      "App Store: state in the console, PENDING_PUBLISH or PUBLISHED. Google Play: ACCEPTED, as Google names no state.",
    ),
  }),
  faults: [...CONSOLE_FAULTS, "not_connected", "review_not_found"],
  target: ({ appId, reviewId }) => `review ${appId} ${reviewId}`,
  account: ({ writer }) => writer.id,
  async look(args, { sql, caller, lock }) {
    const { appId, response } = args
    const app = await findApp(sql, caller, appId)
    const store = await storeOf(sql, app, args)
    const place = { workspaceId: caller.workspaceId, appId }
    const platform = store === "ios" ? ("app-store-connect" as const) : ("google-play-console" as const)
    const writer = await findWriter(sql, platform, place, { lock })
    if (store === "ios") await findFeedReview(sql, { ...args, ...place })
    else {
      checkPlayReply(response)
      await findStoredOnPlay(sql, app, args)
    }
    return { writer }
  },
  diff(_, { reviewId, response }, seen) {
    const { store, stars, day, reply } = seen as SeenReview
    const reviewName = `${stars} ${stars === 1 ? "star" : "stars"}, ${day}`
    const length = `The reply has ${[...response].length} of at most ${REPLY_LENGTHS.android} characters.`
    const overwrites = reply
      ? [sameText(reply.text, response) ? "This is already the current reply." : "The current reply is overwritten."]
      : []
    return {
      summary: `Reply to the review with ${stars} ${stars === 1 ? "star" : "stars"} of ${day}.`,
      target: { kind: "review", id: reviewId, name: reviewName },
      before: { reply: reply?.text ?? null },
      after: { reply: response },
      notes: store === "android" ? [...overwrites, length] : overwrites,
    }
  },
  outside: {
    async read(args: ReplyArgs, port) {
      const app = await findApp(port.sql, { workspaceId: port.workspaceId, appList: null }, args.appId)
      return await half(await storeOf(port.sql, app, args)).read!({ ...args }, port)
    },
    send: (args: ReplyArgs, port, seen) => half((seen as SeenReview).store).send({ ...args }, port, seen),
    proof: {
      look: (args, port, sent) => half((sent.before as SeenReview).store).proof!.look(args, port, sent),
      absentAt: replyOnAppStore.proof!.absentAt,
      absence: (before) => half((before as SeenReview).store).proof!.absence(before),
    },
  } as OutsideWrite,
})

function half(store: "ios" | "android" | undefined): OutsideWrite {
  return store === "android" ? replyOnGooglePlay : replyOnAppStore
}
