import type { AnswerOf } from "../../answers.ts"
import { addDays, dayNumber } from "../../lib/days.ts"
import { type View, viewAt, viewBar } from "../../ui/app/bar.ts"
import { chartPart } from "../../ui/app/chart.ts"
import {
  type AppHead,
  address,
  appAddress,
  attempted,
  isFault,
  type Page,
  type PageContext,
  readHead,
  type Side,
  sideCode,
  sidesOf,
} from "../../ui/app/context.ts"
import { readMarks } from "../../ui/app/marks.ts"
import { card, empty, refusedPart, samplePage, tiles } from "../../ui/app/parts.ts"
import type { Chart, ChartLine } from "../../ui/charts/chart.ts"
import { amounts, type RankPoint } from "../../ui/charts/scale.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted, sideName } from "../../ui/words.ts"

type Visibility = AnswerOf<"get_visibility">

/** Maximum number of storefronts in the table that compares scores. */
const MAX_SIDES = 12

const points = (score: number) => `${score.toFixed(1)} %`

/** Shows the visibility score: its history, its formula, and the scores of the other storefronts. */
export async function visibilityPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const view = viewAt(context, app)
  const sides = [view.side, ...sidesOf(app).filter((side) => sideCode(side) !== sideCode(view.side))]
    .filter(({ platform }) => platform === "ios")
    .slice(0, MAX_SIDES)
  const bar = viewBar(context, app, view, { compares: { rivals: [] } })
  const page = (body: Html): Page => ({ title: `Visibility · ${app.name}`, app, at: "", body: html`${bar}${body}` })
  if (view.side.platform === "android") return page(html`<section class="card">${playPart()}</section>`)
  const length = dayNumber(view.days.to) - dayNumber(view.days.from) + 1
  const before = { from: addDays(view.days.from, -length), to: addDays(view.days.from, -1) }
  // the request for the first side covers the earlier period too
  const read = (side: Side, at: number) =>
    context.ask("get_visibility", { appId, ...side, ...view.days, ...(at === 0 && { from: before.from }) })
  const answers = await attempted(Promise.all(sides.map(read)))
  if (isFault(answers)) return page(card("Visibility score", refusedPart(answers)))
  const [whole] = answers as [Visibility, ...Visibility[]]
  const periods = answers.map((answer) => within(answer, view.days))
  const [current] = periods as [Visibility, ...Visibility[]]
  const earlier = later(within(whole, before), length)
  const marks = await readMarks(context, app, view)
  if (current.days.length === 0) return page(html`<section class="card">${nothingPart(context, current)}</section>`)
  const lines = [lineOf(current, sideName(current)), ...comparedLines(view, { before: earlier, answers: periods })]
  const chart: Chart = {
    id: "visibility",
    title: "Visibility score",
    ...view.days,
    unit: amounts(points),
    lines,
    marks,
  }
  return {
    ...page(
      html`${totals(current, earlier)}${card(
        "Visibility score",
        html`<div class="inside">${chartPart(context, chart)}</div>${formulaPart(current)}`,
        sideName(current),
      )}${sidesPart(context, app, periods)}`,
    ),
    charts: [chart],
  }
}

function within(answer: Visibility, { from, to }: View["days"]): Visibility {
  return { ...answer, days: answer.days.filter(([day]) => from <= day && day <= to) }
}

/** Moves the days of an earlier period by `by` days, so that it is drawn over the period that it is compared with. */
function later(answer: Visibility, by: number): Visibility {
  return { ...answer, days: answer.days.map(([day, ...rest]) => [addDays(day, by), ...rest]) }
}

function lineOf({ days }: Visibility, name: string): ChartLine {
  const last = days.at(-1)
  return {
    name,
    ...(last && { currentValue: points(last[1]) }),
    points: days.map(([day, score]): RankPoint => [day, score]),
  }
}

function comparedLines(
  { versus }: View,
  { before, answers }: { before: Visibility; answers: readonly Visibility[] },
): ChartLine[] {
  const compared =
    versus?.kind === "before"
      ? before
      : versus?.kind === "side" && answers.find((answer) => sideCode(answer) === sideCode(versus.side))
  if (!compared || compared.days.length === 0) return []
  return [{ ...lineOf(compared, versus!.name), colour: 1, isCompared: true }]
}

const mean = ({ days }: Visibility) => days.reduce((sum, [, score]) => sum + score, 0) / days.length

function totals(current: Visibility, before: Visibility): Html {
  const [day, score, keywords] = current.days.at(-1)!
  const change = before.days.length > 0 ? mean(current) - mean(before) : null
  const sign = change !== null && change < 0 ? "▼" : "▲"
  return tiles([
    { name: "Visibility", value: points(score), note: dayTime(day, shortDay) },
    { name: "Average", value: points(mean(current)), note: `over ${counted(current.days.length, "day")}` },
    {
      name: "Against the period before",
      value:
        change === null
          ? "–"
          : html`<span class="${change < 0 ? "down" : "up"}">${sign} ${Math.abs(change).toFixed(1)}</span>`,
      note: change === null ? "not measured" : "points",
    },
    { name: "Keywords", value: keywords, note: `of ${current.weighed} with a popularity` },
  ])
}

function formulaPart({ days, tracked, weighed }: Visibility): Html {
  const unknown = tracked - weighed
  return html`<details class="inside" open=""><summary>How the score is calculated</summary>
<p class="small">Score of a day = 100 × Σ popularity × points ÷ (10 × Σ popularity). A rank of 1 has 10 points, 2 has 9,
… 10 has 1; a lower rank or an absence has none. So 100 % is rank 1 for every keyword.</p>
<p class="small">The popularity is Apple's published figure or, where there is none, the middle of our estimated band,
as known now; both are on Apple's scale. Both sums run over the tracked keywords that were measured that day. A day on
which less than half of the popularity was measured has no score.</p>
<p class="small">Here: ${counted(weighed, "keyword")} of ${tracked} tracked, ${counted(days.length, "day")} with a
score.${
    unknown > 0 &&
    ` ${counted(unknown, "keyword")} ${unknown === 1 ? "has" : "have"} no known popularity and
${unknown === 1 ? "is" : "are"} left out.`
  }</p></details>`
}

function sidesPart(context: PageContext, app: AppHead, answers: readonly Visibility[]): Html | false {
  if (answers.length < 2) return false
  const rows = answers.map((answer) => {
    const last = answer.days.at(-1)
    const link = address(appAddress(context, app, "visibility"), { at: sideCode(answer) })
    return html`<tr><th scope="row"><a href="${link}">${sideName(answer)}</a></th>
<td class="num">${last ? points(last[1]) : "–"}</td><td class="num">${last ? points(mean(answer)) : "–"}</td>
<td class="num">${answer.weighed} of ${answer.tracked}</td><td class="num">${answer.days.length}</td></tr>
`
  })
  return card(
    "By storefront",
    html`<div class="scroll" tabindex="0" role="group" aria-label="Visibility by storefront"><table><thead>
<tr><th scope="col">Storefront</th><th scope="col" class="num">Latest</th><th scope="col" class="num">Average</th>
<th scope="col" class="num">Keywords weighed</th><th scope="col" class="num">Days</th></tr></thead>
<tbody>${rows}</tbody></table></div>`,
    "Same days and formula; a dash means that no day was measured",
  )
}

function nothingPart(context: PageContext, { tracked, weighed }: Visibility): Html {
  if (weighed === 0)
    return empty(
      "No keyword has a popularity yet",
      `The score weighs ranks by popularity. You track ${counted(tracked, "keyword")} here. The popularity comes ` +
        "some minutes after the first rank: from Apple's report, or estimated from suggestions and ratings.",
      samplePage(context, "visibility"),
    )
  return empty(
    "Too little was measured in this period",
    "A day has a score once half of the popularity of the tracked keywords was measured. Choose a longer period.",
    samplePage(context, "visibility"),
  )
}

function playPart(): Html {
  return empty(
    "There is no score for Google Play",
    "The score weighs ranks by popularity, and Google Play publishes none. Choose a storefront of the App Store.",
  )
}
