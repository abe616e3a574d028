import type { AnswerOf } from "../../answers.ts"
import {
  type AppHead,
  address,
  appAddress,
  type Page,
  type PageContext,
  type Side,
  sideCode,
} from "../../ui/app/context.ts"
import { card, empty, samplePage } from "../../ui/app/parts.ts"
import { askPart, madePage, type TextPage, writtenCard } from "../../ui/app/texts/written.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { sideName } from "../../ui/words.ts"

type Screenshots = AnswerOf<"get_screenshot_text">

const PAGE: TextPage = { title: "Words in screenshots", at: "page", back: { tab: "page", name: "Store page" } }

/** Links from the store page to the words in screenshots. */
export function screenshotsCard(context: PageContext, app: AppHead, side: Side, isLink = true): Html {
  return askPart(context, address(appAddress(context, app, "shots"), { at: sideCode(side) }), {
    title: "Words in the screenshots",
    description:
      "The large text of the first four screenshots, read by OCR on this machine. People read it; the search of the " +
      "stores does not.",
    cost: "1 credit and, for new screenshots, one AI text of the month",
    button: "Read them",
    isLink,
  })
}

export async function screenshotsPage(context: PageContext, appId: string): Promise<Page> {
  return await madePage<Screenshots>(context, appId, {
    page: PAGE,
    offer: (app, side) =>
      app.isInvented
        ? html`<section class="card">${noPictures(context)}</section>`
        : screenshotsCard(context, app, side, false),
    make: ({ country: cc }) => context.ask("get_screenshot_text", { appId, cc }),
    show: screenshotsPart,
  })
}

function screenshotsPart(answer: Screenshots): Html {
  const { pageReadAt, unread, screenshots, written } = answer
  return html`${card(
    `On the page in ${sideName(answer)}`,
    screenshots.length === 0
      ? empty("The page shows no screenshot", "Once it does, the words in the first four can be read.")
      : html`${
          unread.length > 0 &&
          html`<p class="inside">
<span class="tag warn">not read</span> This instance cannot read ${unread.join(", ")};
words in that language are missing.</p>`
        }<ul class="list">${screenshots.map(pictureRow)}</ul>`,
    html`Page read ${momentTime(pageReadAt)}`,
  )}${writtenCard(written)}`
}

/** Shows a message in place of the request button, because the demo app's pictures cannot be read. */
function noPictures(context: PageContext): Html {
  return empty(
    "The demo app's screenshots cannot be read",
    "For an app in a store, this page shows the words in its first four screenshots, with their confidence.",
    samplePage(context, "shots"),
  )
}

const PROBLEMS: Record<string, string> = {
  unreachable: "Its host did not respond. The next call tries again.",
  unreadable: "It is not a PNG or JPEG, or it is too large.",
}

function pictureRow({ position, caption, lines, problem }: Screenshots["screenshots"][number]): Html {
  const sure = lines && lines.length > 0 ? Math.min(...lines.map(({ confidence }) => confidence)) : null
  return html`<li><p><span class="quiet">${position}</span> ${
    problem
      ? html`<span class="tag warn">not read</span> ${PROBLEMS[problem] ?? problem}`
      : caption
        ? html`<strong><bdi>${caption.replaceAll("\n", " / ")}</bdi></strong>`
        : html`<span class="quiet">no large words</span>`
  }</p>${sure !== null && html`<p class="small quiet">${Math.round(sure)} of 100 sure of its least sure word</p>`}</li>
`
}
