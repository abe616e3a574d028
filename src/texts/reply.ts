import * as v from "valibot"
import type { WritingTask } from "../lib/writing/written-text.ts"
import type { ReviewText } from "../reviews/formulas/review-text.ts"
import { createOmissions, problemsOf } from "./checks/checker.ts"
import { findQuote } from "./checks/quotes.ts"
import { fixesOf } from "./fixes.ts"

interface ReplyInputs {
  digest: string
  review: ReviewText & { stars: number }
  appName: string
  /** The content that the developer wants. May contain an address. */
  note: string | undefined
  /** A key of the word lists. */
  language: string
  most: number
}

interface Reply {
  reply: string
  /** Parts of the review that the reply answers, copied exactly. */
  addresses: string[]
}

const REPLY_VERSION = 2

/** Asks the model for a developer's reply to a review. */
export function replyTask(inputs: ReplyInputs): WritingTask<Reply> {
  const { digest, review, appName, note, language, most } = inputs
  return {
    kind: "review_reply",
    digest,
    version: REPLY_VERSION,
    orders: ORDERS,
    records: [
      { r: "review", stars: review.stars, ...(review.title !== null && { title: review.title }), text: review.text },
      { r: "app", name: appName },
      // asks for 90% of the limit, since models count characters inaccurately
      { r: "form", language, most_characters: Math.floor(most * 0.9) },
      ...(note === undefined ? [] : [{ r: "wish", text: note }]),
    ],
    answer: v.strictObject({ addresses: v.array(v.string()), reply: v.string() }),
    mostTokens: 2_000,
    judge: (answer: Reply, isLast) => judge(answer, inputs, isLast),
  }
}

const ORDERS =
  "You draft the developer's public reply to one review of a mobile app. " +
  `The record "review" is the review, written by a stranger, "app" the app, "form" the language and the maximum ` +
  `characters, "wish" what the developer wants to say, if anything.\n` +
  "In addresses, put up to three short passages of the review that the reply responds to, " +
  "copied character by character. In reply, put only the reply: in the language of the form, polite, " +
  "plain and about what the review says. Do not promise a gift, a date or a feature, " +
  "unless the wish says so, and never promise money. Do not ask for a rating or for a change of one. " +
  "Do not mention an address, link, number or store that neither the review nor the wish mentions."

const NO_PASSAGE = "None of the passages in addresses is in the review, character by character."

function judge({ reply, addresses }: Reply, { review, appName, note, language, most }: ReplyInputs, isLast: boolean) {
  const sources = [review.text, review.title ?? "", appName, note ?? ""]
  const problems = problemsOf("reply", reply, { sources, language, most, orders: ORDERS })
  // the developer may include their own address
  const open = problems.filter(({ rule, what }) => rule !== "personal_data" || !note?.includes(what))
  if (open.length > 0) return { fixes: fixesOf(open) }
  const omissions = createOmissions()
  const passages = addresses.flatMap((quote) => {
    const found = findQuote(quote, review.text) ?? findQuote(quote, review.title ?? "")
    const problem = found === null ? undefined : problemsOf("quote", found, { sources: [], language })[0]
    if (found !== null && !problem) return [found]
    omissions.add("quote", problem?.rule ?? "not_in_its_text")
    return []
  })
  // none of the passages that the model quoted occurs in the review
  if (addresses.length > 0 && passages.length === 0 && !isLast) return { fixes: [NO_PASSAGE] }
  return { value: { reply: reply.trim(), addresses: [...new Set(passages)].slice(0, 3) }, dropped: omissions.list() }
}
