import type { ReplayServer } from "../stores/parsing/replay.ts"

/** An app as a store shows it in these tests. */
export interface ShownApp {
  id: string
  name: string
  ratings: number
  genre?: number
  developerId?: number
  /** The seller's id. */
  site?: string
}

/** Returns this many apps, with ids from a number on. */
export function someApps(count: number, from = 1_000_000_000): ShownApp[] {
  return Array.from({ length: count }, (_, i) => ({
    id: String(from + i),
    name: `App ${from + i}`,
    ratings: 100_000 - i,
  }))
}

const ALL_SHOWN = 12

/**
 * Returns the App Store's search page for the iPhone: the first twelve apps in full, then ids, as in its embedded data.
 */
export function searchPage(storefront: string, term: string, apps: readonly ShownApp[]): Response {
  const items = apps.slice(0, ALL_SHOWN).map(({ id, name }) => ({
    $kind: "AppSearchResult",
    lockup: { adamId: id, title: name, developerName: `Maker of ${name}` },
  }))
  const rest = apps.slice(ALL_SHOWN).map(({ id }) => ({ type: "apps", id }))
  const shelves = [{ id: "SearchResults.shelfId", contentType: "searchResult", items }]
  const data = { shelves, nextPage: rest.length > 0 ? { results: rest } : null }
  const json = JSON.stringify([{ intent: { storefront, term, platform: "iphone" }, data }])
  return html(`<script type="application/json" id="serialized-server-data">${json.replaceAll("<", "\\u003c")}</script>`)
}

/** Returns the response of the App Store's own search, as phones get it. */
export function storeSearchAnswer(apps: readonly ShownApp[]): Response {
  const results = apps.map(({ id }) => ({ id, type: 8, entity: "software" }))
  return Response.json({ bubbles: [{ name: "software", results, totalCount: results.length }] })
}

/** Returns a page with a CAPTCHA. */
export function captchaPage(): Response {
  return html('<p>Our systems have detected unusual traffic.</p><div class="g-recaptcha" data-sitekey="x"></div>')
}

/** Returns an iTunes look-up response; unknown ids are left out. */
export function lookupAnswer(apps: readonly ShownApp[]): Response {
  const results = apps.map(({ id, name, ratings, genre = 6007, developerId, site }) => ({
    wrapperType: "software",
    kind: "software",
    trackId: Number(id),
    trackName: name,
    artistName: `Maker of ${name}`,
    bundleId: `com.example.a${id}`,
    artworkUrl512: `https://is1-ssl.mzstatic.com/image/${id}/512x512bb.jpg`,
    userRatingCount: ratings,
    averageUserRating: 4.5,
    version: "1.0",
    price: 0,
    currency: "USD",
    primaryGenreId: genre,
    ...(developerId !== undefined && { artistId: developerId }),
    ...(site !== undefined && { sellerUrl: site }),
    releaseDate: "2020-01-01T08:00:00Z",
    currentVersionReleaseDate: "2026-01-01T08:00:00Z",
  }))
  return Response.json({ resultCount: results.length, results })
}

/** Returns the App Store's suggestions for the prefix in `url`: these terms, or a known app for the daily canary. */
export function hintsAnswer(terms: readonly string[], url: URL): Response {
  const suggested = url.searchParams.get("term") === "insta" ? ["instagram"] : terms
  const hints = suggested.map((term) => `<dict><key>term</key><string>${term}</string></dict>`).join("")
  const plist = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple Computer//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict><key>title</key><string>Suggestions</string><key>hints</key><array>${hints}</array></dict></plist>`
  return new Response(plist, { headers: { "content-type": "text/xml" } })
}

function html(body: string): Response {
  const page = `<!DOCTYPE html><html><head><title>App Store</title></head><body>${body}</body></html>`
  return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } })
}

interface SearchAnswers {
  apps: readonly ShownApp[]
  /** The apps as a look-up returns them. */
  looked?: readonly ShownApp[]
  suggests: readonly string[]
  /** Delay of a search response. */
  holdMs?: number
}

/** Makes every search return these apps, which a look-up finds, and every prefix return these terms. */
export function answerSearches(
  stores: ReplayServer,
  { apps, looked = apps, suggests, holdMs = 0 }: SearchAnswers,
): void {
  stores.on("apps.apple.com", "/", async ({ url }) => {
    if (holdMs > 0) await Bun.sleep(holdMs)
    return searchPage(url.pathname.slice(1, 3), url.searchParams.get("term") as string, apps)
  })
  stores.on("itunes.apple.com", "/lookup", ({ url }) => {
    const ids = (url.searchParams.get("id") as string).split(",")
    return lookupAnswer(looked.filter(({ id }) => ids.includes(id)))
  })
  stores.on("search.itunes.apple.com", "/", ({ url }) => hintsAnswer(suggests, url))
}
