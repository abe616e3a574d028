import type { AnswerOf } from "../../answers.ts"
import type { Fault } from "../../lib/faults.ts"
import { isFault, type PageContext } from "../../ui/app/context.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, money, percent, whole } from "../../ui/words.ts"
import { missingPart } from "./frame.ts"

type Estimated = AnswerOf<"hive_estimate_app">
type Estimate = NonNullable<Estimated["downloads"]>

/** Renders the estimated downloads and revenue of an app, each with its interval, and how they were derived. */
export function estimateCard(context: PageContext, answer: Estimated | Fault): Html {
  const title = "Downloads and revenue, estimated"
  if (isFault(answer))
    return card(title, missingPart(context, answer, { title: "There is no estimate yet", credits: 0 }))
  const { downloads, revenue, growth, eta, level } = answer
  if (downloads === null && revenue === null)
    return card(
      title,
      empty(
        "There is no estimate yet",
        eta === undefined
          ? "An estimate needs two counts of ratings at least a day apart."
          : `The store is being read. An estimate is expected in ${waitText(eta)}.`,
      ),
    )
  return card(
    title,
    html`<div class="inside"><dl class="facts"><div><dt>Downloads a month</dt><dd>${estimateText(downloads, whole)}</dd>
</div><div><dt>Revenue a month</dt><dd>${estimateText(revenue, dollars)}</dd></div>${
      growth &&
      html`<div><dt>Growth in 30 days</dt><dd><span class="${growth.percent < 0 ? "down" : "up"}">${signed(
        growth.percent,
      )} %</span> <span class="small quiet">${signed(growth.low)} to ${signed(growth.high)} %</span></dd></div>`
    }</dl><details><summary>How this was derived</summary>${derivation(answer)}</details></div>`,
    html`${percent(level)} intervals`,
  )
}

export const dollars = (amount: number) => money(Math.round(amount), "USD").replace(/\.00$/, "")
const signed = (value: number) => `${value > 0 ? "+" : ""}${value}`

function waitText(seconds: number): string {
  if (seconds < 120) return counted(seconds, "second")
  if (seconds < 7_200) return counted(Math.ceil(seconds / 60), "minute")
  return counted(Math.ceil(seconds / 3_600), "hour")
}

/**
 * Formats an estimate: "3,780–91,500, most likely 18,600", "under 1,000", or a dash. An estimate is never shown without
 * its interval.
 */
export function estimateText(estimate: Estimate | null | undefined, written: (amount: number) => string): Html {
  if (!estimate) return html`<span class="quiet" title="too little is known">–</span>`
  const { value, low, high, under } = estimate
  if (value === null)
    return under === null
      ? html`<span class="quiet" title="too little is known">–</span>`
      : html`under ${written(under)}`
  if (low === null || high === null) return html`${written(value)}`
  return html`<strong>${written(value)}</strong> <span class="small quiet">${written(low)} to ${written(high)}</span>`
}

const BASIS = {
  measured: "Google Play's own count of installs, compared between two days.",
  own: "Ratings gained, times the downloads per rating of your own app.",
  genre: "Ratings gained, times the downloads per rating of your own apps in this category.",
  prior: "Ratings gained, times the downloads per rating that is typical of the store.",
} as const

function derivation({ basis, revenueBasis, markets, days, day, backTest, graded, pairs, coverage, madeAt }: Estimated) {
  const lines = [
    basis && html`Downloads: ${BASIS[basis]}`,
    revenueBasis === "own" && "Revenue: ranks on the grossing chart, calibrated with your own sales.",
    revenueBasis === "prior" && "Revenue: ranks on the grossing chart, or downloads times price, with typical figures.",
    day &&
      html`From counts of ${counted(markets, "storefront")}, the newest of ${dayTime(day)}${
        days !== null && `, ${counted(days, "day")} after the one before`
      }. Other storefronts are not included.`,
    pairs === 0 && "The App Store publishes no true values, so the width comes from typical figures.",
    coverage !== null &&
      html`Of ${counted(pairs ?? 0, "known true value")}, ${percent(coverage)} lay within their intervals.`,
    backTest &&
      html`Tested on ${counted(backTest.n, "app")} of Google Play (${backTest.month}): median error
${backTest.medianError} %, ${percent(backTest.coverage)} within the interval.`,
    graded &&
      html`Last month (${graded.month}) on ${counted(graded.n, "app")} read here: median error ${graded.medianError} %,
${percent(graded.coverage)} within the interval, ${percent(graded.withinTwo)} within a factor of two.`,
    madeAt && html`Calculated ${dayTime(madeAt.slice(0, 10))}.`,
  ]
  return html`<ul>${lines.filter(Boolean).map((line) => html`<li class="small">${line}</li>`)}</ul>`
}
