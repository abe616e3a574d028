import type { AnswerOf } from "../../answers.ts"
import { attempted, isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { card, empty, refusedPart } from "../../ui/app/parts.ts"
import { hiddenFields } from "../../ui/app/write/form.ts"
import { changesPart } from "../../ui/changes.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, spoken } from "../../ui/words.ts"

type Writes = AnswerOf<"list_writes">
type ApprovalList = AnswerOf<"list_approvals">

/** Shows the writes that wait for approval and the writes that were sent. */
export async function changesPage(context: PageContext): Promise<Page> {
  const [waiting, writes] = await Promise.all([
    attempted(context.ask("list_approvals")),
    attempted(context.ask("list_writes")),
  ])
  return {
    title: "Changes",
    at: "/changes",
    body: html`${
      isFault(waiting) ? card("Waiting for approval", refusedPart(waiting)) : waitingPart(context, waiting)
    }${isFault(writes) ? card("Made changes", refusedPart(writes)) : writesPart(context, writes)}`,
  }
}

function waitingPart(context: PageContext, { approvals, required }: ApprovalList): Html {
  const policy =
    required.length === 0 ? "No change needs an approval" : `Needs an approval: ${required.map(spoken).join(", ")}`
  const list =
    approvals.length > 0
      ? html`<ul class="list">${approvals.map((approval) => approvalPart(context, approval))}</ul>`
      : nothingWaits(context, required.length > 0)
  return card("Waiting for approval", list, policy)
}

function nothingWaits(context: PageContext, isRequired: boolean): Html {
  const sample = context.isSample ? {} : { sample: `/app/sample/changes` }
  if (isRequired)
    return empty(
      "Nothing is waiting",
      "A change that an assistant previews waits here for ten minutes, until you approve or decline it.",
      sample,
    )
  return empty(
    "Nothing is waiting",
    "An assistant previews each change before it makes it. Require your approval first under Settings, Keys.",
    sample,
  )
}

type Approval = ApprovalList["approvals"][number]

function approvalPart(context: PageContext, approval: Approval): Html {
  const { id, summary, notes, credits, destructive, key, expiresAt } = approval
  return html`<li class="fresh"><p><strong>${summary}</strong></p>
${changesPart(approval)}${notes.map((note) => html`<p class="quiet"><bdi>${note}</bdi></p>`)}${
  destructive && html`<p><span class="tag warn">Removes or publishes something</span></p>`
}
<p class="small quiet">Requested by ${key ?? "a deleted key"}${
    context.isMetered() && credits > 0 && html` · ${counted(credits, "credit")}`
  } · waits until ${momentTime(expiresAt)}</p>${settleForm(context, id)}</li>
`
}

function settleForm(context: PageContext, id: string): Html | false {
  if (context.isSample)
    return html`<p class="small quiet">In your own workspace, you approve or decline the change here.</p>`
  if (context.formFields.length === 0) return false
  return html`<form class="filters" method="post" action="${context.base}/changes">${hiddenFields([
    ...context.formFields,
    ["id", id],
  ])}<button class="main" type="submit" name="verdict" value="approved">Approve</button>
<button class="quiet" type="submit" name="verdict" value="declined">Decline</button></form>`
}

function writesPart(context: PageContext, { writes }: Writes): Html {
  if (writes.length === 0)
    return card(
      "Made changes",
      empty(
        "No change was made yet",
        "Each change is listed here: what it did, when, by which key, and who approved it.",
      ),
    )
  return card(
    "Made changes",
    html`<ul class="list">${writes.map((write) => writePart(context, write))}</ul>`,
    html`The latest 50. Changes by commands: <code>appmeter audit</code>`,
  )
}

function writePart(context: PageContext, { at, by, summary, credits, approvedBy }: Writes["writes"][number]): Html {
  return html`<li><p>${summary}</p><p class="small quiet">${momentTime(at)} · by ${by ?? "a deleted key"}${
    context.isMetered() && credits > 0 && html` · ${counted(credits, "credit")}`
  }${approvedBy && html` · approved by <bdi>${approvedBy}</bdi>`}</p></li>
`
}
