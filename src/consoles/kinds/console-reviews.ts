import * as v from "valibot"
import { kind, type ObservationOf } from "../../core/kind.ts"
import { checkIds, checkText, hold, isText } from "../../core/observation/invariants.ts"
import { Fact, list, Moment, Text, Whole } from "../../core/observation/line-parts.ts"
import { most, rule, ruleBy } from "../../core/observation/shape.ts"
import { checkReview, MAX_REVIEWS, mayBeWritten, ReviewFields } from "../../reviews/kinds/review-shape.ts"
import { LONGEST_TEXT, writtenIn } from "../../reviews/store/review-parts.ts"
import { storeConsoleReviews } from "../store/console-reviews.ts"
import { Account } from "./reports-shape.ts"

const LANGUAGE = /^[a-z]{2,3}(?:-(?:[A-Z]{2}|\d{3}))?$/
const LONGEST_WORD = 100

/** The developer's reply. */
const Reply = v.strictObject({
  text: v.pipe(Text, v.transform(writtenIn)),
  /** Time when the reply was last changed. */
  at: Moment,
})

/** The author is never stored. */
const ConsoleReview = v.strictObject({
  ...ReviewFields,
  /**
   * BCP 47 language of the reviewer's device. Omitted if the console names no language. The console never names a
   * country.
   */
  language: v.pipe(
    Fact,
    rule("bad_language", "a language is written en or pt-BR", (tag) => tag === undefined || LANGUAGE.test(tag)),
  ),
  /** The manufacturer's code name of the device. */
  device: v.pipe(
    Fact,
    rule("bad_text", "a device must have 1 to 100 characters", (name) => {
      return name === undefined || isText(name, LONGEST_WORD)
    }),
  ),
  /** The version of Android as an API level: 34 is Android 14. */
  androidApi: v.optional(Whole),
  /** The app's own version number. */
  versionCode: v.optional(Whole),
  reply: v.optional(Reply),
})
export type ConsoleReview = v.InferOutput<typeof ConsoleReview>

const shape = v.strictObject({
  account: Account,
  storeId: v.pipe(
    Text,
    ruleBy((id, { platform }) => checkIds(platform, [id], "apps")),
  ),
  /** Newest first. An empty list means that no review was written or edited in the last week. */
  reviews: v.pipe(
    list(ConsoleReview),
    most(MAX_REVIEWS, "reviews"),
    ruleBy((reviews, { seenAt }) => {
      for (const [place, review] of reviews.entries()) checkConsoleReview(review, `reviews[${place}]`, seenAt)
    }),
    rule("duplicate_review", "a review is listed twice", (reviews) => {
      return new Set(reviews.map(({ id }) => id)).size === reviews.length
    }),
  ),
})

function checkConsoleReview({ reply, ...review }: ConsoleReview, place: string, seenAt: Date): void {
  checkReview(review, place, seenAt)
  for (const name of ["androidApi", "versionCode"] as const)
    hold((review[name] ?? 0) >= 0, "bad_figure", `${place}.${name}: must be a whole number from 0`)
  if (!reply) return
  checkText(reply.text, LONGEST_TEXT, `${place}.reply.text:`)
  hold(mayBeWritten(reply.at.getTime(), seenAt), "bad_time", `${place}.reply.at: must not be after the reading`)
}

export type ConsoleReviewsObservation = Omit<
  ObservationOf<"console_reviews", "play-console-reviews", typeof shape>,
  "storefront"
>

/** A page of an app's reviews of the last week, as its account in Google Play Console lists them. */
export const consoleReviews = kind<ConsoleReviewsObservation>({
  name: "console_reviews",
  sources: ["play-console-reviews"],
  private: true,
  everywhere: true,
  shape,
  unordered: "reviews",
  names: ({ storeId }) => ({ apps: [storeId] }),
  weight: ({ reviews }) => 2 * reviews.length,
  store: async (tx, pages, { appOf }) => ({
    placed: await storeConsoleReviews(tx, pages, ({ platform, storeId }) => appOf(platform, storeId)),
  }),
  example: {
    source: "play-console-reviews",
    platform: "android",
    seenAt: "2025-10-25T03:25:01Z",
    account: "ac_0123456789abcdef01",
    storeId: "com.example.tea",
    reviews: [
      {
        id: "8a1c7f0e-5b52-4a55-9d1c-2f7f6f0a4e11",
        stars: 2,
        text: "The timer stops.",
        version: "4.1",
        at: "2025-10-24T06:23:00Z",
        language: "de",
        device: "panther",
        androidApi: 34,
        versionCode: 410,
        reply: { text: "Version 4.2 mends it.", at: "2025-10-24T09:00:00Z" },
      },
    ],
  },
})
