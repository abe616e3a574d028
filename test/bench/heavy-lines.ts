import { addDays } from "../../src/lib/days.ts"

/** The amounts imported at once. */
export interface Amount {
  reviews: number
  lists: number
  charts: number
}

/** Ids of the app that has the reviews and is in most lists. */
export const IOS_ID = "1000000007"
export const KEYWORD = (n: number) => `keyword ${n}`

const [APPS, PLACES, CHART_PLACES, REVIEWS_A_LINE] = [20_000, 200, 100, 1_000]
const TEXT =
  "What somebody wrote of an app at some length, as people do: the good, the bad, and what is missing still. "

/** Lines of an import file, of all kinds in alternation, seen on days up to the day before `now`. */
export function* heavyLines({ reviews, lists, charts }: Amount, now: Date): Generator<string> {
  const at = (n: number) => new Date(now.getTime() - 86_400_000 - n * 1_000).toISOString()
  const pages = Math.ceil(reviews / REVIEWS_A_LINE)
  const max = Math.max(lists, charts, pages)
  for (let n = 0; n < max; n++) {
    // spread evenly over the file
    const isDue = (count: number) => Math.floor(((n + 1) * count) / max) > Math.floor((n * count) / max)
    if (isDue(lists)) yield JSON.stringify(searchOf(Math.floor((n * lists) / max), at(n)))
    if (isDue(charts)) yield JSON.stringify(chartOf(Math.floor((n * charts) / max), now))
    if (isDue(pages)) yield JSON.stringify(pageOf(Math.floor((n * pages) / max), reviews, now))
  }
}

function searchOf(list: number, seenAt: string) {
  const results: { id: string; name?: string }[] = Array.from({ length: PLACES }, (_, place) =>
    appOf(list * 37 + place * (1 + (list % 13)), place),
  )
  results[list % 20] = { id: IOS_ID, name: "The app" }
  const each = [...new Map(results.map((app) => [app.id, app])).values()]
  return {
    kind: "search",
    source: "import",
    platform: "ios",
    storefront: "us",
    term: KEYWORD(list),
    seenAt,
    depth: PLACES,
    results: each,
  }
}

function chartOf(n: number, now: Date) {
  const day = addDays(now.toISOString().slice(0, 10), -1 - Math.floor(n / 60))
  const genre = String(6_000 + (n % 20))
  const chart = ["free", "paid", "grossing"][Math.floor(n / 20) % 3]
  const apps = Array.from({ length: CHART_PLACES }, (_, place) => appOf(n * 11 + place * 3, place))
  const each = [...new Map(apps.map((app) => [app.id, app])).values()]
  const chartFields = { source: "import", platform: "ios", storefront: "us", device: "iphone", chart, genre }
  return { kind: "chart", ...chartFields, seenAt: `${day}T03:00:00Z`, depth: CHART_PLACES, apps: each }
}

function pageOf(page: number, inAll: number, now: Date) {
  const count = Math.min(REVIEWS_A_LINE, inAll - page * REVIEWS_A_LINE)
  const reviews = Array.from({ length: count }, (_, i) => {
    const n = page * REVIEWS_A_LINE + i
    const written = new Date(now.getTime() - (n + 1) * 60_000).toISOString()
    return {
      id: String(n + 1),
      stars: 1 + (n % 5),
      title: `Title ${n}`,
      text: TEXT.repeat(1 + (n % 3)) + n,
      version: `1.${n % 40}`,
      at: written,
    }
  })
  const seenAt = new Date(now.getTime() - page * 1_000).toISOString()
  return {
    kind: "reviews",
    source: "apple-reviews",
    platform: "ios",
    storefront: "us",
    storeId: IOS_ID,
    seenAt,
    complete: true,
    reviews,
  }
}

/** Returns the app at a place. The first places have names, as on a store page. */
function appOf(n: number, place: number) {
  const id = String(1_000_000_000 + (n % APPS))
  return place < 12
    ? { id, name: `App ${n % APPS}`, developer: `Developer ${n % 500}`, ratings: 1_000 + n, rating: 4.5 }
    : { id }
}
