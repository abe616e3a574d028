import type { AnswerOf } from "../../answers.ts"
import type { Fault } from "../../lib/faults.ts"
import {
  type AppHead,
  address,
  appAddress,
  attempted,
  hereOf,
  isFault,
  type Page,
  type PageContext,
  readHead,
  type Side,
  sideAt,
  sideCode,
} from "../../ui/app/context.ts"
import { card, empty, refusedPart, samplePage } from "../../ui/app/parts.ts"
import { askPart, attemptedText, refusedCard, textPage, writtenPart } from "../../ui/app/texts/written.ts"
import { writeForm } from "../../ui/app/write/form.ts"
import { areaField } from "../../ui/fields.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { whole } from "../../ui/words.ts"
import { reviewPart } from "./review.ts"

export type Replies = AnswerOf<"list_review_replies">
type Reply = Replies["replies"][number]
type Draft = AnswerOf<"draft_review_reply">

const PAGE = { title: "Reply", at: "reviews", back: { tab: "reviews", name: "Reviews" } }

/** Shows the latest reply to a review and its state, or a link to write one. */
export function replyPart(
  context: PageContext,
  app: AppHead,
  side: Side,
  { id, replies }: { id: string; replies: Replies | null },
): Html {
  const sent = replies?.replies.filter(({ reviewId }) => reviewId === id) ?? []
  const present = presentReplies(replies, id)
  const link = address(appAddress(context, app, "reply"), { review: id, at: sideCode(side) })
  return html`${present.map(presentPart)}${sent.map((reply) => sentPart(reply, side))}<p class="small">
<a href="${link}">${sent.length + present.length > 0 ? "Change the reply" : "Reply"}</a></p>`
}

/**
 * Returns the replies that the console lists, except replies that were sent from here and are already listed with their
 * state.
 */
function presentReplies(replies: Replies | null, id: string): Replies["present"] {
  const isOurs = (text: string) =>
    replies?.replies.some((reply) => reply.reviewId === id && reply.state === "sent" && reply.text === text)
  return replies?.present.filter(({ reviewId, text }) => reviewId === id && !isOurs(text)) ?? []
}

function presentPart({ text, at }: Replies["present"][number]): Html {
  return html`<blockquote><p class="whole"><bdi>${text}</bdi></p>
<p class="small quiet"><span class="tag">In Play Console</span> ${momentTime(at)}.</p></blockquote>`
}

function sentPart({ text, state, at, published, why }: Reply, { platform }: Side): Html {
  const [name, tone, explanation] = STATES[state]
  const hint = state === "sent" ? sentHint(platform, published) : explanation
  return html`<blockquote><p class="whole"><bdi>${text}</bdi></p>
<p class="small quiet"><span class="tag ${tone}">${name}</span> ${momentTime(at)}. ${hint}${
    why && html` <bdi>${why}</bdi>`
  }</p></blockquote>`
}

function sentHint(platform: Side["platform"], published: boolean | null): string {
  if (platform === "android") return "Google Play has accepted it."
  return published ? "The App Store shows it." : "The App Store shows it within a day."
}

const STATES: Record<Reply["state"], readonly [name: string, tone: string, explanation: string]> = {
  approval: ["Waiting for approval", "warn", "A person must approve it under Changes."],
  queued: ["Queued", "", "It is sent within a minute."],
  sent: ["Sent", "good", ""],
  refused: ["Refused", "warn", "Nothing was sent. Change the reply and send it again."],
  unknown: [
    "Unknown",
    "warn",
    "It may have been sent, and is not sent again. The console is checked after 1, 10 and 60 minutes and a day.",
  ],
}

/**
 * Shows a reply to one review: the reply that was sent, a draft by a language model on request, the text to edit, and
 * its preview.
 */
export async function replyPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const side = sideAt(app, context.query)
  const { country, platform } = side
  const reviewId = context.query.get("review") ?? ""
  const page = (body: Html) => textPage(context, app, side, { page: PAGE, body })
  const found = await attempted(context.ask("get_review", { appId, country, platform, reviewId: reviewId || "-" }))
  if (isFault(found)) return page(html`<section class="card">${noReview(context, found)}</section>`)
  const replies = await context.ask("list_review_replies", { appId, platform, reviewIds: [reviewId] })
  const makesDraft = context.isSent || context.isSample
  const draft = makesDraft
    ? await attemptedText(context.ask("draft_review_reply", { appId, country, store: platform, reviewId }))
    : null
  const current = replies.replies.filter((reply) => reply.reviewId === reviewId)
  const isWaiting = current.some(({ state }) => state === "queued")
  return page(html`${isWaiting && html`<div data-reading=""></div>`}<div class="columns-2 wide-left"><div>${card(
    "The review",
    html`<div class="inside">${reviewPart(found.review, side)}${presentReplies(replies, reviewId).map(
      presentPart,
    )}${current.map((reply) => sentPart(reply, side))}</div>`,
  )}${draft && isFault(draft) && !context.isSample && refusedCard("Draft", draft)}${formCard(context, app, side, {
    reviewId,
    sending: replies.sending,
    text: textOf(draft, current, presentReplies(replies, reviewId)),
  })}</div>
<div>${draftCard(context, app, side, { reviewId, draft })}</div></div>`)
}

function noReview(context: PageContext, fault: Parameters<typeof refusedPart>[0]): Html {
  if (fault.code !== "review_not_found") return refusedPart(fault)
  return empty("This review is not stored here", "Open it from the list of reviews.", samplePage(context, "reviews"))
}

/** Returns the initial text of the form: the draft, else the latest reply. */
function textOf(draft: Draft | Fault | null, current: readonly Reply[], present: Replies["present"]): string {
  return draft && !isFault(draft) ? draft.reply : (current[0]?.text ?? present[0]?.text ?? "")
}

function formCard(
  context: PageContext,
  app: AppHead,
  side: Side,
  { reviewId, sending, text }: { reviewId: string; sending: Replies["sending"]; text: string },
): Html {
  const shownText = text !== "" && html`<div class="inside"><p class="whole"><bdi>${text}</bdi></p></div>`
  if (sending.state !== "ready") return card("Your reply", html`${shownText}${cannotSend(context, side, sending)}`)
  const fixed = { appId: app.id, country: side.country, reviewId }
  const form = writeForm(
    context,
    { action: "reply_review", back: hereOf(context), fixed, button: "Preview", tone: "main", look: "filters stacked" },
    (state) =>
      areaField(state, {
        name: "response",
        label: "Reply, in the name of the developer",
        hint: `At most ${whole(sending.limit)} characters. Everybody can read it. A preview shows the current reply.`,
        value: text,
        rows: 6,
        isRequired: true,
      }),
  )
  return card("Your reply", form || shownText)
}

function cannotSend(context: PageContext, { platform }: Side, { state, why }: Replies["sending"]): HtmlPart {
  const console = platform === "ios" ? "App Store Connect" : "Google Play Console"
  const accounts = html`<a href="${context.base}/settings/accounts">Connected accounts</a>`
  switch (state) {
    case "not_allowed":
      return empty(
        "You lack the right to reply to reviews",
        "It is the right reviews:write. An owner of the workspace can give it to you.",
      )
    case "off":
      return empty("Replies cannot be sent now", html`<bdi>${why}</bdi> See ${accounts}.`)
    default:
      return empty(
        `${console} is not connected for writing`,
        html`Connect an account with the app, and allow writes, under ${accounts}. ${
          platform === "ios" ? html`<bdi>${why}</bdi>` : "Until then, copy a draft and reply in Play Console."
        }`,
        samplePage(context, "reviews"),
      )
  }
}

function draftCard(
  context: PageContext,
  app: AppHead,
  side: Side,
  { reviewId, draft }: { reviewId: string; draft: Draft | Fault | null },
): Html {
  if (draft && !isFault(draft)) return draftPart(draft)
  return askPart(context, address(appAddress(context, app, "reply"), { review: reviewId, at: sideCode(side) }), {
    title: "Draft by a language model",
    description:
      "It is checked for language, length, promises of money and addresses that the review does not have. " +
      "You edit it before anything is sent.",
    cost: "1 credit and one Review AI run of the month",
    button: "Draft reply",
  })
}

function draftPart({ locale, addresses, written }: Draft): Html {
  return card(
    "About this draft",
    html`<div class="inside"><h3>Passages of the review that it answers</h3>
<ul>${addresses.map((passage) => html`<li>“<bdi>${passage}</bdi>”</li>`)}</ul>${writtenPart(written)}</div>`,
    `${locale} · read it before you send it`,
  )
}
