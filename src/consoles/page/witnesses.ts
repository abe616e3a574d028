import type { AnswerOf } from "../../answers.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted, figure, percent, spoken } from "../../ui/words.ts"

type WitnessSums = Reconciliation["products"][number]["console"]
type Reconciliation = NonNullable<AnswerOf<"get_revenue">["reconciliation"]>
type EventReconciliation = NonNullable<AnswerOf<"get_subscriptions">["reconciliation"]>
type BillingFigures = NonNullable<AnswerOf<"get_revenue">["billing"]>

/**
 * Compares the console's and a billing service's figures for the same purchases: the explained and the unexplained
 * difference.
 */
export function witnessesPart(
  { reconciliation, billing }: { reconciliation: Reconciliation | null; billing: BillingFigures | null },
  events: EventReconciliation | null,
): Html {
  if (reconciliation === null)
    return card(
      "Two witnesses",
      html`${empty(
        "Nobody tells of the same purchases beside the console",
        "A billing service, or the App Store itself, tells of each purchase when it happens. Then both stand here side by side: how far they differ, what explains it, and what is left unexplained.",
        { command: "appmeter account add --help" },
      )}${billing && html`<div class="inside">${billingPart(billing)}</div>`}`,
    )
  const { with: witness, products, productsOmitted, days, otherCountry } = reconciliation
  return card(
    "Two witnesses",
    html`<div class="inside"><p>The same purchases as the console and as <strong>${spoken(witness.kind)}</strong> tell them. Neither is corrected: the console counts money once a day of its own zone, the service counts what just happened.</p>${billing && billingPart(billing)}</div>
${productTable(products)}${events && events.events.length > 0 && eventTable(events.events)}<details><summary>${counted(days.length, "day")} side by side</summary>${dayTable(days)}</details>
<div class="inside"><p class="small quiet">Told since ${momentTime(witness.since)}, last ${momentTime(witness.asOf)}; messages that were lost cannot be seen. Not counted: ${counted(witness.sandbox, "message")} of tests, ${witness.otherStores} of other stores, ${witness.unknownTypes} of a type that counts as nothing here.${productsOmitted > 0 && ` ${counted(productsOmitted, "more product")} not listed.`}${otherCountry > 0 && ` ${counted(otherCountry, "unit")} stand in another country there; totals are not touched.`}</p></div>`,
    html`<span class="tag${witness.state === "ok" ? " good" : " warn"}">${witness.state}</span>`,
  )
}

function billingPart({ kind, state, why, asOf, mrr, activeSubscriptions, activeTrials }: BillingFigures): Html {
  return html`<h3>As ${spoken(kind)} counts them</h3><dl class="facts"><div><dt>Monthly recurring</dt><dd>${mrr ? `${mrr.amount} ${mrr.currency}` : figure(null)}</dd></div><div><dt>Active subscriptions</dt><dd>${figure(activeSubscriptions)}</dd></div><div><dt>Active trials</dt><dd>${figure(activeTrials)}</dd></div></dl><p class="small quiet">${state}${asOf && html` · as of ${momentTime(asOf)}`}${why && ` · ${why}`}</p>`
}

const sign = (count: number) => (count > 0 ? `+${count}` : String(count))
const money = (gross: string) => Number(gross).toFixed(2)

function productTable(products: Reconciliation["products"]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Products of two witnesses"><table><thead><tr><th scope="col">Product</th><th scope="col" class="num">Console</th><th scope="col" class="num">Service</th><th scope="col" class="num">Difference</th><th scope="col">What explains it</th><th scope="col" class="num">Unexplained</th></tr></thead>
<tbody>${products.map(
    ({ product, currency, console, service, difference, causes, unexplained }) =>
      html`<tr><th scope="row"><bdi>${product}</bdi> <span class="small quiet">${currency ?? "no currency named"}</span></th><td class="num">${amount(console)}</td><td class="num">${amount(service)}</td><td class="num">${sign(difference.units)}<br><span class="small quiet">${money(difference.gross)}</span></td><td class="wrap">${causes.length === 0 ? html`<span class="quiet">–</span>` : causes.map((cause) => html`<p>${causeText(cause.cause)} <strong>${sign(cause.units)}</strong> <span class="small quiet">${money(cause.gross)}</span></p>`)}</td><td class="num">${unexplainedText(unexplained)}</td></tr>
`,
  )}</tbody></table></div>`
}

function amount({ units, gross, refunds }: WitnessSums): Html {
  return html`${units}<br><span class="small quiet">${money(gross)}${refunds > 0 && `, ${refunds} back`}</span>`
}

function unexplainedText({ units, gross, share }: Reconciliation["products"][number]["unexplained"]): Html {
  if (units === 0 && Number(gross) === 0) return html`<span class="tag good">nothing</span>`
  return html`<span class="down">${sign(units)}</span><br><span class="small quiet">${money(gross)}${share !== null && `, ${percent(share)}`}</span>`
}

function eventTable(events: EventReconciliation["events"]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Events of two witnesses"><table><thead><tr><th scope="col">Event</th><th scope="col" class="num">Console</th><th scope="col" class="num">Service</th><th scope="col" class="num">Difference</th><th scope="col">What explains it</th><th scope="col" class="num">Unexplained</th></tr></thead>
<tbody>${events.map(
    ({ event, console, service, difference, causes, unexplained }) =>
      html`<tr><th scope="row">${spoken(event)}</th><td class="num">${console}</td><td class="num">${service}</td><td class="num">${sign(difference)}</td><td class="wrap">${causes.length === 0 ? html`<span class="quiet">–</span>` : causes.map(({ cause, units }) => html`<p>${causeText(cause)} <strong>${sign(units)}</strong></p>`)}</td><td class="num">${unexplained === 0 ? html`<span class="tag good">nothing</span>` : html`<span class="down">${sign(unexplained)}</span>`}</td></tr>
`,
  )}</tbody></table></div>`
}

function dayTable(days: Reconciliation["days"]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Days of two witnesses"><table><thead><tr><th scope="col">Day</th><th scope="col" class="num">Console</th><th scope="col" class="num">Service</th><th scope="col" class="num">Difference</th><th scope="col">Not compared because</th></tr></thead>
<tbody>${days.map(
    ({
      day,
      console,
      service,
      difference,
      why,
    }) => html`<tr><th scope="row">${dayTime(day)}</th><td class="num">${figure(console?.units)}</td><td class="num">${figure(service?.units)}</td><td class="num">${difference === null ? figure(null) : sign(difference)}</td><td class="small">${why && causeText(why)}</td></tr>
`,
  )}</tbody></table></div>`
}

const CAUSES: Record<string, string> = {
  day_zone: "its days are UTC",
  not_reported: "the console is late with days",
  before_first_message: "days before its first message",
  not_through_service: "a product it never told of",
  not_in_console: "a product the app never sold there",
  refunds: "counted as given back by one alone",
  free_units: "trials, and what else cost nothing",
  currency: "as many stand under another currency",
  price_unknown: "its messages name no price",
  price: "as many, at other prices",
}

const causeText = (cause: string) => CAUSES[cause] ?? spoken(cause)
