import type { AnswerOf } from "../../../answers.ts"
import { Fault } from "../../../lib/faults.ts"
import { type Html, type HtmlPart, html } from "../../html.ts"
import { momentTime } from "../../times.ts"
import { counted, spoken } from "../../words.ts"
import {
  type AppHead,
  address,
  appAddress,
  attempted,
  isFault,
  type Page,
  type PageContext,
  readHead,
  type Side,
  sideAt,
  sideCode,
} from "../context.ts"
import { card, empty, refusedPart } from "../parts.ts"
import { hiddenFields } from "../write/form.ts"

type Authorship = AnswerOf<"draft_listing">["written"]

/** Shows the author of a text, its inputs, and what the checks removed. */
export function writtenPart({ by, model, at, version, inputDigest, dropped }: Authorship): Html {
  const removed = dropped.map(({ what, rule, count }) => `${count} × ${what} (${spoken(rule).toLowerCase()})`)
  return html`<p class="small quiet">
${BY[by] ?? spoken(by)}${model && html` <code>${model}</code>`}, ${momentTime(at)}, version ${version}. ${
    removed.length === 0 ? "The checks left nothing out." : `The checks left out: ${removed.join(", ")}.`
  } Made from the input with this SHA-256:</p><p class="hash">${inputDigest}</p>`
}

/** Returns the content of writtenPart as a card. Null if there is no text. */
export const writtenCard = (written: Authorship | null) =>
  written && card("How it was made", html`<div class="inside">${writtenPart(written)}</div>`)

const BY: Record<string, string> = {
  rules: "Chosen and counted by rules; nothing is written",
  model: "Written by a language model and checked:",
  ocr: "Read in pictures by",
}

/** A page that shows a text, below the page that links to it. */
export interface TextPage {
  title: string
  at: string
  back: { tab: string; name: string }
}

export function textPage(
  context: PageContext,
  app: AppHead,
  side: Side,
  { page: { title, at, back }, body }: { page: TextPage; body: Html },
): Page {
  return {
    title: `${title} · ${app.name}`,
    app,
    at,
    body: html`<p class="crumbs">
<a href="${address(appAddress(context, app, back.tab), { at: sideCode(side) })}">${back.name}</a></p>${body}`,
  }
}

interface AskedText {
  title: string
  description: HtmlPart
  /** Units of the plan, shown where the plan limits them. */
  cost: string
  button: string
  /** True shows a link to the page with the button, instead of the button. */
  isLink?: boolean
}

/**
 * A button that creates a text. Each text uses up one unit of the monthly limit, so a link never creates one. The same
 * text on the same day is free.
 */
export function askPart(
  context: PageContext,
  to: string,
  { title, description, cost, button, isLink = false }: AskedText,
): Html {
  const price = context.isMetered() && ` It takes ${cost}.`
  if (context.isSample || isLink)
    return card(
      title,
      html`<div class="inside"><p>${description}${price}</p><p><a href="${to}">${button}</a></p></div>`,
    )
  return card(
    title,
    html`<div class="inside"><p>${description}${price}</p></div>
<form class="filters" method="post" action="${to}">${hiddenFields(context.formFields)}
<button class="main" type="submit">${button}</button></form>`,
  )
}

interface MadeText<Answer> {
  page: TextPage
  /** Shows the cost and the button. */
  offer: (app: AppHead, side: Side) => Html
  make: (side: Side) => Promise<Answer>
  show: (answer: Answer, app: AppHead, side: Side) => Html
}

/**
 * A page with a text that is created only by its button. Shows the cost first, then the text or the reason why there is
 * none.
 */
export async function madePage<Answer>(
  context: PageContext,
  appId: string,
  { page, offer, make, show }: MadeText<Answer>,
): Promise<Page> {
  const app = await readHead(context, appId)
  const side = sideAt(app, context.query)
  const body = async () => {
    if (!context.isSample && !context.isSent) return offer(app, side)
    const answer = await attemptedText(make(side))
    return isFault(answer) ? refusedCard(page.title, answer) : show(answer, app, side)
  }
  return textPage(context, app, side, { page, body: await body() })
}

/** Returns a text, or the fault that explains to the person why there is none. */
export async function attemptedText<Answer>(request: Promise<Answer>): Promise<Answer | Fault> {
  try {
    return await request
  } catch (error) {
    if (error instanceof Fault && isTold(error)) return error
    return await attempted(Promise.reject(error))
  }
}

/**
 * Returns whether this page shows the fault in place of the text, in addition to the faults that `attempted` returns.
 * `unavailable` with a detail means a model or an image host.
 */
const isTold = ({ code, extra }: Fault) => TOLD.includes(code) || (code === "unavailable" && "detail" in extra)
const TOLD = ["ai_not_configured", "ai_failed", "ai_timeout", "ai_text_limit", "review_ai_limit", "localize_quota"]

export function refusedCard(title: string, fault: Fault): Html {
  const { resetsAt } = fault.extra as { resetsAt?: string }
  if (resetsAt !== undefined) return card(title, empty(fault.message, html`More come ${momentTime(resetsAt)}.`))
  if (fault.code !== "ai_not_configured") return card(title, refusedPart(fault))
  return card(
    title,
    empty(
      "No language model is set up here",
      "The operator of this instance can connect one. Nothing was charged to the month. " +
        "Texts made by rules, such as the themes of reviews, need no model.",
      { command: "AI_URL=http://127.0.0.1:11434/v1 AI_MODEL=… appmeter serve" },
    ),
  )
}

export const points = (gained: number) => `${gained > 0 ? "+" : ""}${gained} points`
export const ofLimit = (characters: number, limit: number) => `${characters} of ${counted(limit, "character")}`
