import type { AnswerOf } from "../../answers.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { viewAt, viewBar } from "../../ui/app/bar.ts"
import { chartPart } from "../../ui/app/chart.ts"
import { appAddress, attempted, isFault, type Page, type PageContext, readHead } from "../../ui/app/context.ts"
import { card, empty, inventedNote, refusedPart, samplePage, tiles } from "../../ui/app/parts.ts"
import type { Chart } from "../../ui/charts/chart.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, momentTime, shortDay } from "../../ui/times.ts"
import { figure, money, STORES, spoken } from "../../ui/words.ts"
import { sectionsOf, sectionsPart, shownSections } from "./connected.ts"
import { reportLink } from "./reports.ts"
import { readSalesCharts, reportDays } from "./sales-charts.ts"
import { witnessesPart } from "./witnesses.ts"

type Money = NonNullable<Units["proceeds"]>[number]
type Units = Revenue["totals"]
type Revenue = AnswerOf<"get_revenue">
type Subscriptions = AnswerOf<"get_subscriptions">

/** Shows the figures of the seller's console: units and proceeds by day, storefront and product, and subscriptions. */
export async function revenuePage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const view = viewAt(context, app, { isOfAll: true })
  const { platform } = view.side
  const isInBoth = app.iosId !== null && app.androidPkg !== null
  const bar = viewBar(context, app, view, { isOfAll: true, hasStores: true, only: platform, compares: { rivals: [] } })
  const days = reportDays(view)
  const [revenue, subscriptions, otherSections, portfolio] = await Promise.all([
    attempted(context.ask("get_revenue", { appId, platform, ...days })),
    // Google Play Console has no report of subscriptions, so the answer would be about the App Store.
    platform === "ios" ? attempted(context.ask("get_subscriptions", { appId, ...days })) : null,
    shownSections(context, sectionsOf(platform), { appId, platform }),
    attempted(context.ask("list_app_revenue")),
  ])
  const page = (body: Html): Page => ({ title: `Revenue · ${app.name}`, app, at: "revenue", body })
  if (isFault(revenue)) {
    const body = revenue.code === "not_connected" ? notConnected(context, platform) : refusedPart(revenue)
    return page(html`${isInBoth && bar}<section class="card">${body}</section>${sectionsPart(otherSections)}`)
  }
  const charts = await readSalesCharts(context, app, view, revenue)
  const reported = subscriptions === null || isFault(subscriptions) ? null : subscriptions
  const body = html`${bar}${inventedNote(revenue)}${totalTiles(revenue)}
<div class="columns-2">${charts.map((chart) => chartCard(context, chart))}</div>
<div class="columns-2">${countriesPart(revenue)}
<div>${
    subscriptions !== null &&
    (isFault(subscriptions) ? card("Subscriptions", refusedPart(subscriptions)) : subscriptionsPart(subscriptions))
  }${sourcesPart(context, app, revenue, reported?.sources ?? [])}</div></div>
${estimatedPart(revenue)}${witnessesPart(revenue, reported?.reconciliation ?? null)}
${sectionsPart(otherSections, { hasNote: false })}${!isFault(portfolio) && portfolioCard(context, app, portfolio)}`
  return { ...page(body), charts: [...charts, ...otherSections.flatMap((section) => section.charts)] }
}

function chartCard(context: PageContext, chart: Chart): Html {
  return card(
    chart.title,
    html`<div class="inside">${chartPart(context, chart)}</div>`,
    "Days in a gap are not reported yet",
  )
}

/** Returns the orders on Google Play that are not settled yet. They are in no other figure. False if there are none. */
function estimatedPart({ estimatedSales }: Revenue): Html | false {
  if (!estimatedSales) return false
  const { from, to, totals } = estimatedSales
  return card(
    "Estimated sales",
    html`<div class="inside"><dl class="facts"><div><dt>Purchases</dt><dd>${figure(totals.purchases)}</dd></div>
<div><dt>Subscriptions</dt><dd>${figure(totals.subscriptions)}</dd></div>
<div><dt>Refunds</dt><dd>${figure(totals.refunds)}</dd></div>
<div><dt>Paid by customers</dt><dd>${sumOf(totals.gross)}</dd></div></dl></div>`,
    html`${dayTime(from, shortDay)} to ${dayTime(to, shortDay)}, before fees · not settled, and in no other figure`,
  )
}

/** Returns the proceeds of all apps. Currencies and stores are never summed. False if this is the only app. */
function portfolioCard(context: PageContext, app: { id: string }, { apps, unconnected }: AnswerOf<"list_app_revenue">) {
  if (new Set(apps.map(({ id }) => id)).size + unconnected < 2 && !context.isSample) return false
  const isOnPlay = apps.some(({ platform }) => platform === "android")
  const rows = apps.map(
    ({ id, name, platform, figure: kind, to, days, proceeds }) => html`<tr><th scope="row">${
      id === app.id
        ? html`<strong><bdi>${name}</bdi></strong>`
        : html`<a href="${appAddress(context, { id }, "revenue")}"><bdi>${name}</bdi></a>`
    }${
      isOnPlay &&
      html` <small class="quiet">${STORES[platform]}${kind === "estimated_sales" && ", estimated sales"}</small>`
    }</th><td class="num wrap">${to === null ? figure(null) : sumOf(proceeds)}</td>
<td class="num small quiet">${to === null ? "not reported yet" : html`${days} of 7 days, to ${dayTime(to, shortDay)}`}
</td></tr>
`,
  )
  return card(
    "All apps",
    html`<div class="scroll" tabindex="0" role="group" aria-label="All apps"><table><thead>
<tr><th scope="col">App</th><th scope="col" class="num">Proceeds</th><th scope="col" class="num">Reported</th></tr>
</thead><tbody>${rows}</tbody></table></div>`,
    html`The last seven reported days${unconnected > 0 && ` · ${unconnected} without a connected account`}`,
  )
}

const sumOf = (proceeds: readonly Money[] | null) =>
  proceeds?.map(({ currency, amount }) => money(amount, currency)).join(", ") || "–"

function totalTiles({ totals }: Revenue): Html {
  return tiles([
    { name: "Downloads", value: figure(totals.downloads) },
    { name: "Purchases", value: figure(totals.purchases) },
    { name: "Subscriptions", value: figure(totals.subscriptions) },
    { name: "Refunds", value: figure(totals.refunds) },
    ...(totals.proceeds ?? [])
      .slice(0, 2)
      .map(({ currency, amount }) => ({ name: `Proceeds, ${currency}`, value: money(amount, currency) })),
  ])
}

function countriesPart({ countries, products, bundles }: Revenue): Html {
  const rows = (list: readonly (Units & { name: string })[]) =>
    list.slice(0, 20).map(
      ({
        name,
        downloads,
        subscriptions,
        proceeds,
      }) => html`<tr><th scope="row"><bdi>${name}</bdi></th><td class="num">${figure(downloads)}</td>
<td class="num">${figure(subscriptions)}</td><td class="num wrap">${sumOf(proceeds)}</td></tr>
`,
    )
  const table = (first: string, list: readonly (Units & { name: string })[]) =>
    html`<div class="scroll" tabindex="0" role="group" aria-label="${first}"><table><thead>
<tr><th scope="col">${first}</th><th scope="col" class="num">Downloads</th>
<th scope="col" class="num">Subscriptions</th><th scope="col" class="num">Proceeds</th></tr></thead>
<tbody>${rows(list)}</tbody></table></div>`
  return html`<div>${card(
    "By storefront",
    table(
      "Storefront",
      countries.map((one) => ({ ...one, name: storefrontName(one.country) })),
    ),
  )}${card(
    "By product",
    table(
      "Product",
      products.map((one) => ({ ...one, name: one.title })),
    ),
  )}${
    bundles !== null &&
    bundles.length > 0 &&
    card(
      "Bundles of apps",
      table(
        "Product",
        bundles.map((one) => ({ ...one, name: one.title })),
      ),
      "Not included in other figures: reports do not list the apps of a bundle",
    )
  }</div>`
}

function subscriptionsPart({ totals, stock }: Subscriptions): Html {
  return card(
    "Subscriptions",
    html`<div class="inside">
${
  stock &&
  html`<dl class="facts">
${Object.entries(stock).map(
  ([name, value]) => name !== "day" && html`<div><dt>${spoken(name)}</dt><dd>${figure(value as number)}</dd></div>`,
)}</dl>`
}<h3>Events</h3><dl class="facts">
${Object.entries(totals).map(
  ([name, value]) => html`<div><dt>${spoken(name)}</dt><dd>${figure(value)}</dd></div>`,
)}</dl></div>`,
    stock && html`Stock of ${dayTime(stock.day)}`,
  )
}

function sourcesPart(
  context: PageContext,
  app: { id: string },
  { sources, days: shown }: Revenue,
  otherSources: Revenue["sources"],
): Html {
  const day = shown.findLast(({ reported }) => reported)?.day
  return card(
    "Sources",
    html`<ul class="list">
${[...sources, ...otherSources].map(
  ({ kind, report, state, why, asOf, reportedDays, days }) =>
    html`<li><p>${spoken(kind)}, ${spoken(report).toLowerCase()} <span class="tag${
      state === "ok" ? " good" : " warn"
    }">${state}</span></p><p class="small quiet">
${reportedDays} of ${days} days reported${
      asOf && html` · as of ${momentTime(asOf)}`
    }${why && html` · <bdi>${why}</bdi>`} · ${reportLink(context, app, { report, ...(day && { day }) })}</p></li>`,
)}</ul>`,
  )
}

function notConnected(context: PageContext, platform: "ios" | "android"): Html {
  if (platform === "android")
    return empty(
      "Google Play Console is not connected",
      html`Connect it under
<a href="${context.base}/settings/accounts?add=google-play-console">Connected accounts</a> to see
installs, settled earnings and the visitors of the store page by day. The key is stored encrypted on this server.`,
      samplePage(context, "revenue"),
    )
  return empty(
    "App Store Connect is not connected",
    html`Connect it under
<a href="${context.base}/settings/accounts?add=app-store-connect">Connected accounts</a> to see
downloads, proceeds, subscriptions and the store funnel by day, as Apple reports them, and what a change of the store
page did. The key is stored encrypted on this server.`,
    samplePage(context, "revenue"),
  )
}
