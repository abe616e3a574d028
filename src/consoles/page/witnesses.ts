import type { AnswerOf } from "../../answers.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted, figure, money, percent, spoken } from "../../ui/words.ts"

type WitnessSums = Reconciliation["products"][number]["console"]
type Reconciliation = NonNullable<AnswerOf<"get_revenue">["reconciliation"]>
type EventReconciliation = NonNullable<AnswerOf<"get_subscriptions">["reconciliation"]>
type BillingFigures = NonNullable<AnswerOf<"get_revenue">["billing"]>

/**
 * Compares the figures of the console and of a billing service about the same purchases: the explained and the
 * unexplained difference.
 */
export function witnessesPart(
  { reconciliation, billing }: { reconciliation: Reconciliation | null; billing: BillingFigures | null },
  events: EventReconciliation | null,
): Html {
  if (reconciliation === null)
    return card(
      "Second source",
      html`${empty(
        "Only the console reports purchases",
        "Connect a billing service or, for the App Store, App Store Server Notifications. This card then compares " +
          "both sources: how far they differ, what explains the difference, and what remains unexplained.",
      )}${billing && html`<div class="inside">${billingPart(billing)}</div>`}`,
    )
  const { with: witness, products, productsOmitted, days, otherCountry } = reconciliation
  return card(
    "Second source",
    html`<div class="inside">
<p>The same purchases according to the console and to <strong>${spoken(witness.kind)}</strong>.
Neither is corrected: the console counts days in its own time zone, the service counts each purchase as it
happens.</p>${billing && billingPart(billing)}</div>
${productTable(products)}${events && events.events.length > 0 && eventTable(events.events)}<details>
<summary>${counted(days.length, "day")} side by side</summary>${dayTable(days)}</details>
<div class="inside">
<p class="small quiet">Messages since ${momentTime(
      witness.since,
    )}, the last ${momentTime(witness.asOf)}. Lost messages cannot be detected. Not counted: ${counted(
      witness.sandbox,
      "test message",
    )}, ${witness.otherStores} from other stores, ${witness.unknownTypes} of unknown types.${
      productsOmitted > 0 && ` ${counted(productsOmitted, "more product")} not listed.`
    }${
      otherCountry > 0 &&
      ` ${counted(otherCountry, "unit")} have another country in the messages; totals are not affected.`
    }</p>
</div>`,
    html`<span class="tag${witness.state === "ok" ? " good" : " warn"}">${witness.state}</span>`,
  )
}

function billingPart({ kind, state, why, asOf, mrr, activeSubscriptions, activeTrials }: BillingFigures): Html {
  return html`<h3>As ${spoken(kind)} counts them</h3><dl class="facts">
<div><dt>Monthly recurring revenue</dt><dd>${mrr ? money(mrr.amount, mrr.currency) : figure(null)}</dd></div>
<div><dt>Active subscriptions</dt><dd>${figure(activeSubscriptions)}</dd></div>
<div><dt>Active trials</dt><dd>${figure(activeTrials)}</dd></div></dl>
<p class="small quiet">${state}${asOf && html` · as of ${momentTime(asOf)}`}${why && ` · ${why}`}</p>`
}

const sign = (count: number) => (count > 0 ? `+${count}` : String(count))
/** Formats the amount without its currency, which the row names. */
const grossText = (gross: string) =>
  new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(Number(gross))

function productTable(products: Reconciliation["products"]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Products of both sources"><table><thead>
<tr><th scope="col">Product</th><th scope="col" class="num">Console</th><th scope="col" class="num">Service</th>
<th scope="col" class="num">Difference</th><th scope="col">What explains it</th>
<th scope="col" class="num">Unexplained</th></tr></thead>
<tbody>${products.map(
    ({ product, currency, console, service, difference, causes, unexplained }) =>
      html`<tr><th scope="row"><bdi>${product}</bdi> <span class="small quiet">${currency ?? "no currency"}</span></th>
<td class="num">${amount(console)}</td><td class="num">${amount(service)}</td>
<td class="num">${sign(difference.units)}<br><span class="small quiet">${grossText(difference.gross)}</span></td>
<td class="wrap">${
        causes.length === 0
          ? html`<span class="quiet">–</span>`
          : causes.map(
              (cause) =>
                html`<p>
${causeText(cause.cause)} <strong>${sign(cause.units)}</strong> <span
  class="small quiet">${grossText(cause.gross)}</span></p>`,
            )
      }</td><td class="num">${unexplainedText(unexplained)}</td></tr>
`,
  )}</tbody></table></div>`
}

function amount({ units, gross, refunds }: WitnessSums): Html {
  return html`${units}<br><span class="small quiet">${grossText(gross)}${
    refunds > 0 && `, ${counted(refunds, "refund")}`
  }</span>`
}

function unexplainedText({ units, gross, share }: Reconciliation["products"][number]["unexplained"]): Html {
  if (units === 0 && Number(gross) === 0) return html`<span class="tag good">nothing</span>`
  return html`<span class="down">${sign(units)}</span><br><span class="small quiet">${grossText(gross)}${
    share !== null && `, ${percent(share)}`
  }</span>`
}

function eventTable(events: EventReconciliation["events"]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Events of two witnesses"><table><thead>
<tr><th scope="col">Event</th><th scope="col" class="num">Console</th><th scope="col" class="num">Service</th>
<th scope="col" class="num">Difference</th><th scope="col">What explains it</th>
<th scope="col" class="num">Unexplained</th></tr></thead>
<tbody>${events.map(
    ({ event, console, service, difference, causes, unexplained }) =>
      html`<tr><th scope="row">${spoken(event)}</th><td class="num">${console}</td><td class="num">${service}</td>
<td class="num">${sign(difference)}</td>
<td class="wrap">${
        causes.length === 0
          ? html`<span class="quiet">–</span>`
          : causes.map(({ cause, units }) => html`<p>${causeText(cause)} <strong>${sign(units)}</strong></p>`)
      }</td><td class="num">
${
  unexplained === 0 ? html`<span class="tag good">nothing</span>` : html`<span class="down">${sign(unexplained)}</span>`
}</td></tr>
`,
  )}</tbody></table></div>`
}

function dayTable(days: Reconciliation["days"]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Days of two witnesses"><table><thead>
<tr><th scope="col">Day</th><th scope="col" class="num">Console</th><th scope="col" class="num">Service</th>
<th scope="col" class="num">Difference</th><th scope="col">Not compared because</th></tr></thead>
<tbody>${days.map(
    ({
      day,
      console,
      service,
      difference,
      why,
    }) => html`<tr><th scope="row">${dayTime(day)}</th><td class="num">${figure(console?.units)}</td>
<td class="num">${figure(service?.units)}</td>
<td class="num">${difference === null ? figure(null) : sign(difference)}</td>
<td class="small">${why && causeText(why)}</td></tr>
`,
  )}</tbody></table></div>`
}

const CAUSES: Record<string, string> = {
  day_zone: "its days are UTC",
  not_reported: "days that the console has not reported",
  before_first_message: "days before its first message",
  not_through_service: "a product that the service never reported",
  not_in_console: "a product that the console never reported",
  refunds: "a refund that only one source counts",
  free_units: "trials and other free units",
  currency: "the same units in another currency",
  price_unknown: "its messages have no price",
  price: "the same units at other prices",
}

const causeText = (cause: string) => CAUSES[cause] ?? spoken(cause)
