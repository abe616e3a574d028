import type { AnswerOf } from "../../answers.ts"
import { type Html, type HtmlPart, html } from "../html.ts"
import { sourceName } from "../source-names.ts"
import { momentTime } from "../times.ts"
import { sideName } from "../words.ts"
import { address, appAddress, type Page, type PageContext, readHead, type Side, sideAt, sideCode } from "./context.ts"
import { sideForm } from "./frame.ts"
import { card, empty, samplePage } from "./parts.ts"

/** Lists the readings behind the figures, reviews and charts of an app's pages. */
export async function readingsPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const side = sideAt(app, context.query)
  const { readings, failed } = await context.ask("list_readings", { appId, ...side })
  const rows = readings.map(
    ({ of, source, seenAt, sameSince, parser, sha256, origin }) => html`<li>
<p><strong>${of}</strong> ${sourceName(source)}${origin !== "own" && html` <span class="tag">${origin}</span>`}</p>
<p class="small quiet">Read ${momentTime(seenAt)}${
      sameSince && html` · the same since ${momentTime(sameSince)}`
    }${parser !== null && ` · parser version ${parser}`}</p><p class="hash">${sha256 ?? "no hash is stored"}</p></li>
`,
  )
  return {
    title: `Readings · ${app.name}`,
    app,
    at: "page",
    body: html`${sideForm(context, app, {}, side)}${failed.map(failedPart)}${
      readings.length === 0
        ? html`<section class="card">
${empty(
  "Nothing was read yet",
  "This lists each reading of the store page, the reviews and the charts: source, time, parser version, and " +
    "the SHA-256 of the response.",
  samplePage(context, "readings"),
)}</section>`
        : card(
            "Readings",
            html`<ul class="list">${rows}</ul>`,
            html`${sideName(side)}: the latest of each, with the SHA-256 of its response`,
          )
    }`,
  }
}

type FailedReading = AnswerOf<"list_readings">["failed"][number]

/** Reports when and how the last attempt to read something failed. Empty if it succeeded. */
export async function failedReadingPart(
  context: PageContext,
  appId: string,
  { side, of }: { side: Side; of: FailedReading["of"] },
): Promise<HtmlPart> {
  const { failed } = await context.ask("list_readings", { appId, ...side })
  return failed.filter((reading) => reading.of === of).map(failedPart)
}

const failedPart = ({ of, failedAt, outcome }: FailedReading) =>
  html`<p class="notice">The last reading of the ${of} failed, ${momentTime(failedAt)}: ${
    FAILURES[outcome]
  } It will be tried again.</p>
`

const FAILURES: Record<FailedReading["outcome"], string> = {
  blocked: "the store refused this server.",
  rate_limited: "the store refused the request because this server had sent too many.",
  not_found: "the store has no such page in this storefront.",
  changed: "this version cannot read the format of the response.",
  mismatched: "the response was about another app or storefront.",
  failed: "no usable response came.",
}

/** Links to the readings from a part that shows their figures. */
export function readingsLink(context: PageContext, app: { id: string }, side: Side): Html {
  return html`<a href="${address(appAddress(context, app, "readings"), { at: sideCode(side) })}">Evidence</a>`
}
