import type { AnswerOf } from "../../answers.ts"
import { type Page, type PageContext, readHead, sideAt } from "../../ui/app/context.ts"
import { type Change, changePart } from "../../ui/app/diff.ts"
import { sideForm } from "../../ui/app/frame.ts"
import { card, empty, facts, readBy, samplePage } from "../../ui/app/parts.ts"
import { failedReadingPart, readingsLink } from "../../ui/app/readings.ts"
import { starsPart } from "../../ui/app/stars.ts"
import { draftCard } from "../../ui/app/texts/drafts.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted, figure, money, STORES, spoken, whole } from "../../ui/words.ts"
import { localisationCard } from "./localisation.ts"
import { screenshotsCard } from "./screenshots.ts"

type StorePages = AnswerOf<"get_store_page">
type IosPage = NonNullable<StorePages["ios"]>
type AndroidPage = NonNullable<StorePages["android"]>
type StorePage = IosPage | AndroidPage

/** Shows the latest reading of the app's store page and its changes, before and after. */
export async function storePagePage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const side = sideAt(app, context.query)
  const [answer, texts, failed] = await Promise.all([
    context.ask("get_store_page", { appId, country: side.country }),
    context.ask("list_changed_texts", { appId, ...side }),
    failedReadingPart(context, appId, { side, of: "page" }),
  ])
  const page = answer[side.platform]
  const changedTexts = new Map(texts.changes.map((change) => [changeKey(change), change]))
  const changes = answer.timeline
    .filter(({ platform }) => platform === side.platform)
    .map((change) => ({ ...change, ...changedTexts.get(changeKey(change)) }))
  return {
    title: `Listing · ${app.name}`,
    app,
    at: "page",
    body: html`${sideForm(context, app, {}, side)}${failed}<div class="columns-2 wide-left">
<div>${changesPart(context, changes, answer.timelineFrom, page)}${
      page?.measured && [
        draftCard(context, app, side),
        side.platform === "ios" && localisationCard(context, app),
        screenshotsCard(context, app, side),
      ]
    }</div><div>${
      page
        ? pagePart(side.platform, page, readingsLink(context, app, side))
        : card(
            STORES[side.platform],
            empty("The app is not in this store", "The app is only tracked in its other store."),
          )
    }</div></div>`,
  }
}

const changeKey = ({ kind, at, source }: Pick<Change, "kind" | "source"> & { at: string }) => `${kind} ${at} ${source}`

const isIosPage = (page: StorePage): page is IosPage => "minimumOs" in page

/** Returns the facts that only the page's own store has. */
function factsOfStore(page: StorePage): [string, HtmlPart][] {
  if (!isIosPage(page))
    return [
      ["Installs", page.installs && whole(page.installs)],
      ["Screenshots", page.screenshots?.length],
    ]
  return [
    ["Size", page.size],
    ["Needs", page.minimumOs && `iOS ${page.minimumOs}`],
    ["Screenshots", page.screenshotsPhone?.length],
    ["On iPad", page.screenshotsPad?.length],
    ["Languages", page.listingExtras.languageCount],
    ["Events live", page.eventsLive],
  ]
}

function pagePart(platform: "ios" | "android", page: StorePage, evidence: Html): Html {
  const stars = isIosPage(page) ? page.listingExtras.stars : page.stars
  const promotionalText = isIosPage(page) && page.listingExtras.promotionalText
  return html`${card(
    STORES[platform],
    html`<div class="inside">${
      page.measured
        ? facts([
            ["Version", page.version && html`<bdi>${page.version}</bdi>`],
            ["Released", page.versionReleasedAt && dayTime(page.versionReleasedAt.slice(0, 10))],
            [
              "Price",
              page.price === null
                ? null
                : page.price === 0
                  ? "free"
                  : page.currency === null
                    ? page.price.toFixed(2)
                    : money(page.price, page.currency),
            ],
            ["Category", page.category],
            ["Age", page.ageRating],
            ...factsOfStore(page),
          ])
        : html`<p class="quiet">The page was not read yet.</p>`
    }${
      page.releaseNotes &&
      html`<h3>What's new</h3>
<p><bdi>${page.releaseNotes}</bdi></p>`
    }${
      promotionalText &&
      html`<h3>Promotional text</h3>
<p><bdi>${promotionalText}</bdi></p>`
    }</div>`,
    html`${readBy(page.measuredAt, page.source)} ${evidence}`,
  )}${
    page.ratings !== null &&
    card(
      "Ratings",
      html`<div class="inside">
<p><strong>${figure(page.rating, 1)}</strong> of ${counted(page.ratings, "rating")}</p>
${stars && starsPart(stars)}</div>`,
      html`${page.ratingsAt && dayTime(page.ratingsAt.slice(0, 10))} ${evidence}`,
    )
  }${extrasPart(page)}`
}

function extrasPart(page: StorePage): Html {
  const { similar } = page
  const events = (isIosPage(page) && page.listingExtras.events) || []
  const bought = (isIosPage(page) && page.listingExtras.inAppPurchases) || []
  const editorial = isIosPage(page) ? page.editorial : null
  return html`${
    events.length > 0 &&
    card(
      "In-app events",
      html`<ul class="list">
${events.map(
  ({ title, kind, state, startsAt, endsAt }) =>
    html`<li><p><bdi>${title ?? "No title"}</bdi> <span class="tag">${state}</span></p>
<p class="small quiet">
${kind}${
  startsAt && html` · ${dayTime(startsAt.slice(0, 10))}`
}${endsAt && html` to ${dayTime(endsAt.slice(0, 10))}`}</p></li>`,
)}</ul>`,
    )
  }${
    bought.length > 0 &&
    card(
      "In-app purchases",
      html`<ul class="list">
${bought.map(({ name, price }) => html`<li><bdi>${name}</bdi> <span class="quiet">${price}</span></li>`)}</ul>`,
    )
  }${
    editorial &&
    editorial.length > 0 &&
    card(
      "Featured",
      html`<ul class="list">
${editorial.map(
  ({ title, kind, lastSeenAt }) =>
    html`<li><bdi>${title}</bdi> <span class="tag">${spoken(kind)}</span>
<p class="small quiet">Last seen ${momentTime(lastSeenAt)}</p></li>`,
)}</ul>`,
    )
  }${
    similar &&
    similar.length > 0 &&
    card(
      "Similar apps, by the store",
      html`<ul class="list">
${similar
  .slice(0, 8)
  .map(({ place, name }) => html`<li><span class="quiet">${place}</span> <bdi>${name}</bdi></li>`)}</ul>`,
    )
  }`
}

function changesPart(context: PageContext, changes: readonly Change[], from: string, page: StorePage | null): Html {
  const title = "What changed"
  if (changes.length === 0) {
    const why = page?.measured
      ? "Each reading of the page is compared with the one before: version, texts, screenshots, events and price. " +
        "Nothing changed so far."
      : "The page is read once a day. Changes appear here from the second reading on, before and after."
    return card(
      title,
      empty(page?.measured ? "No change so far" : "The page was not read yet", why, samplePage(context, "page")),
    )
  }
  const items = changes.map((change) => changePart(context, change))
  return card(title, html`<ul class="list">${items}</ul>`, html`Since ${dayTime(from)}`)
}
