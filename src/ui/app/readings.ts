import { type Html, html } from "../html.ts"
import { sourceName } from "../source-names.ts"
import { momentTime } from "../times.ts"
import { sideName } from "../words.ts"
import { address, appAddress, type Desk, type Page, readHead, type Side, sideAt, sideCode } from "./desk.ts"
import { sideForm } from "./frame.ts"
import { card, empty, samplePage } from "./parts.ts"

/** Lists the readings behind the figures, reviews and charts of an app's pages. */
export async function readingsPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  const side = sideAt(app, desk.query)
  const { readings } = await desk.ask("list_readings", { appId, ...side })
  const rows = readings.map(
    ({ of, source, seenAt, sameSince, parser, sha256, origin }) => html`<li>
<p><strong>${of}</strong> ${sourceName(source)}${origin !== "own" && html` <span class="tag">${origin}</span>`}</p>
<p class="small quiet">Read ${momentTime(seenAt)}${
      sameSince && html` · the same since ${momentTime(sameSince)}`
    }${parser !== null && ` · parser version ${parser}`}</p><p class="hash">${sha256 ?? "no hash is held"}</p></li>
`,
  )
  return {
    title: `Readings · ${app.name}`,
    app,
    at: "page",
    body: html`${sideForm(desk, app, {}, side)}${
      readings.length === 0
        ? html`<section class="card">
${empty(
  "Nothing was read yet",
  "This lists each reading of the store page, the reviews and the charts: source, time, parser version, and " +
    "the SHA-256 of the response.",
  samplePage(desk, "readings"),
)}</section>`
        : card(
            "Readings",
            html`<ul class="list">${rows}</ul>`,
            html`${sideName(side)}: the latest of each, with the SHA-256 of what came`,
          )
    }`,
  }
}

/** Links to the readings from a part that shows their figures. */
export function readingsLink(desk: Desk, app: { id: string }, side: Side): Html {
  return html`<a href="${address(appAddress(desk, app, "readings"), { at: sideCode(side) })}">Evidence</a>`
}
