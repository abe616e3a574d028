import type { AnswerOf } from "../../answers.ts"
import { viewAt, viewBar } from "../../ui/app/bar.ts"
import { attempted, isFault, type Page, type PageContext, readHead } from "../../ui/app/context.ts"
import { card, empty, failureNote, inventedNote, refusedPart, samplePage, tiles } from "../../ui/app/parts.ts"
import type { Chart } from "../../ui/charts/chart.ts"
import { shareBar } from "../../ui/charts/small.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted, percent, spoken } from "../../ui/words.ts"
import { answerLines } from "./answer-text.ts"
import { readSharesChart, sharesCard } from "./shares.ts"

type Sample = Pick<Engine, "named" | "of" | "low" | "high" | "tooThin">
type Engine = NonNullable<Visibility["engines"][keyof Visibility["engines"]]>
type Visibility = AnswerOf<"get_ai_visibility">

/** Shows how often assistants name the app, which apps they name instead, their sources and their answers. */
export async function assistantsPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const view = viewAt(context, app, { usual: 365 })
  const { country } = view.side
  const [answer, shares] = await Promise.all([
    attempted(context.ask("get_ai_visibility", { appId, country })),
    readSharesChart(context, app, view),
  ])
  const body = isFault(answer) ? card("Assistants", refusedPart(answer)) : visibilityPart(context, answer, shares)
  const hasShares = !isFault(answer) && hasAnswers(answer)
  const bar = viewBar(context, app, view, hasShares ? { compares: { rivals: [] } } : { hasNoDays: true })
  return {
    title: `Assistants · ${app.name}`,
    app,
    at: "assistants",
    body: html`${bar}${body}`,
    ...(hasShares && shares && { charts: [shares] }),
  }
}

const hasAnswers = ({ engines }: Visibility) => Object.values(engines).some((engine) => engine !== undefined)

function visibilityPart(context: PageContext, visibility: Visibility, shares: Chart | null): Html {
  const { providers, engines, answers, method } = visibility
  const measured = Object.entries(engines).filter((entry): entry is [string, Engine] => entry[1] !== undefined)
  const notes = html`${inventedNote(visibility)}${failureNote(visibility)}`
  if (measured.length === 0) return html`${notes}<section class="card">${notAsked(context, visibility)}</section>`
  const missing = Object.entries(providers).filter(([name]) => !measured.some(([engine]) => engine === name))
  return html`${notes}${tiles(
    measured.map(([name, engine]) => ({
      name: nameOf(name),
      value: html`${engine.named} of ${engine.of}`,
      note: intervalText(engine),
    })),
  )}<div class="columns-2">${keywordsCard(measured)}<div>${sharesCard(context, shares)}</div>
${measured.map(([name, engine]) => namedCard(name, engine))}</div>
<div class="columns-2 wide-left">${answersCard(answers)}<div>${sourcesCard(measured)}${checkCard(visibility)}${card(
    "How to read this",
    html`<div class="inside"><ul class="small">${method.map((line) => html`<li>${line}</li>`)}</ul>${
      missing.length > 0 &&
      html`<p class="small quiet">
${missing.map(([name, state]) => `${nameOf(name)}: ${spoken(state).toLowerCase()}`).join(" · ")}</p>`
    }</div>`,
  )}</div></div>`
}

function notAsked(context: PageContext, { next }: Visibility): Html {
  return empty(
    "No assistant was asked yet",
    next === null
      ? "The operator connects assistants with their API keys (AI visibility in the manual). Then a check asks each " +
          "of them about your keywords, and this page shows who is named."
      : html`A check asks each assistant about your keywords, ${counted(next.answers, "answer")}. Start it with
start_ai_check, by a program or an assistant.`,
    samplePage(context, "assistants"),
  )
}

const nameOf = (engine: string) => (engine === "openai" ? "OpenAI" : spoken(engine))

function intervalText({ low, high, tooThin }: Sample): Html {
  return html`${low !== null && high !== null && `${percent(low)} to ${percent(high)}`}${
    tooThin && html` <span class="tag warn">too few to tell</span>`
  }`
}

/** Shows where the app is named: one row per keyword, one column per assistant. */
function keywordsCard(measured: readonly [string, Engine][]): Html {
  const terms = [...new Set(measured.flatMap(([, { keywords }]) => keywords.map(({ term }) => term)))].sort()
  return card(
    "Where you are named",
    html`<div class="scroll" tabindex="0" role="group" aria-label="Keywords"><table><thead>
<tr><th scope="col">Keyword</th>${measured.map(([name]) => html`<th scope="col">${nameOf(name)}</th>`)}</tr></thead>
<tbody>${terms.map(
      (term) => html`<tr><th scope="row"><bdi>${term}</bdi></th>${measured.map(([, { keywords }]) => {
        const figures = keywords.find((keyword) => keyword.term === term)
        return html`<td>${figures ? shareCell(figures) : html`<span class="quiet">–</span>`}</td>`
      })}</tr>
`,
    )}</tbody></table></div>`,
    "Answers that name you",
  )
}

function shareCell({ named, of }: Sample): Html {
  return html`<span class="bar-cell"><span>${named}/${of}</span>${shareBar(of === 0 ? 0 : named / of)}</span>`
}

const MAX_NAMED = 12

/** Shows the apps that an assistant names, and the app itself, most often named first. */
function namedCard(name: string, engine: Engine): Html {
  const { model, answers, measuredFrom, searched, rivals, apps, others: unknownNames } = engine
  const neighbours = [...rivals, ...apps.filter((app) => !rivals.some((rival) => rival.name === app.name))]
  const rows = [{ ...engine, name: "Your app", isOwn: true }, ...neighbours.map((app) => ({ ...app, isOwn: false }))]
    .filter(({ named, isOwn }) => isOwn || named > 0)
    .toSorted((a, b) => b.named - a.named)
    .slice(0, MAX_NAMED)
  return card(
    `Who ${nameOf(name)} names`,
    html`<div class="scroll" tabindex="0" role="group" aria-label="${`Apps that ${nameOf(name)} names`}"><table><thead>
<tr><th scope="col">App</th><th scope="col" class="num">Named</th>
<th scope="col">Share, with 95 % interval</th></tr></thead>
<tbody>${rows.map(
      ({ isOwn, ...row }) =>
        html`<tr><th scope="row">${isOwn ? html`<strong>Your app</strong>` : html`<bdi>${row.name}</bdi>`}</th>
<td class="num">${row.named} of ${row.of}</td><td>${intervalBar(row)}</td></tr>
`,
    )}</tbody></table></div>${
      unknownNames.length > 0 &&
      html`<p class="inside small quiet">Names that match no known app: <bdi>${unknownNames
        .map(({ name, answers }) => `${name} (${answers})`)
        .join(", ")}</bdi></p>`
    }`,
    html`<bdi>${model}</bdi>, ${counted(answers, "answer")}, ${dayTime(measuredFrom.slice(0, 10))}; it searched the web
for ${searched}`,
  )
}

function intervalBar({ named, of, low, high }: Sample): Html {
  if (of === 0 || low === null || high === null) return html`<span class="quiet">–</span>`
  const at = (share: number) => Math.round(share * 1_000) / 10
  return html`<svg class="bar" aria-hidden="true"><rect class="all" width="100%" height="100%" rx="3"></rect>
<rect class="off" x="${at(low)}%" width="${Math.max(1, at(high - low))}%" height="100%"></rect>
<rect x="${Math.min(98, at(named / of))}%" width="2%" height="100%"></rect>
</svg><span class="small quiet">${percent(low)} to ${percent(high)}</span>`
}

/** Shows the answers by keyword. The first keyword is open. */
function answersCard(answers: Visibility["answers"]): Html {
  const groups = [...Map.groupBy(answers, ({ term }) => term)]
  return card(
    "Answers",
    html`<ul class="list">${groups.map(([term, list], at) => {
      const named = list.filter((answer) => answer.named).length
      return html`<li><details${at === 0 && html` open=""`}><summary><strong><bdi>${term}</bdi></strong>
<span class="quiet">${named} of ${counted(list.length, "answer")} name you</span></summary>
${list.map(answerPart)}</details></li>
`
    })}</ul>`,
    "The line that names you, or the beginning",
  )
}

function answerPart({ engine, askedAt, searched, named, excerpt }: Visibility["answers"][number]): Html {
  const state = named === null ? "uncertain" : named ? "names you" : "does not name you"
  return html`<blockquote>${answerLines(excerpt).map((line) => html`<p>${line}</p>`)}
<p class="small quiet"><span class="tag${named && " good"}">${state}</span> ${nameOf(engine)}, ${momentTime(askedAt)}${
    searched && ", searched the web"
  }</p></blockquote>`
}

/** Shows the hosts that the answers cite. Returns false if no answer cites any. */
function sourcesCard(measured: readonly [string, Engine][]): Html | false {
  const cited = measured.filter(([, { domains }]) => domains.length > 0)
  return (
    cited.length > 0 &&
    card(
      "Sources",
      html`<div class="inside">${cited.map(
        ([name, { domains, answers }]) =>
          html`<h3>${nameOf(name)}</h3><div class="spread">${domains.map(
            ({ domain, answers: count }) =>
              html`<span><bdi>${domain}</bdi></span>${shareBar(count / answers)}
<span class="small quiet">${count}</span>`,
          )}</div>`,
      )}</div>`,
      "Hosts that answers cite",
    )
  )
}

function checkCard({ check, next }: Visibility): Html | false {
  if (check === null && next === null) return false
  const dollars = (cents: number | null) => (cents === null ? "an unknown amount" : `$${(cents / 100).toFixed(2)}`)
  return card(
    "Checks",
    html`<div class="inside">${
      check &&
      html`<p>The last check, ${momentTime(check.startedAt)}: ${counted(check.answered, "answer")} of ${check.asked},
${check.failed} failed, ${dollars(check.cents)}.</p>`
    }${
      next &&
      html`<p class="quiet">A check now asks for ${counted(next.answers, "answer")}${
        next.shared > 0 && `, ${next.shared} of which are already stored`
      }, for about ${dollars(next.cents)}${next.basis === "assumed" && " (assumed)"}.</p>`
    }</div>`,
  )
}
