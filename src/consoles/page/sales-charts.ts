import type { AnswerOf } from "../../answers.ts"
import { addDays, dayNumber } from "../../lib/days.ts"
import type { View } from "../../ui/app/bar.ts"
import { type AppHead, attempted, isFault, type PageContext } from "../../ui/app/context.ts"
import { readMarks } from "../../ui/app/marks.ts"
import { type Chart, type ChartLine, shifted } from "../../ui/charts/chart.ts"
import { amounts, type RankPoint } from "../../ui/charts/scale.ts"
import { money, whole } from "../../ui/words.ts"

type Revenue = AnswerOf<"get_revenue">
type Day = Revenue["days"][number]

/**
 * Returns the arguments of a report. A selected period is passed as its length only, so that it ends with the latest
 * day that a console can have reported.
 */
export function reportDays({ days: { from, to }, period }: Pick<View, "days" | "period">) {
  const days = dayNumber(to) - dayNumber(from) + 1
  return period === null ? { days, to } : { days }
}

/**
 * Returns the charts of downloads and proceeds per day, with the compared period and the app's own changes. Proceeds
 * are shown in one currency, the first of the totals, because amounts in different currencies are never summed.
 */
export async function readSalesCharts(
  context: PageContext,
  app: AppHead,
  view: View,
  revenue: Revenue,
): Promise<Chart[]> {
  const { from, to } = revenue
  const reported = { ...view, days: { from, to } }
  const [other, marks] = await Promise.all([readCompared(context, app, reported), readMarks(context, app, reported)])
  const chart = (id: string, title: string, text: (amount: number) => string, amountOf: (day: Day) => number) => {
    const line: ChartLine = { name: title, points: pointsOf(revenue.days, amountOf) }
    const compared = other && shifted(pointsOf(other.days, amountOf), other.step)
    const dashed: ChartLine[] =
      compared && compared.length > 0 ? [{ name: other!.name, points: compared, colour: 1, isCompared: true }] : []
    return { id, title, from, to, unit: amounts(text, { none: "not reported" }), lines: [line, ...dashed], marks }
  }
  const downloads = chart("downloads", "Downloads per day", whole, ({ downloads }) => downloads ?? 0)
  const currency = revenue.totals.proceeds?.[0]?.currency
  if (currency === undefined) return [downloads]
  const amountIn = ({ proceeds }: Day) => Number(proceeds?.find((amount) => amount.currency === currency)?.amount ?? 0)
  const text = (amount: number) => money(amount, currency)
  return [downloads, chart("proceeds", `Proceeds per day, ${currency}`, text, amountIn)]
}

const pointsOf = (days: readonly Day[], amountOf: (day: Day) => number) =>
  days.map((day): RankPoint => [day.day, day.reported ? amountOf(day) : null])

/** Returns the days to compare with. Null if nothing is compared. */
async function readCompared(
  context: PageContext,
  app: AppHead,
  { side: { platform }, days: { from, to }, versus }: Pick<View, "side" | "days" | "versus">,
): Promise<{ name: string; days: readonly Day[]; step: number } | null> {
  if (versus === null || versus.kind === "rival") return null
  const length = dayNumber(to) - dayNumber(from) + 1
  const isBefore = versus.kind === "before"
  const place = isBefore ? { to: addDays(from, -1) } : { to, country: versus.side.country }
  const answer = await attempted(context.ask("get_revenue", { appId: app.id, platform, days: length, ...place }))
  if (isFault(answer)) return null
  const last = isBefore ? place.to : to
  const days = answer.days.filter(({ day }) => addDays(last, -length) < day && day <= last)
  return { name: versus.name, days, step: isBefore ? length : 0 }
}
