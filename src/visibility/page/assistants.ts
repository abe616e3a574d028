import type { AnswerOf } from "../../answers.ts"
import { answerPart } from "../../ui/app/any-answer.ts"
import { attempted, type Desk, isFault, type Page, readHead, sideAt } from "../../ui/app/desk.ts"
import { sideForm } from "../../ui/app/frame.ts"
import { card, failureNote, inventedNote, refusedPart } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, percent, spoken } from "../../ui/words.ts"

type Sample = Pick<Engine, "named" | "of" | "low" | "high" | "tooThin">
type Engine = NonNullable<Visibility["engines"][keyof Visibility["engines"]]>
type Visibility = AnswerOf<"get_ai_visibility">

export async function assistantsPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  const side = sideAt(app, desk.query)
  const visibility = desk.has("get_ai_visibility") && (await visibilityCard(desk, appId, side.country))
  return {
    title: `Assistants · ${app.name}`,
    app,
    at: "assistants",
    body: html`${sideForm(desk, app, {}, side)}${visibility}`,
  }
}

async function visibilityCard(desk: Desk, appId: string, country: string): Promise<Html> {
  const title = "Answers of assistants"
  const hint = "A dated sample, not a ranking"
  const answer = await attempted(desk.ask("get_ai_visibility", { appId, country }))
  if (isFault(answer)) return card(title, refusedPart(answer), hint)
  const notes = html`${inventedNote(answer)}${failureNote(answer)}`
  return card(title, html`<div class="inside">${notes}${visibilityPart(answer)}</div>`, hint)
}

/** Renders the share of answers that name the app, per assistant, with dates and intervals. */
function visibilityPart({ providers, engines, answers, check, next, method }: Visibility): Html {
  const measured = Object.entries(engines).filter((entry): entry is [string, Engine] => entry[1] !== null)
  const unmeasured = Object.entries(providers).filter(([name]) => !measured.some(([engine]) => engine === name))
  return html`${measured.map(([name, engine]) => enginePart(name, engine))}${
    unmeasured.length > 0 &&
    html`<p class="small quiet">
${unmeasured.map(([name, state]) => `${nameOf(name)}: ${spoken(state).toLowerCase()}`).join(" · ")}</p>`
  }${
    answers.length > 0 &&
    html`<h3>Answers</h3>
<ul>${answers.map(
      ({ engine, term, askedAt, named, excerpt }) =>
        html`<li><strong><bdi>${term}</bdi></strong> <span class="tag${named ? " good" : ""}">${
          named ? "named" : "not named"
        }</span> <span class="small quiet">${nameOf(engine)}, ${momentTime(askedAt)}</span>${
          excerpt && html`<br><bdi>${excerpt}</bdi>`
        }</li>`,
    )}</ul>`
  }${answerPart({ check: check && { ...check, id: null }, next, method })}`
}

const nameOf = (engine: string) => (engine === "openai" ? "OpenAI" : spoken(engine))

function enginePart(name: string, engine: Engine): Html {
  const { model, answers, measuredFrom, searched, keywords, rivals, apps, domains } = engine
  return html`<h3>${nameOf(name)} <span class="small quiet">${model}, ${counted(answers, "answer")}${
    measuredFrom && html`, ${momentTime(measuredFrom)}`
  }</span></h3>
<p>${sampleText(engine)}; it searched the web for ${searched}.</p>${sampleTable(
    "Keyword",
    keywords.map((one) => ({ ...one, name: one.term })),
  )}${sampleTable("Apps named with yours", [
    { ...engine, name: "Your app" },
    ...rivals,
    ...apps.filter(({ name }) => !rivals.some((rival) => rival.name === name)),
  ])}${
    domains.length > 0 &&
    html`<p class="small quiet">Cited: ${domains
      .map(({ domain, answers: count }) => `${domain} (${count})`)
      .join(", ")}</p>`
  }`
}

function sampleText({ named, of, low, high, tooThin }: Sample): Html {
  return html`Named in <strong>${named} of ${of}</strong> answers${
    low !== null &&
    high !== null &&
    html` (${percent(low)} to ${percent(high)} of all such answers, with 95 % confidence)`
  }${tooThin && html` <span class="tag warn">too few to tell</span>`}`
}

/** Renders each share as a mark on a bar that shows its interval. */
function sampleTable(first: string, rows: readonly (Sample & { name: string })[]): Html | false {
  if (rows.length === 0) return false
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${first}"><table><thead>
<tr><th scope="col">${first}</th><th scope="col" class="num">Named</th>
<th scope="col">Share, and how far it may be off</th></tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row"><bdi>${row.name}</bdi></th><td class="num">${row.named} of ${row.of}</td>
<td>${intervalBar(row)}</td></tr>`,
  )}</tbody></table></div>`
}

function intervalBar({ named, of, low, high }: Sample): Html {
  if (of === 0 || low === null || high === null) return html`<span class="quiet">–</span>`
  const at = (share: number) => Math.round(share * 1_000) / 10
  return html`<svg class="bar" aria-hidden="true"><rect class="all" width="100%" height="100%" rx="3"></rect>
<rect class="off" x="${at(low)}%" width="${Math.max(1, at(high - low))}%" height="100%"></rect>
<rect x="${Math.min(98, at(named / of))}%" width="2%" height="100%"></rect>
</svg><span class="small quiet">${percent(low)} to ${percent(high)}</span>`
}
