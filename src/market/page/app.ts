import type { AnswerOf } from "../../answers.ts"
import type { Fault } from "../../lib/faults.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { address, appAddress, isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { changePart } from "../../ui/app/diff.ts"
import { readFaces, storeAppCode } from "../../ui/app/faces.ts"
import { appIcon } from "../../ui/app/frame.ts"
import { card, empty, facts } from "../../ui/app/parts.ts"
import { starsPart, starText } from "../../ui/app/stars.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { sourceName } from "../../ui/source-names.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted, figure, money, STORES } from "../../ui/words.ts"
import { chartAddress } from "./charts.ts"
import { estimateCard } from "./estimate.ts"
import {
  appCell,
  countryIn,
  kindName,
  linkTo,
  marketAddress,
  marketAnswer,
  marketPage,
  missingPart,
  nameOfGenre,
  publisherAddress,
  readButton,
} from "./frame.ts"
import { popularityText } from "./keyword.ts"

type App = AnswerOf<"hive_get_app">

/** Credits of the facts, reviews and similar apps together. The estimate has its own price. */
const CREDITS = 530

/**
 * Renders any app of the stores: facts, ranks, estimates, keywords, reviews and similar apps, and a button that tracks
 * it.
 */
export async function marketAppPage(context: PageContext): Promise<Page> {
  const id = context.query.get("id") ?? ""
  const country = countryIn(context.query)
  const [app, estimate, spied, reviews, similar, faces, tracked, about] = await Promise.all([
    marketAnswer(context.ask("hive_get_app", { id, country })),
    marketAnswer(context.ask("hive_estimate_app", { id, country })),
    marketAnswer(context.ask("hive_spy_app", { id, country, platform: platformOf(id) })),
    marketAnswer(context.ask("hive_list_reviews", { appId: id, country, limit: 5 })),
    marketAnswer(context.ask("hive_get_similar_apps", { appId: id, country })),
    readFaces(context, [storeAppCode(id)], country),
    context.ask("list_app_heads"),
    marketAnswer(context.ask("get_market_app", { id, country })),
  ])
  const page = (title: string, body: Html) => marketPage(context, { title, tab: "app", body })
  const face = faces.get(storeAppCode(id))
  const named = !isFault(app) ? app : isFault(spied) ? { publisher: null, publisherId: null } : spied
  const name = "name" in named ? named.name : (face?.name ?? "An app")
  const ownApp = tracked.apps.find(({ iosId, androidPkg }) => iosId === id || androidPkg === id)
  const icon = appIcon(context, { name, icon: face?.icon ?? null })
  const head = headPart(context, named, { id, country, icon, ownId: ownApp?.id })
  const places = !isFault(about) && placesCard(context, about, id)
  if (isFault(app) && isFault(spied)) {
    const isReadable = app.code === "not_measured"
    const credits = isReadable ? 0 : CREDITS
    const missing = missingPart(context, app, { title: "This app was not read in this storefront yet", credits })
    return page(name, html`${isReadable && head}<section class="card">${missing}</section>${places}`)
  }
  return page(
    name,
    html`${head}
<div class="columns-2"><div>${
      isFault(app)
        ? card("Facts", missingPart(context, app, { title: "Its facts were not read yet", credits: 0 }))
        : factsCard(context, app)
    }${places}${reviewsCard(context, reviews)}</div>
<div>${estimateCard(context, estimate)}${keywordsCard(context, spied, { id, country })}
${!isFault(about) && changesCard(context, about)}${similarCard(context, similar, country)}</div></div>`,
  )
}

const platformOf = (id: string) => storeAppCode(id).split(":")[0] as "ios" | "android"

interface Head {
  id: string
  country: string
  icon: Html
  /** The workspace's app that tracks this store app. Undefined if it is not tracked. */
  ownId: string | undefined
}

function headPart(
  context: PageContext,
  { publisher, publisherId }: Pick<App, "publisher" | "publisherId">,
  { id, country, icon, ownId }: Head,
): Html {
  const by = publisher && html`<bdi>${publisher}</bdi>`
  const track = address(`${context.base}/add`, { app: storeAppCode(id), country, q: id })
  const deed =
    context.editFields.length === 0 && ownId === undefined
      ? false
      : ownId === undefined
        ? html`<a class="button main" href="${track}">Track this app</a>`
        : html`<a class="button" href="${appAddress(context, { id: ownId })}">Tracked: open its page</a>`
  return html`<div class="line above"><div class="subject">${icon}<div><p>${
    publisherId && by ? linkTo(context, publisherId, publisherAddress(context, publisherId), by) : by
  }</p><p class="small quiet">${STORES[platformOf(id)]} <span class="hash">${id}</span> · ${storefrontName(country)}</p>
</div></div>${readButton(context, CREDITS)}${deed}</div>`
}

function factsCard(context: PageContext, app: App): Html {
  const { country, storefronts, listingExtras: extras, genre } = app
  const otherStorefronts = storefronts
    .filter((code) => code !== country)
    .slice(0, MAX_STOREFRONTS)
    .map((code, at) => {
      const to = marketAddress(context, "app", { id: app.id, country: code })
      const name = storefrontName(code)
      return html`${at > 0 && ", "}${context.isSample ? name : html`<a href="${to}">${name}</a>`}`
    })
  const category = genre && nameOfGenre({ id: genre, name: null })
  const purchases = app.inAppPurchaseCount === null ? null : counted(app.inAppPurchaseCount, "purchase")
  return card(
    "Facts",
    html`<div class="inside">${facts([
      ["In this store", app.available === null ? null : app.available ? "yes" : html`<span class="gone">no</span>`],
      ["Price", priceText(app)],
      ["In-app purchases", purchases],
      ["Category", category],
      ["Version", app.version],
      ["Released", app.releasedAt && dayTime(app.releasedAt.slice(0, 10))],
      ["Updated", app.updatedAt && dayTime(app.updatedAt.slice(0, 10))],
      ["Ratings", html`${figure(app.ratings)}${app.rating !== null && html` · ${app.rating.toFixed(1)} ★`}`],
      ["Size", app.sizeBytes === null ? null : `${Math.round(app.sizeBytes / 1_000_000)} MB`],
      ["Needs", extras?.minimumOs ?? null],
      ["Age rating", extras?.ageRating ?? null],
      ["Languages", languagesText(app)],
      ["Also in", otherStorefronts.length > 0 && otherStorefronts],
    ])}${app.distribution && starsPart(app.distribution)}${
      extras?.promotionalText && html`<p>“<bdi>${extras.promotionalText}</bdi>”</p>`
    }${
      extras?.inAppPurchases &&
      html`<p class="small quiet">Sells: ${extras.inAppPurchases
        .slice(0, MAX_PURCHASES)
        .map(({ name, price }, at) => html`${at > 0 && "; "}<bdi>${name}</bdi>${price && ` (${price})`}`)}</p>`
    }<p class="small quiet">${
      app.measuredAt === null ? "Not looked up in this storefront yet." : html`Read ${momentTime(app.measuredAt)}`
    }${app.source && html`, ${sourceName(app.source)}`}${app.origin !== "own" && app.origin && ` (${app.origin})`}</p>
</div>`,
  )
}

const MAX_STOREFRONTS = 8
const MAX_PURCHASES = 6

function languagesText({ listingExtras, languages }: App): HtmlPart {
  const names = listingExtras?.languages ?? languages
  if (names === null) return null
  return names.length > 4 ? html`<span title="${names.join(", ")}">${names.length}</span>` : names.join(", ")
}

function priceText({ price, currency }: App): string | null {
  if (price === null) return null
  return price === 0 ? "free" : money(price, currency ?? "")
}

type About = AnswerOf<"get_market_app">

function placesCard(context: PageContext, { charts }: About, id: string): Html | false {
  if (charts.length === 0) return false
  const rows = charts.slice(0, MAX_PLACES).map(({ country, kind, genre, rank, day }) => {
    const name = `${kindName(kind)}, ${nameOfGenre({ id: genre, name: null })}, ${storefrontName(country)}`
    return html`<tr><th scope="row"><a href="${chartAddress(context, { country, kind, genre }, id)}">${name}</a></th>
<td class="num"><span class="rank">${rank}</span></td><td class="small">${dayTime(day)}</td></tr>`
  })
  return card(
    "Ranks on charts",
    html`<table><thead><tr><th scope="col">Chart</th><th scope="col" class="num">Rank</th><th scope="col">Day</th></tr>
</thead><tbody>${rows}</tbody></table>`,
    charts.length > MAX_PLACES && `the best ${MAX_PLACES} of ${charts.length}`,
  )
}

const MAX_PLACES = 12

function changesCard(context: PageContext, { changes }: About): Html {
  const title = "What changed on its page"
  if (changes.length === 0)
    return card(
      title,
      empty(
        "No change was seen",
        "Its page is read daily while it is tracked or a rival of yours. Open this page again later, or track the app.",
      ),
    )
  return card(title, html`<ul class="list">${changes.map((change) => changePart(context, change))}</ul>`)
}

type Reviews = AnswerOf<"hive_list_reviews">

function reviewsCard(context: PageContext, reviews: Reviews | Fault): Html {
  if (isFault(reviews))
    return card("Reviews", missingPart(context, reviews, { title: "Its reviews were not read yet", credits: 0 }))
  const items = reviews.reviews.map(
    ({ rating, title, text, version, date }) => html`<li><p>
${starText(rating)} <bdi>${title}</bdi></p>
<p class="small"><bdi>${text}</bdi></p><p class="small quiet">${dayTime(date.slice(0, 10))}${
      version && html` · version <bdi>${version}</bdi>`
    }</p></li>`,
  )
  return card(
    "Newest reviews",
    items.length === 0
      ? empty("No reviews were shown", "The store showed none in this storefront.")
      : html`<ul class="list">${items}</ul>`,
    html`${counted(reviews.held, "review")} stored · read ${momentTime(reviews.measuredAt)}`,
  )
}

type Spied = AnswerOf<"hive_spy_app">

function keywordsCard(
  context: PageContext,
  spied: Spied | Fault,
  { id, country }: { id: string; country: string },
): Html {
  const title = "Ranks for keywords"
  const compareAddress = marketAddress(context, "compare", { apps: id, country })
  const compare = html`<a href="${compareAddress}">Compare with other apps</a>`
  if (isFault(spied))
    return card(title, missingPart(context, spied, { title: "No keyword of this storefront was read yet", credits: 0 }))
  if (spied.total === 0)
    return card(
      title,
      empty(
        `In none of ${counted(spied.searched, "keyword")} that were read`,
        "Track keywords in this storefront, or research one, to learn which apps rank for it.",
      ),
      compare,
    )
  const rows = spied.keywords.slice(0, MAX_KEYWORDS).map((keyword) => {
    const { term, rank, difficulty, day } = keyword
    const to = marketAddress(context, "keyword", { term, country })
    return html`<tr><th scope="row">${linkTo(context, term, to, html`<bdi>${term}</bdi>`)}</th>
<td class="num">${rank}</td><td class="num">${popularityText(keyword)}</td>
<td class="num wide">${figure(difficulty)}</td>
<td class="wide small">${dayTime(day)}</td></tr>`
  })
  return card(
    title,
    html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table><thead><tr>
<th scope="col">Keyword</th><th scope="col" class="num">Rank</th><th scope="col" class="num">Popularity</th>
<th scope="col" class="num wide">Difficulty</th><th scope="col" class="wide">Read</th></tr></thead><tbody>${rows}
</tbody>
</table></div><p class="inside small quiet">${spied.total > MAX_KEYWORDS && `The best ${MAX_KEYWORDS} of `}${counted(
      spied.total,
      "keyword",
    )}; ${counted(spied.searched, "keyword")} of the storefront were searched.</p>`,
    compare,
  )
}

const MAX_KEYWORDS = 25

type Similar = AnswerOf<"hive_get_similar_apps">

function similarCard(context: PageContext, similar: Similar | Fault, country: string): Html | false {
  if (isFault(similar) || similar.apps.length === 0) return false
  return card(
    "Similar apps",
    html`<ul class="list">${similar.apps.map((app) => html`<li>${appCell(context, app, { country })}</li>`)}</ul>`,
    html`from the app's store page, ${dayTime(similar.day)}`,
  )
}
