import type { AnswerOf } from "../../answers.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { shareBar } from "../../ui/charts/small.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted, figure, money, percent, spoken } from "../../ui/words.ts"

type Money = NonNullable<Metrics["spend"]>
type Metrics = AnswerOf<"list_ads_keywords">["keywords"][number]["metrics"]
type Organic = NonNullable<AnswerOf<"list_ads_keywords">["keywords"][number]["organic"]>

type Command = AnswerOf<"list_ads_commands">["commands"][number]

/** Returns the spend by campaign, with each campaign's share of the total in its currency. */
export function campaignsPart({ campaigns, from, to }: AnswerOf<"list_campaigns">): Html {
  return html`${span(from, to)}${metricTable(
    "Campaign",
    campaigns.map(({ name, status, countries, budget, metrics, share }) => ({
      name: html`<bdi>${name}</bdi> <span class="tag${
        status === "ENABLED" ? " good" : ""
      }">${spoken(status).toLowerCase()}</span> <span class="small quiet">${countries.map(storefrontName).join(", ")}${
        budget && ` · ${moneyText(budget)} a day`
      }</span>`,
      metrics,
      share,
    })),
  )}`
}

/** Returns the keywords with bids, by spend, with the app's organic ranks. */
export function boughtPart({ keywords, from, to }: AnswerOf<"list_ads_keywords">): Html {
  const all = sumOf(keywords.map(({ metrics }) => metrics))
  return html`${span(from, to)}${metricTable(
    "Keyword",
    keywords.map(({ text, match, bid, metrics, organic }) => ({
      name: html`<bdi>${text}</bdi> ${match && html`<span class="tag">${match.toLowerCase()}</span>`}${
        bid && html` <span class="small quiet">bid ${moneyText(bid)}</span>`
      }`,
      metrics,
      share: shareOf(metrics, all),
      organic: organic ?? null,
    })),
  )}`
}

/** Returns the search terms of people who saw an ad. */
export function typedPart({ terms, undisclosedShare }: AnswerOf<"list_ads_search_terms">): Html {
  const all = sumOf(terms.map(({ metrics }) => metrics))
  const disclosed = terms.filter(({ undisclosed }) => !undisclosed)
  return html`${metricTable(
    "Search term",
    disclosed.map(({ term, metrics, organic }) => ({
      name: html`<bdi>${term}</bdi>`,
      metrics,
      share: shareOf(metrics, all),
      organic: organic ?? null,
    })),
  )}${undisclosedPart(terms.filter(({ undisclosed }) => undisclosed).map(({ metrics }) => metrics))}${
    undisclosedShare !== null &&
    html`<p class="small quiet">
${percent(undisclosedShare)} of the spend is for search terms that Apple does not disclose.</p>`
  }`
}

/** Sums up in one line the terms that Apple withholds because few people used them. */
function undisclosedPart(rows: readonly Metrics[]): Html | false {
  const spent = sumOf(rows)
  const installs = rows.reduce((sum, row) => sum + (row.installs ?? 0), 0)
  const currency = rows.find(({ spend }) => spend !== null)?.spend?.currency
  if (rows.length === 0 || spent === null || currency === undefined) return false
  const each = installs > 0 && html`, ${money(spent / installs, currency)} each`
  return html`<p class="small quiet">Terms that few people used, without their words: ${money(spent, currency)} for
${counted(installs, "install")}${each}.</p>`
}

/**
 * Returns the store's own popularity of the requested keywords, 0 to 100. A keyword that is not listed is less popular
 * than the listed ones.
 */
export function popularityPart({ wanted, top, from, to }: AnswerOf<"get_search_popularity">): Html {
  const row = (term: string, value: number | null, valueText: HtmlPart) =>
    html`<span><bdi>${term}</bdi></span>${
      value === null ? html`<span></span>` : shareBar(value / 100)
    }<span>${valueText}</span>`
  return html`${span(from, to)}
<div class="spread">${wanted.map(({ term, below, popularity }) =>
    row(
      term,
      popularity?.overall100 ?? null,
      popularity ? figure(popularity.overall100) : below === null ? figure(null) : `below ${below}`,
    ),
  )}</div><h3>Most searched</h3><div class="spread">
${top.map(({ term, genre, overall100 }) =>
  row(term, overall100, html`${figure(overall100)} <span class="small quiet">${spoken(genre)}</span>`),
)}</div>`
}

/** Returns the changes in the account, newest first. */
export function commandsPart({ commands }: AnswerOf<"list_ads_commands">): Html {
  if (commands.length === 0) return html`<p class="quiet">No changes in the days that the platform keeps.</p>`
  return html`<ul>${commands.map(commandItem)}</ul>`
}

function commandItem({ at, by, event, entity, name, changes }: Command): Html {
  const what = event === null ? "Sent, but not in the platform's history yet" : spoken(event)
  const fields = changes.map(({ field, from, to }) => {
    const previous = from !== null && html`<del>${valueText(from)}</del> `
    return html`<br>${spoken(field)}: ${previous}${to !== null && html`<ins>${valueText(to)}</ins>`}`
  })
  const who = spoken(by).toLowerCase()
  return html`<li><strong>${what}</strong> · ${entity.toLowerCase()} <bdi>${name}</bdi>${fields}<br>${html`<span
  class="small quiet">${momentTime(at)}, ${who}</span></li>`}`
}

/** Converts codes of the platform, such as "ENABLED", to words. */
const valueText = (value: string) => (/^[A-Z]+(?:_[A-Z]+)*$/.test(value) ? spoken(value).toLowerCase() : value)

interface MetricRow {
  name: Html
  /** Null if no day of the row is reported. */
  metrics: Metrics | null
  share: number | null
  /** The rank in the store's own results. Omitted for rows that have none, such as campaigns. */
  organic?: Organic | null
}

function metricTable(first: string, rows: readonly MetricRow[]): Html {
  if (rows.length === 0) return html`<p class="quiet">None in these days.</p>`
  const hasOrganic = rows.some(({ organic }) => organic !== undefined)
  const number = (name: string) => html`<th scope="col" class="num">${name}</th>`
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${first}"><table><thead>
<tr>${html`<th scope="col">${first}</th>${number("Spend")}<th scope="col">Share of spend</th>
${number("Taps")}`}${number(
    "Tap-through rate",
  )}${number("Installs")}${number("Cost per install")}${hasOrganic && number("Organic rank")}</tr></thead>
<tbody>${rows.map((row) => metricRow(row, hasOrganic))}</tbody></table></div>`
}

function metricRow({ name, metrics, share, organic }: MetricRow, hasOrganic: boolean): Html {
  const cell = (value: HtmlPart) => html`<td class="num">${value}</td>`
  const { spend = null, taps = null, ttr = null, installs = null, cpi = null } = metrics ?? {}
  return html`<tr><th scope="row">${name}</th>${cell(moneyText(spend))}<td>${
    share === null ? figure(null) : shareBar(share)
  }</td>${cell(figure(taps))}${cell(ttr === null ? figure(null) : percent(ttr))}${cell(figure(installs))}${cell(
    moneyText(cpi),
  )}${hasOrganic && cell(rankText(organic))}</tr>
`
}

function rankText(organic: Organic | null | undefined): HtmlPart {
  if (!organic?.measured) return figure(null)
  return organic.rank ?? html`<span class="gone">absent</span>`
}

const moneyText = (value: Money | null) => (value === null ? figure(null) : money(value.amount, value.currency))
const span = (from: string, to: string) => html`<p class="small quiet">${dayTime(from)} to ${dayTime(to)}</p>`

/**
 * Returns the sum of the spend. Null if there are several currencies, because amounts in different currencies are never
 * summed.
 */
function sumOf(all: readonly Metrics[]): number | null {
  const spent = all.flatMap(({ spend }) => spend ?? [])
  const sum = spent.reduce((total, { amount }) => total + Number(amount), 0)
  return sum > 0 && new Set(spent.map(({ currency }) => currency)).size === 1 ? sum : null
}

const shareOf = ({ spend }: Metrics, all: number | null) =>
  all === null || spend === null ? null : Number(spend.amount) / all
