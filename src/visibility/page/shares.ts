import type { AnswerOf } from "../../answers.ts"
import { addDays, type Days, earlier } from "../../lib/days.ts"
import { stepOf, type View } from "../../ui/app/bar.ts"
import { chartPart } from "../../ui/app/chart.ts"
import { type AppHead, attempted, isFault, type PageContext } from "../../ui/app/context.ts"
import { readMarks } from "../../ui/app/marks.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type Chart, type ChartLine, MAX_LINES, shifted } from "../../ui/charts/chart.ts"
import { amounts } from "../../ui/charts/scale.ts"
import { type Html, html } from "../../ui/html.ts"
import { percent, spoken } from "../../ui/words.ts"

type Check = AnswerOf<"list_ai_shares">["checks"][number]

/** Maximum number of days between two checks that a line of the chart connects. Checks are rare. */
const MAX_STEP = 92
/** Minimum number of days that the chart covers, so that a few checks have some days around them. */
const MIN_DAYS = 30

/**
 * Returns the chart of the share of answers that name the app: a line per assistant and model, with the interval of
 * each check. Null if there is no check in the period.
 */
export async function readSharesChart(context: PageContext, app: AppHead, view: View): Promise<Chart | null> {
  const { side, days, versus } = view
  const checksIn = async (country: string) => {
    const answer = await attempted(context.ask("list_ai_shares", { appId: app.id, country }))
    return isFault(answer) ? [] : answer.checks
  }
  const [checks, elsewhere, marks] = await Promise.all([
    checksIn(side.country),
    versus?.kind === "side" ? checksIn(versus.side.country) : [],
    readMarks(context, app, view),
  ])
  const lines = linesOf(checks, days)
  const first = lines
    .flatMap(({ points }) => points.map(([day]) => day))
    .sort()
    .at(0)
  if (first === undefined) return null
  const compared = versus?.kind === "before" ? linesOf(checks, versus.days, stepOf(view)) : linesOf(elsewhere, days)
  const dashed = compared.map((line) => {
    const colour = lines.findIndex(({ name }) => name === line.name)
    return { ...line, name: `${line.name}, ${versus!.name}`, ...(colour >= 0 && { colour }), isCompared: true }
  })
  const from = view.period === null || versus !== null ? days.from : earlier(first, addDays(days.to, 1 - MIN_DAYS))
  return {
    id: "shares",
    title: "Share of answers that name you, per check",
    from,
    to: days.to,
    unit: amounts(percent, { highest: 1 }),
    lines: [...lines, ...dashed].slice(0, MAX_LINES),
    marks: marks.filter(({ day }) => day >= from),
  }
}

function linesOf(checks: readonly Check[], { from, to }: Days, step = 0): ChartLine[] {
  const inDays = checks.filter(({ day }) => from <= day && day <= to)
  const groups = Map.groupBy(inDays, ({ engine, model }) => `${nameOf(engine)} ${model}`)
  return [...groups].map(([name, list]) => {
    const last = list.at(-1)!
    return {
      name,
      currentValue: percent(last.named / last.of),
      points: shifted(
        list.map(({ day, named, of }) => [day, named / of]),
        step,
      ),
      ranges: list.flatMap(({ day, low, high }) => {
        return low === null || high === null ? [] : [[addDays(day, step), low, high] as const]
      }),
      notes: new Map(list.map((check) => [addDays(check.day, step), noteOf(check)])),
      maxStep: MAX_STEP,
    }
  })
}

function noteOf({ named, of, low, high }: Check): string {
  const interval = low !== null && high !== null ? `, 95 % interval ${percent(low)} to ${percent(high)}` : ""
  return `${named} of ${of} answers${interval}`
}

export function sharesCard(context: PageContext, chart: Chart | null): Html {
  if (chart === null)
    return card("Share over time", empty("No check in these days", "Choose a longer period, or start a check."))
  return card(
    "Share over time",
    html`<div class="inside">${chartPart(context, chart)}</div>`,
    "Per check, with intervals",
  )
}

const nameOf = (engine: string) => (engine === "openai" ? "OpenAI" : spoken(engine))
