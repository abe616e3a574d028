import type { AnswerOf } from "../../answers.ts"
import { address, appAddress, type Page, type PageContext, readHead } from "../../ui/app/context.ts"
import { card, empty, inventedNote } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted, spoken } from "../../ui/words.ts"

type Evidence = AnswerOf<"get_report_evidence">

/** Shows the evidence for an account's figures: each stored report of a day. */
export async function reportsPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const [report, day] = [context.query.get("report") ?? "sales", context.query.get("day")]
  const evidence = await context.ask("get_report_evidence", { appId, report, ...(day && { day }) })
  const { account, state, dayZone, said: reports } = evidence
  return {
    title: `${spoken(report)} · ${app.name}`,
    app,
    at: report.startsWith("ads_") ? "ads" : "revenue",
    body: html`${inventedNote({ sources: [{ state }] })}
<p class="quiet">${spoken(report)} of ${dayTime(evidence.day)}, a day of ${dayZone}, from <code>${account}</code></p>
${
  reports.length === 0
    ? html`<section class="card">
${empty(
  "No report of this day",
  "No report with figures of this day was read. The figures are unknown, not zero.",
)}</section>`
    : reports.map(saidPart)
}`,
  }
}

function saidPart({
  day,
  source,
  seenAt,
  parser,
  origin,
  sha256,
  about,
  processed,
  count,
  rows,
}: Evidence["said"][number]): Html {
  return card(
    about ?? "The report",
    html`<div class="inside">
<p><code>${source}</code>${origin !== "own" && html` <span class="tag">${origin}</span>`}</p>
<p class="small quiet">Of ${dayTime(day)} · said ${momentTime(seenAt)} · parser version ${parser}${
      processed && html` · made ${dayTime(processed)}`
    }</p><p class="hash">${sha256}</p></div>${rowsTable(rows)}`,
    counted(count, "row"),
  )
}

/** Returns the rows as the report has them. The columns differ by report. */
function rowsTable(rows: Evidence["said"][number]["rows"]): Html | false {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return (
    rows.length > 0 &&
    html`<div class="scroll" tabindex="0" role="group" aria-label="Rows"><table><thead>
<tr>${columns.map((column) => html`<th scope="col">${spoken(column)}</th>`)}</tr></thead>
<tbody>${rows.map(
      (row) => html`<tr>${columns.map((column) => html`<td><bdi>${cellText(row[column])}</bdi></td>`)}</tr>
`,
    )}</tbody></table></div>`
  )
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "–"
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

/** Returns a link to the report behind a card's figures. */
export function reportLink(context: PageContext, app: { id: string }, query: { report: string; day?: string }): Html {
  return html`<a href="${address(appAddress(context, app, "reports"), { ...query })}">Evidence</a>`
}
