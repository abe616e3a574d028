import type { AnswerOf } from "../../answers.ts"
import { addDays, type Days, later } from "../../lib/days.ts"
import { stepOf, type View } from "../../ui/app/bar.ts"
import { type AppHead, attempted, isFault, type PageContext } from "../../ui/app/context.ts"
import { readMarks } from "../../ui/app/marks.ts"
import { type Chart, type ChartLine, shifted } from "../../ui/charts/chart.ts"
import { amounts, type RankPoint } from "../../ui/charts/scale.ts"
import { counted } from "../../ui/words.ts"

type ReviewDay = AnswerOf<"get_review_stats">["byDay"][number]

/** Number of days over which an average is computed. A single day has too few reviews. */
const WINDOW = 7

/**
 * Returns for each day of the chart the average stars of the days up to it, with a note about the number of reviews.
 */
function ratingLine(
  byDay: readonly ReviewDay[],
  { from, to }: Days,
): Pick<ChartLine, "points" | "notes" | "currentValue"> {
  const points: RankPoint[] = []
  const notes = new Map<string, string>()
  for (const [at, { day }] of byDay.entries()) {
    if (day < from || day > to) continue
    const days = byDay.slice(Math.max(0, at + 1 - WINDOW), at + 1)
    const count = days.reduce((sum, { count }) => sum + (count ?? 0), 0)
    const stars = days.reduce((sum, { count, average }) => sum + (count ?? 0) * (average ?? 0), 0)
    const isWhole = days.length === WINDOW && days.every(({ covered }) => covered)
    // if reviews of the window may be missing and none is stored, the day is left unmeasured
    if (count === 0 && !isWhole) continue
    points.push([day, count > 0 ? Math.round((100 * stars) / count) / 100 : null])
    if (count > 0) notes.set(day, `${isWhole ? "" : "at least "}${counted(count, "review")}`)
  }
  const last = points.findLast(([, stars]) => stars !== null)
  return { points, notes, ...(last && { currentValue: starsText(last[1] as number) }) }
}

/** Returns the chart of the rating over time, with a compared period or side, and with the app's own changes. */
export async function readRatingChart(
  context: PageContext,
  app: AppHead,
  view: View,
  byDay: readonly ReviewDay[],
): Promise<Chart> {
  const { side, days, versus } = view
  const daysOf = async (place: object, { from, to }: Days): Promise<readonly ReviewDay[]> => {
    const answer = await attempted(context.ask("get_review_stats", { appId: app.id, ...side, ...place, from, to }))
    // in the sandbox, the answer is the same for every requested period
    return isFault(answer) ? [] : answer.byDay.filter(({ day }) => from <= day && day <= to)
  }
  const isBefore = versus?.kind === "before"
  const begin = addDays(isBefore ? versus.days.from : days.from, 1 - WINDOW)
  const [earlier, elsewhere, marks] = await Promise.all([
    daysOf({}, { from: begin, to: addDays(days.from, -1) }),
    versus?.kind === "side" ? daysOf(versus.side, { from: begin, to: days.to }) : [],
    readMarks(context, app, view),
  ])
  const whole = [...earlier, ...byDay.filter(({ day }) => day >= days.from)]
  const lines: ChartLine[] = [{ name: "Average stars", ...ratingLine(whole, days) }]
  const compared = isBefore ? ratingLine(whole, versus.days) : versus && ratingLine(elsewhere, days)
  if (compared && compared.points.length > 0) lines.push(comparedLine(compared, view))
  return {
    id: "rating",
    title: "Average stars of the seven days up to each day",
    from: later(days.from, whole[0]?.day ?? days.from),
    to: days.to,
    unit: amounts(starsText, { none: "no reviews", lowest: 1, highest: 5 }),
    lines,
    marks,
  }
}

function comparedLine({ points, notes, currentValue }: ReturnType<typeof ratingLine>, view: View): ChartLine {
  const step = stepOf(view)
  return {
    name: view.versus!.name,
    points: shifted(points, step),
    notes: new Map([...notes!].map(([day, note]) => [addDays(day, step), note])),
    ...(currentValue !== undefined && { currentValue }),
    colour: 1,
    isCompared: true,
  }
}

const starsText = (stars: number) => `${stars.toFixed(2)} ★`
