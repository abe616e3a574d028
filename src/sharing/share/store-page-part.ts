import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { STORE_NAMES, sourceName } from "../../ui/source-names.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import type { SharedStore } from "./report.ts"
import type { SharedStorePage } from "./store-page.ts"

/**
 * Summarises the app's store page. A fact that is missing on the page gets no line. If the page was never read, the
 * summary states that.
 */
export function storePagePart({ platform, storeId, page }: SharedStore): Html {
  const facts = factsOf(page, platform).filter(([, fact]) => fact !== null)
  return html`<h3>Page on ${STORE_NAMES[platform]}</h3>
<p class="quiet">${platform === "ios" ? "App Store id" : "Package"} ${storeId}. ${readWhen(page)}${foundWhen(page)}</p>
${
  facts.length > 0 &&
  html`<dl>\n${facts.map(([name, fact]) => html`<div><dt>${name}</dt><dd>${fact}</dd></div>\n`)}</dl>`
}`
}

function readWhen({ readAt, source }: SharedStorePage): Html | string {
  if (readAt === null || source === null) return "The page was never read, so its content is unknown."
  return html`Read ${momentTime(readAt)} from ${sourceName(source)}.`
}

function foundWhen({ available, availableAt }: SharedStorePage): Html | false {
  if (available !== false || availableAt === null) return false
  return html` The app was not to be had there on ${dayTime(availableAt.slice(0, 10))}.`
}

function factsOf(page: SharedStorePage, platform: SharedStore["platform"]): [name: string, fact: HtmlPart][] {
  const { version, versionAt, rating, ratings, ratingsAt, installs, installsAt, screenshotsPhone, screenshotsPad } =
    page
  const counted = ratings !== null
  return [
    [
      "Version",
      version && html`<bdi>${version}</bdi>${versionAt && html`, released ${dayTime(versionAt.slice(0, 10))}`}`,
    ],
    ["Average rating", counted ? (rating === null ? "none yet" : `${rating.toFixed(2)} of 5`) : notMeasured],
    [
      "Ratings",
      counted ? html`${whole(ratings)}${ratingsAt && html`, ${dayTime(ratingsAt.slice(0, 10))}`}` : notMeasured,
    ],
    [
      "Installs",
      installs === null ? null : html`${whole(installs)}${installsAt && html`, ${dayTime(installsAt.slice(0, 10))}`}`,
    ],
    ["Price", priceText(page)],
    ["In-app purchases", page.inAppPurchases === null ? null : page.inAppPurchases ? "yes" : "no"],
    ["Category", page.category && html`<bdi>${page.category}</bdi>`],
    ["Age rating", page.ageRating && html`<bdi>${page.ageRating}</bdi>`],
    ["Languages", page.languages],
    [platform === "ios" ? "Screenshots, phone" : "Screenshots", screenshotsPhone],
    ["Screenshots, tablet", screenshotsPad],
  ]
}

const notMeasured = html`<span class="quiet">not measured</span>`

function priceText({ price, currency }: SharedStorePage): string | null {
  if (price === null) return null
  return price === 0 ? "free" : `${price.toFixed(2)} ${currency ?? ""}`.trim()
}

/** Formats 5000 as "5,000", independent of the locale of the runtime. */
const whole = (count: number) => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",")
