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
import { writeForm } from "../../ui/app/write/form.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted, figure, popularityBand, sideName } from "../../ui/words.ts"

type Idea = Ideas["ideas"][number]
type Ideas = AnswerOf<"suggest_keywords">

const PAGE: TextPage = { title: "Keyword ideas", at: "", back: { tab: "", name: "Keywords" } }

function askForIdeas(context: PageContext, app: AppHead, side: Side): Html {
  return askPart(context, address(appAddress(context, app, "ideas"), { at: sideCode(side) }), {
    title: "Keyword ideas",
    description:
      "Keywords for which you or your rivals rank already, that the store suggests, or that app names share. " +
      "Each has its evidence. A language model adds ideas of its own if one is set up.",
    cost: "1 credit and, if the ideas are new today, one AI text of the month",
    button: "Find keyword ideas",
  })
}

export async function ideasPage(context: PageContext, appId: string): Promise<Page> {
  return await madePage<Ideas>(context, appId, {
    page: PAGE,
    offer: (app, side) => askForIdeas(context, app, side),
    make: ({ country: cc }) => context.ask("suggest_keywords", { appId, cc }),
    show: (answer, app) =>
      answer.candidates === 0
        ? html`<section class="card">${noIdeas(context, answer)}</section>`
        : ideasPart(context, app, answer),
  })
}

function ideasPart(context: PageContext, app: AppHead, answer: Ideas): Html {
  const { candidates, ideas, newIdeas, written } = answer
  return html`${card(
    `For ${sideName(answer)}`,
    ideas.length + (newIdeas?.length ?? 0) > 0
      ? chosenForm(context, app, answer)
      : empty(
          "Nothing new was found",
          "All keywords with evidence here are tracked already, or contain the name of an app.",
        ),
    `${counted(candidates, "keyword")} examined`,
  )}${writtenCard(written)}`
}

function noIdeas(context: PageContext, answer: Ideas): Html {
  return empty(
    `Nothing measured in ${sideName(answer)} is evidence for a keyword yet`,
    "Ideas come from searches that list the app or its rivals, store suggestions, and names of similar apps. " +
      "They need some measured days. No unit was charged.",
    samplePage(context, "ideas"),
  )
}

/** Tracks the selected ideas. */
function chosenForm(context: PageContext, app: AppHead, { ideas, newIdeas }: Ideas): Html {
  const isForm = context.editFields.length > 0
  const table = html`<div class="scroll" tabindex="0" role="group" aria-label="Keyword ideas"><table class="rows">
<thead><tr><th scope="col">Keyword, and why</th><th scope="col" class="num">Rank</th>
<th scope="col" class="wide num">Popularity</th><th scope="col" class="wide num">Difficulty</th></tr></thead>
<tbody>${ideas.map((idea) => ideaRow(idea, isForm))}${(newIdeas ?? []).map((idea) => newRow(idea, isForm))}</tbody>
</table></div>`
  if (!isForm) return table
  const write = {
    action: "add_keywords",
    back: appAddress(context, app),
    fixed: { appId: app.id, seen: app.version },
    look: "",
  }
  return writeForm(context, { ...write, button: "Add selected keywords", tone: "main" }, () => table) as Html
}

function ideaRow(idea: Idea, isForm: boolean): Html {
  const { term, reason, measured, rank, popularity, popularityLow: low, popularityHigh: high, difficulty } = idea
  const searched = low === null ? figure(popularity) : popularityBand(low, high)
  return html`<tr><th scope="row">
${termPart(term, isForm)}${idea.picked && html` <span class="tag good">fits the app</span>`}
<p class="small quiet">${reason}</p>
${idea.evidence.slice(1).map((one) => html`<p class="small quiet">${evidenceText(one)}</p>`)}</th>
<td class="num">${measured ? (rank ?? html`<span class="gone">absent</span>`) : figure(null)}</td>
<td class="wide num">${searched}</td><td class="wide num">${figure(difficulty)}</td></tr>
`
}

function newRow({ term, reason }: { term: string; reason: string }, isForm: boolean): Html {
  return html`<tr><th scope="row">${termPart(term, isForm)} <span class="tag">a model's idea</span>
<p class="small quiet">${reason}</p></th><td class="num">${figure(null)}</td><td class="wide num">${figure(null)}</td>
<td class="wide num">${figure(null)}</td></tr>
`
}

function termPart(term: string, isForm: boolean): Html {
  if (!isForm) return html`<bdi>${term}</bdi>`
  return html`<label><input type="checkbox" name="keywords" value="${term}"> <bdi>${term}</bdi></label>`
}

/** Returns the text of further evidence. The idea's reason already states the first evidence in a sentence. */
function evidenceText({ kind, rank, rival, prefix, apps, day }: Idea["evidence"][number]): Html {
  const read = day && html`, ${dayTime(day, shortDay)}`
  if (kind === "suggested") return html`The store suggests it for “<bdi>${prefix}</bdi>”${read}`
  if (kind === "names") return html`In the names of ${counted(apps ?? 0, "app")}${read}`
  return html`${kind === "ranked" ? "You rank" : html`<bdi>${rival}</bdi> ranks`} ${rank}${read}`
}
