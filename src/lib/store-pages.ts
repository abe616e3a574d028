import { withoutInvisible } from "./invisible.ts"
import { isStoreId } from "./store-ids.ts"
import { isStorefront } from "./storefronts.ts"

export type Platform = "ios" | "android"

/** Maximum length of a reply to a review, in characters (Unicode code points). Both stores refuse longer ones. */
export const REPLY_LENGTHS = { ios: 5_970, android: 350 } as const

export const STORES = { ios: "the App Store", android: "Google Play" } as const

export function appPage(platform: Platform, storeId: string, country: string): string {
  return platform === "ios"
    ? `https://apps.apple.com/${country}/app/id${storeId}`
    : `https://play.google.com/store/apps/details?id=${storeId}`
}

export function searchPage(platform: Platform, term: string, country: string): string {
  const query = encodeURIComponent(term)
  return platform === "ios"
    ? `https://apps.apple.com/${country}/iphone/search?term=${query}`
    : `https://play.google.com/store/search?q=${query}&c=apps&gl=${country.toUpperCase()}`
}

/** A link to an app's page in a store. */
interface AppLink {
  platform: Platform
  id: string
  /** The storefront in the link. Null if it has none. */
  storefront: string | null
}

/** A link to another page of a store. */
interface OtherLink {
  /** The target of the link, for instance "a developer". */
  leadsTo: string
}

/** Returns the store id in the URL of an app's page, or in Apple's form "id" and digits. Null if there is none. */
export function storeIdInLink(text: string): string | null {
  const link = readStoreLink(text)
  return link !== null && "id" in link ? link.id : null
}

/** Returns the store of an app's link, id or package name. Null for any other text. */
export function storeOf(text: string): Platform | null {
  const bare = bareText(text)
  const id = storeIdInLink(bare) ?? bare
  return (["ios", "android"] as const).find((platform) => isStoreId(platform, id)) ?? null
}

/**
 * Explains why a link to a store page does not identify an app. Null for an app's link and for text that is not a store
 * link.
 */
export function whyNoApp(text: string): string | null {
  const link = readStoreLink(text)
  if (link === null || "id" in link) return null
  return (
    `The link leads to ${link.leadsTo}, not to an app. Give the link of the app's own page, ` +
    "its App Store id or its package name."
  )
}

/** Parses a store link in the forms that stores, phones and chats produce. Null if it is not one. */
export function readStoreLink(text: string): AppLink | OtherLink | null {
  const address = bareText(text)
  const [, digits] = /^id(\d+)$/i.exec(address) ?? []
  if (digits !== undefined) return appLink("ios", digits, null)
  const url = urlOf(address)
  if (url === null) return null
  const { protocol, hostname } = url
  if (protocol === "android-app:") return appLink("android", hostname, null)
  if (protocol === "market:") return playLink(hostname, url)
  if (APP_STORE_HOSTS.has(hostname)) return appleLink(url)
  if (PLAY_HOSTS.has(hostname)) return playLink(playPath(url), url)
  const other = OTHER_HOSTS[hostname]
  return other === undefined ? null : { leadsTo: other }
}

/** Removes invisible characters, surrounding brackets and quotation marks, and punctuation at the end of a sentence. */
export function bareText(text: string): string {
  return withoutInvisible(text)
    .trim()
    .replace(/^[<("'“”„‘‚«»[「『《]+/, "")
    .replace(/[>)"'“”‘’«»\]」』》.,;:!?…。、]+$/, "")
    .trim()
}

function urlOf(address: string): URL | null {
  if (/\s/.test(address)) return null
  const opened = address.replace(/^intent:\/\/(?=details)/i, "market://")
  const named = SCHEME.test(opened)
    ? opened.replace(SCHEME, (_, scheme: string) => SCHEMES[scheme.toLowerCase()] ?? `${scheme}://`)
    : `https://${address}`
  return URL.canParse(named) ? new URL(named) : null
}

const SCHEME = /^([a-z][a-z-]*):\/*/i
/** Schemes of phones that open the store's app at the same address. */
const SCHEMES: Record<string, string> = {
  http: "https://",
  "itms-apps": "https://",
  "itms-appss": "https://",
  itms: "https://",
  itmss: "https://",
  macappstore: "https://",
  intent: "https://",
}

const APP_STORE_HOSTS = new Set([
  "apps.apple.com",
  "itunes.apple.com",
  "geo.itunes.apple.com",
  "geo.apps.apple.com",
  "phobos.apple.com",
])
const PLAY_HOSTS = new Set(["play.google.com", "www.play.google.com", "market.android.com"])
const OTHER_HOSTS: Record<string, string> = {
  "music.apple.com": "music",
  "podcasts.apple.com": "a podcast",
  "books.apple.com": "a book",
  "tv.apple.com": "a film or series",
  "testflight.apple.com": "a beta test",
}

function appLink(platform: Platform, id: string, country: string | null | undefined): AppLink | null {
  if (!isStoreId(platform, id)) return null
  const storefront = country?.toLowerCase() ?? null
  return { platform, id, storefront: storefront !== null && isStorefront(storefront, platform) ? storefront : null }
}

/** Path segments of App Store pages that are not apps. */
const APPLE_PAGES: Record<string, string> = {
  developer: "a developer",
  artist: "a developer",
  viewartist: "a developer",
  story: "an editorial story",
  collection: "a collection",
  "app-bundle": "a bundle of apps",
  "app-bundles": "a bundle of apps",
  room: "an editorial list",
  grouping: "an editorial list",
  genre: "a category",
  charts: "a chart",
  search: "a search",
  today: "the store's front page",
  album: "an album",
  song: "a song",
  playlist: "a playlist",
  "music-video": "a music video",
  podcast: "a podcast",
  book: "a book",
  audiobook: "an audiobook",
  author: "an author",
  movie: "a film",
  "tv-season": "a series",
  "tv-show": "a series",
  "tv-episode": "an episode of a series",
}

/** Parses "/us/app/name/id1", "/app/id1", "/us/iphone/app/id1", "/us/id1", and the old "viewSoftware?id=1". */
function appleLink({ pathname, searchParams }: URL): AppLink | OtherLink | null {
  const parts = pathname.split("/").filter((part) => part !== "")
  const country = /^[a-z]{2}$/i.test(parts[0] ?? "") ? parts[0] : undefined
  const words = parts.map((part) => part.toLowerCase())
  const idOf = (part: string | undefined) => /^id(\d+)$/i.exec(part ?? "")?.[1]
  const app = words.indexOf("app")
  const at = app < 0 ? (country === undefined ? 0 : 1) : [app + 1, app + 2].find((place) => idOf(parts[place]))
  const named = at === undefined ? undefined : idOf(parts[at])
  const page = words.slice(0, app < 0 ? undefined : app).find((word) => APPLE_PAGES[word] !== undefined)
  if (page !== undefined) return { leadsTo: APPLE_PAGES[page] as string }
  if (named !== undefined) return appLink("ios", named, country)
  if (words.at(-1) === "viewsoftware")
    return appLink("ios", searchParams.get("id")?.trim() ?? "", searchParams.get("cc"))
  return parts.some((part) => idOf(part) !== undefined) ? { leadsTo: "another page of Apple's stores" } : null
}

/** Path segments of Google Play pages that are not apps. */
const PLAY_PAGES: Record<string, string> = {
  dev: "a developer",
  developer: "a developer",
  collection: "a collection",
  category: "a category",
  topic: "a collection",
  editorial: "an editorial story",
  stream: "a collection",
  top: "a chart",
  search: "a search",
  books: "a book",
  audiobooks: "an audiobook",
  movies: "a film",
  tv: "a series",
  music: "music",
  newsstand: "a magazine",
  devices: "a device",
}

/** Returns the part of a Google Play path after "apps": "details/Name" of "/store/apps/details/Name". */
function playPath({ pathname }: URL): string {
  return pathname
    .replace(/^\/+/, "")
    .replace(/^work\/+/i, "")
    .replace(/^store(\/+|$)/i, "")
    .replace(/^apps(\/+|$)/i, "")
}

function playLink(path: string, { pathname, searchParams, protocol }: URL): AppLink | OtherLink | null {
  const words = path
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "")
  const [first = ""] = words
  const id = searchParams.get("id")?.trim() ?? ""
  if (first === "details" || first === "datasafety") return appLink("android", bareText(id), searchParams.get("gl"))
  if (first === "testing") return appLink("android", path.split("/").filter(Boolean)[1] ?? "", null)
  const page = [first, ...(protocol === "market:" ? pathname.toLowerCase().split("/") : [])].find(
    (word) => PLAY_PAGES[word] !== undefined,
  )
  return page === undefined ? null : { leadsTo: PLAY_PAGES[page] as string }
}
