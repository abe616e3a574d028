import { type Html, html } from "../html.ts"
import { dayTime, momentTime } from "../times.ts"
import { counted, figure, STORES, spoken, whole } from "../words.ts"
import { type Desk, type Page, readHead, sideAt } from "./desk.ts"
import { type Change, changePart } from "./diff.ts"
import { sideForm } from "./frame.ts"
import { card, empty, facts, readBy, samplePage } from "./parts.ts"
import { readingsLink } from "./readings.ts"
import { starsPart } from "./stars.ts"
import { draftCard } from "./texts/drafts.ts"
import { localisationCard } from "./texts/localisation.ts"
import { screenshotsCard } from "./texts/screenshots.ts"

interface StorePage {
  storeId: string
  url: string
  available: boolean | null
  measured: boolean
  measuredAt: string | null
  unchangedSince: string | null
  source: string | null
  version: string | null
  versionReleasedAt: string | null
  releaseNotes: string | null
  price: number | null
  currency: string | null
  category: string | null
  ageRating: string | null
  size?: string | null
  minimumOs?: string | null
  installs?: number | null
  rating: number | null
  ratings: number | null
  ratingsAt: string | null
  stars?: Record<string, number> | null
  screenshotsPhone?: string[] | null
  screenshotsPad?: string[] | null
  screenshots?: string[] | null
  eventsLive?: number | null
  similar: { place: number; id: string; name: string }[] | null
  editorial?: { title: string; kind: string; lastSeenAt: string }[] | null
  listingExtras?: {
    languages: string[] | null
    languageCount: number | null
    stars: Record<string, number> | null
    promotionalText: string | null
    inAppPurchases: { name: string; price: string | null }[] | null
    events:
      | { title: string | null; kind: string | null; state: string; startsAt: string | null; endsAt: string | null }[]
      | null
  }
}

interface StorePages {
  country: string
  ios: StorePage | null
  android: StorePage | null
  timeline: (Change & { at: string; platform: "ios" | "android" })[]
  timelineFrom: string
}

/** The words of a name, subtitle or description, which the store page's own answer leaves out. */
type ChangedText = Pick<Change, "kind" | "source" | "before" | "after"> & { at: string }

/** The app's page in a store as it was last read, and what changed on it, before and after. */
export async function storePagePage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  const side = sideAt(app, desk.query)
  const [answer, texts] = await Promise.all([
    desk.ask<StorePages>("get_store_page", { appId, country: side.country }),
    desk.ask<{ changes: ChangedText[] }>("list_changed_texts", { appId, ...side }),
  ])
  const page = answer[side.platform]
  const told = new Map(texts.changes.map((change) => [changeKey(change), change]))
  const changes = answer.timeline
    .filter(({ platform }) => platform === side.platform)
    .map((change) => ({ ...change, ...told.get(changeKey(change)) }))
  return {
    title: `Store page · ${app.name}`,
    app,
    at: "page",
    body: html`${sideForm(desk, app, {}, side)}<div class="columns-2 wide-left"><div>${changesPart(desk, changes, answer.timelineFrom, page)}${page?.measured && [draftCard(desk, app, side), side.platform === "ios" && localisationCard(desk, app), screenshotsCard(desk, app, side)]}</div><div>${
      page
        ? pagePart(side.platform, page, readingsLink(desk, app, side))
        : card(STORES[side.platform], empty("The app is not in this store", "Add its other side with the same id."))
    }</div></div>`,
  }
}

const changeKey = ({ kind, at, source }: ChangedText) => `${kind} ${at} ${source}`

function pagePart(platform: "ios" | "android", page: StorePage, evidence: Html): Html {
  const { listingExtras: extras } = page
  const stars = page.stars ?? extras?.stars ?? null
  const pictures = page.screenshotsPhone ?? page.screenshots ?? null
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
                  : `${page.price.toFixed(2)} ${page.currency ?? ""}`,
            ],
            ["Category", page.category],
            ["Age", page.ageRating],
            ["Size", page.size ?? null],
            ["Needs", page.minimumOs && `iOS ${page.minimumOs}`],
            ["Installs", page.installs === null || page.installs === undefined ? null : whole(page.installs)],
            ["Screenshots", pictures?.length],
            ["On iPad", page.screenshotsPad?.length ?? null],
            ["Languages", extras?.languageCount ?? null],
            ["Events live", page.eventsLive ?? null],
          ])
        : html`<p class="quiet">The page was never read: what it shows is not known.</p>`
    }${page.releaseNotes && html`<h3>What's new</h3><p><bdi>${page.releaseNotes}</bdi></p>`}${extras?.promotionalText && html`<h3>Promotional text</h3><p><bdi>${extras.promotionalText}</bdi></p>`}</div>`,
    html`${readBy(page.measuredAt, page.source)} ${evidence}`,
  )}${page.ratings !== null && card("Ratings", html`<div class="inside"><p><strong>${figure(page.rating, 1)}</strong> of ${counted(page.ratings, "rating")}</p>${stars && starsPart(stars)}</div>`, html`${page.ratingsAt && dayTime(page.ratingsAt.slice(0, 10))} ${evidence}`)}${extrasPart(page)}`
}

function extrasPart({ listingExtras: extras, editorial, similar }: StorePage): Html {
  const events = extras?.events ?? []
  const bought = extras?.inAppPurchases ?? []
  return html`${events.length > 0 && card("In-app events", html`<ul class="list">${events.map(({ title, kind, state, startsAt, endsAt }) => html`<li><p><bdi>${title ?? "No title"}</bdi> <span class="tag">${state}</span></p><p class="small quiet">${kind}${startsAt && html` · ${dayTime(startsAt.slice(0, 10))}`}${endsAt && html` to ${dayTime(endsAt.slice(0, 10))}`}</p></li>`)}</ul>`)}${
    bought.length > 0 &&
    card(
      "In-app purchases",
      html`<ul class="list">${bought.map(({ name, price }) => html`<li><bdi>${name}</bdi> <span class="quiet">${price}</span></li>`)}</ul>`,
    )
  }${editorial && editorial.length > 0 && card("Featured", html`<ul class="list">${editorial.map(({ title, kind, lastSeenAt }) => html`<li><bdi>${title}</bdi> <span class="tag">${spoken(kind)}</span><p class="small quiet">Last seen ${momentTime(lastSeenAt)}</p></li>`)}</ul>`)}${
    similar &&
    similar.length > 0 &&
    card(
      "Similar apps, by the store",
      html`<ul class="list">${similar.slice(0, 8).map(({ place, name }) => html`<li><span class="quiet">${place}</span> <bdi>${name}</bdi></li>`)}</ul>`,
    )
  }`
}

function changesPart(desk: Desk, changes: readonly Change[], from: string, page: StorePage | null): Html {
  const title = "What changed"
  if (changes.length === 0) {
    const why = page?.measured
      ? "Every reading of the page is held against the one before it: version, texts, screenshots, events, price. Nothing differed so far."
      : "The page is read once a day. From the second reading on its changes stand here, before and after."
    return card(
      title,
      empty(page?.measured ? "No change was seen" : "The page was not read yet", why, samplePage(desk, "page")),
    )
  }
  return card(title, html`<ul class="list">${changes.map(changePart)}</ul>`, html`Since ${dayTime(from)}`)
}
