import type { AnswerOf } from "../../../answers.ts"
import { type Html, html } from "../../html.ts"
import { momentTime } from "../../times.ts"
import { counted, spoken } from "../../words.ts"
import { type AppHead, address, appAddress, type Page, type PageContext, type Side, sideCode } from "../context.ts"
import { card } from "../parts.ts"
import { askPart, madePage, ofLimit, type TextPage, writtenPart } from "./written.ts"

type Draft = AnswerOf<"draft_listing">

const DRAFT: TextPage = { title: "A draft of the page", at: "page", back: { tab: "page", name: "Store page" } }

/** Links the store page to the drafts. */
export function draftCard(context: PageContext, app: AppHead, side: Side, isLink = true): Html {
  return askPart(context, address(appAddress(context, app, "draft"), { at: sideCode(side) }), {
    title: "A draft of these texts",
    description:
      "A language model drafts each field from your page, your keywords and praise in reviews. " +
      "It shows its sources. Nothing is changed in a store.",
    cost: "1 credit and one AI text of the month",
    button: "Draft texts",
    isLink,
  })
}

/** Shows drafts for the store page's texts, each with its evidence. */
export async function draftPage(context: PageContext, appId: string): Promise<Page> {
  return await madePage<Draft>(context, appId, {
    page: DRAFT,
    offer: (app, side) => draftCard(context, app, side, false),
    make: ({ country: cc, platform }) => context.ask("draft_listing", { appId, cc, platform }),
    show: draftPart,
  })
}

function draftPart({ fields, counts, termsUsed, excluded, locale, pageReadAt, written }: Draft): Html {
  return html`<p class="quiet">For ${locale}, from the page read ${momentTime(pageReadAt)}.</p>
<div class="columns-2 wide-left"><div>${fields.map(fieldPart)}</div><div>${card(
    "Keywords used",
    html`<div class="inside"><p>
${
  termsUsed.length === 0 ? "None." : termsUsed.map((term) => html`<span class="tag good"><bdi>${term}</bdi></span> `)
}</p>${
      excluded.length > 0 &&
      html`<h3>Left out</h3><ul>
${excluded.map(
  ({ term, why }) =>
    html`<li><bdi>${term}</bdi> <span class="small quiet">${WHY[why] ?? spoken(why).toLowerCase()}</span></li>`,
)}</ul>`
    }</div>`,
  )}${card(
    "How it was made",
    html`<div class="inside">
${
  counts &&
  html`<p>The checks for every listing find ${counted(counts.error, "error")}, ${counted(
    counts.warning,
    "warning",
  )} and ${counted(counts.hint, "hint")}.</p>`
}${writtenPart(written)}</div>`,
  )}</div></div>`
}

const WHY: Record<string, string> = { somebodys_name: "names an app, a developer or a store", not_used: "not used" }

function fieldPart({ field, text, characters, limit, kept: keptReason, facts }: Draft["fields"][number]): Html {
  return card(
    spoken(field),
    html`<div class="inside">
${
  text === null
    ? html`<p class="quiet">The page shows none.</p>`
    : text.split(/\n+/).map((line) => html`<p><bdi>${line}</bdi></p>`)
}${keptReason !== null && html`<p class="small quiet"><span class="tag warn">no draft</span> ${keptReason}</p>`}${
  facts.length > 0 &&
  html`<h3>Based on</h3><ul>
${facts.map(
  ({ quote, reviewId }) =>
    html`<li>“<bdi>${quote}</bdi>” <span class="small quiet">${
      reviewId === null ? "on the page" : html`in review <code>${reviewId}</code>`
    }</span></li>`,
)}</ul>`
}</div>`,
    ofLimit(characters, limit),
  )
}
