import type { AnswerOf } from "../../answers.ts"
import { attempted, type Desk, isFault, type Page } from "../../ui/app/desk.ts"
import { card, empty, refusedPart } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, spoken } from "../../ui/words.ts"

type Writes = AnswerOf<"list_writes">
type ApprovalList = AnswerOf<"list_approvals">

/** Shows the writes that wait for approval and the writes that were made. */
export async function changesPage(desk: Desk): Promise<Page> {
  const [waiting, writes] = await Promise.all([
    attempted(desk.ask("list_approvals")),
    attempted(desk.ask("list_writes")),
  ])
  return {
    title: "Changes",
    at: "/changes",
    body: html`${isFault(waiting) ? card("Waiting for approval", refusedPart(waiting)) : waitingPart(desk, waiting)}${
      isFault(writes) ? card("What was changed", refusedPart(writes)) : writesPart(writes)
    }`,
  }
}

function waitingPart(desk: Desk, { approvals, required }: ApprovalList): Html {
  const policy =
    required.length === 0 ? "No write must be approved" : `To be approved: ${required.map(spoken).join(", ")}`
  const seen = desk.isSample ? {} : { sample: `/app/sample/changes` }
  if (approvals.length === 0)
    return card(
      "Waiting for approval",
      required.length === 0
        ? empty(
            "Nothing waits",
            "An assistant shows each write before it makes it. Where that is not enough, have writes approved here first:",
            { command: "appmeter approval require all", ...seen },
          )
        : empty(
            "Nothing waits",
            "A write that an assistant previews stands here for ten minutes, until you approve or decline it.",
            seen,
          ),
      policy,
    )
  return card(
    "Waiting for approval",
    html`<ul class="list">${approvals.map(
      (
        approval,
      ) => html`<li class="fresh"><p><strong>${approval.summary}</strong>${approval.destructive && html` <span class="tag warn">takes something away</span>`}</p>
<ul>${[...approval.lines, ...approval.notes].map((line) => html`<li><bdi>${line}</bdi></li>`)}</ul>
<p class="small quiet">${spoken(approval.action)} · by ${approval.key ?? "a key that is gone"} · ${counted(approval.credits, "credit")} · until ${momentTime(approval.expiresAt)}</p>${settleForm(desk, approval.id)}</li>
`,
    )}</ul>`,
    policy,
  )
}

function settleForm(desk: Desk, id: string): Html | false {
  if (desk.isSample) return html`<p class="small quiet">Of your own workspace, Approve and Decline stand here.</p>`
  if (desk.formFields.length === 0) return false
  return html`<form class="filters" method="post" action="${desk.base}/changes">${desk.formFields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<input type="hidden" name="id" value="${id}"><button class="main" type="submit" name="verdict" value="approved">Approve</button><button type="submit" name="verdict" value="declined">Decline</button></form>`
}

function writesPart({ writes }: Writes): Html {
  if (writes.length === 0)
    return card(
      "What was changed",
      empty(
        "Nothing was changed yet",
        "Every write that was confirmed stands here: what, when, by which key, and who approved it.",
      ),
    )
  return card(
    "What was changed",
    html`<ul class="list">${writes.map(
      ({
        at,
        by,
        action,
        summary,
        credits,
        approvedBy,
      }) => html`<li><p>${summary}</p><p class="small quiet">${momentTime(at)} · ${spoken(action)} · by ${by ?? "a key that is gone"} · ${counted(credits, "credit")}${approvedBy && html` · approved by <bdi>${approvedBy}</bdi>`}</p></li>
`,
    )}</ul>`,
    html`The latest 50; commands on the machine: <code>appmeter audit</code>`,
  )
}
