import { shareBar } from "../../charts/small.ts"
import { type Html, type HtmlPart, html } from "../../html.ts"
import { dayTime, momentTime } from "../../times.ts"
import { figure, percent, spoken } from "../../words.ts"

interface Money {
  amount: string
  currency: string
}

interface Metrics {
  impressions: number | null
  taps: number | null
  installs: number | null
  spend: Money | null
  ttr: number | null
  cpi: Money | null
}

interface Organic {
  rank: number | null
  measured: boolean
}

type Answer = Record<string, unknown>

/** What was spent where, each as a share of all that was spent in its currency. */
export function campaignsPart(answer: Answer): Html {
  const { campaigns, from, to } = answer as unknown as {
    campaigns: {
      name: string
      status: string
      countries: string[]
      budget: Money | null
      metrics: Metrics
      share: number | null
    }[]
    from: string
    to: string
  }
  return html`${span(from, to)}${metricTable(
    "Campaign",
    campaigns.map(({ name, status, countries, budget, metrics, share }) => ({
      name: html`<bdi>${name}</bdi> <span class="tag${status === "ENABLED" ? " good" : ""}">${spoken(status).toLowerCase()}</span> <span class="small quiet">${countries.map((country) => country.toUpperCase()).join(", ")}${budget && ` · ${moneyText(budget)} a day`}</span>`,
      metrics,
      share,
    })),
  )}`
}

/** Bought keywords by spend, each beside where the app stands unpaid. */
export function boughtPart(answer: Answer): Html {
  const { keywords, from, to } = answer as unknown as {
    keywords: { text: string; match: string; bid: Money | null; metrics: Metrics; organic: Organic | null }[]
    from: string
    to: string
  }
  const all = sumOf(keywords.map(({ metrics }) => metrics))
  return html`${span(from, to)}${metricTable(
    "Keyword",
    keywords.map(({ text, match, bid, metrics, organic }) => ({
      name: html`<bdi>${text}</bdi> <span class="tag">${match.toLowerCase()}</span>${bid && html` <span class="small quiet">bid ${moneyText(bid)}</span>`}`,
      metrics,
      share: shareOf(metrics, all),
      organic: organic ?? null,
    })),
  )}`
}

/** What people typed who saw an ad. */
export function typedPart(answer: Answer): Html {
  const { terms, undisclosedShare } = answer as unknown as {
    terms: { term: string | null; undisclosed: boolean; metrics: Metrics; organic: Organic | null }[]
    undisclosedShare: number | null
  }
  const all = sumOf(terms.map(({ metrics }) => metrics))
  return html`${metricTable(
    "Typed",
    terms.map(({ term, undisclosed, metrics, organic }) => ({
      name: undisclosed ? html`<span class="quiet">terms that few people typed</span>` : html`<bdi>${term}</bdi>`,
      metrics,
      share: shareOf(metrics, all),
      organic: organic ?? null,
    })),
  )}${undisclosedShare !== null && html`<p class="small quiet">${percent(undisclosedShare)} of the impressions are of terms that Apple does not disclose.</p>`}`
}

/** The store's own popularity of the keywords in question, 0 to 100; what is not listed is below what is. */
export function popularityPart(answer: Answer): Html {
  const { wanted, top, from, to } = answer as unknown as {
    wanted: {
      term: string
      below: number | null
      popularity: { overall100: number | null; rankInGenre: number | null } | null
    }[]
    top: { term: string; genre: string; overall100: number | null }[]
    from: string
    to: string
  }
  const row = (term: string, value: number | null, said: HtmlPart) =>
    html`<span><bdi>${term}</bdi></span>${value === null ? html`<span></span>` : shareBar(value / 100)}<span>${said}</span>`
  return html`${span(from, to)}<div class="spread">${wanted.map(({ term, below, popularity }) => row(term, popularity?.overall100 ?? null, popularity ? figure(popularity.overall100) : below === null ? figure(null) : `below ${below}`))}</div><h3>Most searched</h3><div class="spread">${top.map(({ term, genre, overall100 }) => row(term, overall100, html`${figure(overall100)} <span class="small quiet">${spoken(genre)}</span>`))}</div>`
}

/** What was changed in the account, newest first. */
export function commandsPart(answer: Answer): Html {
  const { commands } = answer as unknown as {
    commands: {
      at: string
      by: string
      event: string
      entity: string
      name: string | null
      changes: { field: string; from: string | null; to: string | null }[]
    }[]
  }
  if (commands.length === 0)
    return html`<p class="quiet">Nothing was changed in the days that the platform remembers.</p>`
  return html`<ul>${commands.map(({ at, by, event, entity, name, changes }) => html`<li><strong>${spoken(event)}</strong> of ${entity.toLowerCase()} <bdi>${name}</bdi>${changes.map(({ field, from, to }) => html`<br>${spoken(field)}: ${from !== null && html`<del>${from}</del> `}${to !== null ? html`<ins>${to}</ins>` : ""}`)}<br><span class="small quiet">${momentTime(at)}, ${spoken(by).toLowerCase()}</span></li>`)}</ul>`
}

interface MetricRow {
  name: Html
  metrics: Metrics
  share: number | null
  /** Left out where it has no place among the store's results. */
  organic?: Organic | null
}

function metricTable(first: string, rows: readonly MetricRow[]): Html {
  if (rows.length === 0) return html`<p class="quiet">None in these days.</p>`
  const hasOrganic = rows.some(({ organic }) => organic !== undefined)
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${first}"><table><thead><tr><th scope="col">${first}</th><th scope="col" class="num">Spend</th><th scope="col">Share of it</th><th scope="col" class="num">Taps</th><th scope="col" class="num">Taps of seen</th><th scope="col" class="num">Installs</th><th scope="col" class="num">An install</th>${hasOrganic && html`<th scope="col" class="num">Unpaid rank</th>`}</tr></thead>
<tbody>${rows.map(
    ({
      name,
      metrics,
      share,
      organic,
    }) => html`<tr><th scope="row">${name}</th><td class="num">${moneyText(metrics.spend)}</td><td>${share === null ? figure(null) : shareBar(share)}</td><td class="num">${figure(metrics.taps)}</td><td class="num">${metrics.ttr === null ? figure(null) : percent(metrics.ttr)}</td><td class="num">${figure(metrics.installs)}</td><td class="num">${moneyText(metrics.cpi)}</td>${hasOrganic && html`<td class="num">${rankText(organic)}</td>`}</tr>
`,
  )}</tbody></table></div>`
}

function rankText(organic: Organic | null | undefined): HtmlPart {
  if (!organic?.measured) return figure(null)
  return organic.rank ?? html`<span class="gone">absent</span>`
}

const moneyText = (money: Money | null) =>
  money === null ? figure(null) : `${Number(money.amount).toFixed(2)} ${money.currency}`
const span = (from: string, to: string) => html`<p class="small quiet">${dayTime(from)} to ${dayTime(to)}</p>`

/** Amounts of several currencies are never added: then nothing is a share. */
function sumOf(all: readonly Metrics[]): number | null {
  const spent = all.flatMap(({ spend }) => spend ?? [])
  const sum = spent.reduce((total, { amount }) => total + Number(amount), 0)
  return sum > 0 && new Set(spent.map(({ currency }) => currency)).size === 1 ? sum : null
}

const shareOf = ({ spend }: Metrics, all: number | null) =>
  all === null || spend === null ? null : Number(spend.amount) / all
