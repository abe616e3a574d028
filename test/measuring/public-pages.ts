import { fixture } from "../stores/parsing/parsed.ts"
import type { ReplayServer } from "../stores/parsing/replay.ts"
import { type Page, xmlFeed } from "../stores/parsing/review-pages.ts"
import { lookupAnswer, type ShownApp, someApps } from "./store-pages.ts"

/** The app of the recorded page, with its seller, genre and site. */
export const HARBOR: ShownApp = {
  id: "1600000101",
  name: "Slumber Harbor: Sleep Sounds",
  ratings: 105_000,
  genre: 6013,
  developerId: 1_500_000_011,
  site: "https://www.northlight.example/support",
}

/** The content of https://northlight.example/app-ads.txt. */
export const APP_ADS = "google.com, pub-1, DIRECT, f08c47fec0942fa0\nunity.com, 2, RESELLER\n"

/** Returns the App Store page of an app in the US: the recorded one, with the app's id and name. */
export function appPage({ id, name }: Pick<ShownApp, "id" | "name">): string {
  return fixture("apple-app-page-us.html").replaceAll(HARBOR.id, id).replaceAll(HARBOR.name, name)
}

/** Answers requests for one of these apps with its page. */
export function answersAppPages(
  stores: ReplayServer,
  apps: readonly ShownApp[],
  page: (app: ShownApp) => string,
): void {
  const byId = new Map(apps.map((app) => [app.id, app]))
  stores.on("apps.apple.com", "/us/app/id", ({ url }) => {
    const app = byId.get(url.pathname.slice("/us/app/id".length))
    return app && new Response(page(app))
  })
}

/** Returns the chart feed that the URL names. An only app is not in a list, and an empty feed has no entry. */
export function chartFeed(url: URL, apps: readonly ShownApp[]): Response {
  const [, storefront, , feed] = url.pathname.split("/")
  const genre = /\/genre=(\d+)/.exec(url.pathname)?.[1]
  const id = `https://itunes.apple.com/${storefront}/rss/${feed}/limit=200/${genre ? `genre=${genre}/` : ""}json`
  const entries = apps.map(({ id, name, genre = 6007 }) => ({
    "im:name": { label: name },
    id: { label: `https://apps.apple.com/${storefront}/app/id${id}`, attributes: { "im:id": id } },
    category: { attributes: { "im:id": String(genre) } },
  }))
  const entry = entries.length > 1 ? entries : entries[0]
  return Response.json({
    feed: {
      title: { label: "iTunes Store: a chart" },
      updated: { label: "2026-08-12T06:12:41-07:00" },
      id: { label: id },
      link: [{ attributes: { rel: "self", href: id } }],
      ...(entry && { entry }),
    },
  })
}

/** Returns the pages of this many reviews, 50 each, newest first. `otherwise` replaces pages by their number. */
export function reviewPages(newest: number, count: number, otherwise: Record<number, Page> = {}): Page[] {
  const pages = Math.ceil(count / 50)
  return Array.from({ length: pages }, (_, at) => {
    const first = newest - at * 50
    const reviews = Array.from({ length: Math.min(50, count - at * 50) }, (_, i) => first - i)
    return otherwise[at + 1] ?? { reviews, last: pages }
  })
}

/** Answers with the reviews of an app in the US; a later call takes precedence. */
export function answersReviews(stores: ReplayServer, id: string, pages: readonly Page[]): void {
  stores.on("itunes.apple.com", "/us/rss/customerreviews/", ({ url }) => {
    const [, page, requestedId] = /\/page=(\d+)\/id=(\d+)\//.exec(url.pathname) ?? []
    if (requestedId !== id) return undefined
    return new Response(xmlFeed("us", id, Number(page), pages[Number(page) - 1] ?? { reviews: [], last: pages.length }))
  })
}

/** Answers every request about that app in the US, with 500 reviews, and charts with the app in place 4. */
export function answersPublic(stores: ReplayServer): void {
  const otherApps = [...someApps(99), ...someApps(60, 1_000_100_000)]
  answersAppPages(stores, [...otherApps, HARBOR], appPage)
  stores.on("itunes.apple.com", "/us/rss/top", ({ url }) =>
    chartFeed(url, otherApps.slice(0, 99).toSpliced(3, 0, HARBOR)),
  )
  stores.on(
    "itunes.apple.com",
    "/WebObjects/MZStoreServices.woa/ws/genres",
    () => new Response(fixture("apple-genres-us.json")),
  )
  stores.on("itunes.apple.com", "/lookup", ({ url }) => {
    const ids = url.searchParams.get("id")!.split(",")
    if (ids.includes(String(HARBOR.developerId))) return new Response(fixture("itunes-developer-us.json"))
    return lookupAnswer([...otherApps, HARBOR].filter(({ id }) => ids.includes(id)))
  })
  answersReviews(stores, HARBOR.id, reviewPages(9_000, 500))
}
