import type { AnswerOf } from "../../answers.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, figure, money, spoken, whole } from "../../ui/words.ts"

type Pricing = AnswerOf<"get_pricing">
type Listed = NonNullable<Pricing["listed"]>[number]
type Paid = NonNullable<Pricing["paid"]>[number]
type Offered = NonNullable<Pricing["offered"]>[number]

const MAX_ROWS = 60

/** Returns the listed prices, the prices that were paid, and the offers, each as a table. */
export function pricesPart({ listed, paid, offered, offers, from, to }: Pricing): Html {
  return html`<p class="small quiet">${dayTime(from)} to ${dayTime(to)}</p>
<h3>Listed prices</h3>${
    listed === null
      ? html`<p class="quiet">No console is connected that lists prices.</p>`
      : table(["Product", "Storefront", "Price", "You get", "Since"], listed.map(listedRow))
  }<h3>What was paid</h3>${
    paid === null
      ? html`<p class="quiet">No billing service reports purchases. Connect one to see what was paid per price.</p>`
      : table(["Product", "Storefront", "Price", "Payments", "Refunds", "Revenue"], paid.flatMap(paidRows))
  }${
    offered !== null &&
    offered.length > 0 &&
    html`<h3>Offers</h3>${table(["Offer", "Product", "Terms", "Used"], offered.map(offeredRow))}`
  }${
    offers !== null &&
    offers.length > 0 &&
    html`<p class="small quiet">Used for payments: ${offers
      .map(({ offer, redemptions }) => `${offer ?? "no name"} (${whole(redemptions)})`)
      .join(", ")}</p>`
  }`
}

type Row = [name: HtmlPart, ...cells: HtmlPart[]]

function listedRow({ name, product, country, price, proceeds, from, sinceKnown, automatic }: Listed): Row {
  return [
    html`<bdi>${name || product}</bdi>`,
    storefrontName(country),
    price === null
      ? html`<span class="gone">not sold</span>`
      : html`${money(price.amount, price.currency)}${automatic && html` <span class="small quiet">automatic</span>`}`,
    price !== null && proceeds !== null ? money(proceeds, price.currency) : figure(null),
    html`${!sinceKnown && "at latest "}${dayTime(from)}`,
  ]
}

function paidRows({ product, country, prices }: Paid): Row[] {
  return prices.map(({ price, sales, refunds, revenue }) => [
    html`<bdi>${product}</bdi>`,
    country === null ? "unknown" : storefrontName(country),
    money(price.amount, price.currency),
    whole(sales),
    whole(refunds),
    money(revenue, price.currency),
  ])
}

function offeredRow({ product, kind, name, mode, duration, periods, codes, redemptions, active }: Offered): Row {
  const terms = [mode && spoken(mode), duration && spoken(duration).toLowerCase(), periods && `${periods} ×`]
  return [
    html`<bdi>${name ?? spoken(kind)}</bdi> <span class="tag">${spoken(kind).toLowerCase()}</span>${
      active === false && html` <span class="tag">ended</span>`
    }`,
    html`<bdi>${product}</bdi>`,
    html`${terms.filter(Boolean).join(", ")}${codes !== null && html`, ${counted(codes, "code")}`}`,
    figure(redemptions),
  ]
}

/** Returns a table whose first column names the row. Figures are aligned right. */
function table(names: readonly string[], rows: readonly Row[]): Html {
  if (rows.length === 0) return html`<p class="quiet">None in these days.</p>`
  const isText = (name: string) => TEXTS.has(name)
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${names[0]}"><table><thead>
<tr>${names.map((name) => html`<th scope="col"${!isText(name) && html` class="num"`}>${name}</th>`)}</tr></thead>
<tbody>${rows.slice(0, MAX_ROWS).map(
    ([first, ...cells]) => html`<tr><th scope="row">${first}</th>${cells.map(
      (cell, at) => html`<td${!isText(names[at + 1] as string) && html` class="num"`}>${cell}</td>`,
    )}</tr>
`,
  )}</tbody></table></div>${
    rows.length > MAX_ROWS && html`<p class="small quiet">And ${rows.length - MAX_ROWS} more.</p>`
  }`
}

const TEXTS = new Set(["Product", "Storefront", "Offer", "Terms"])
