import { expect, setDefaultTimeout } from "bun:test"
import type { Browser } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { beforeSlow, slow } from "../long.ts"
import { record } from "../record.ts"
import { openService } from "../service.ts"
import { newStoreId, trackOwn } from "../world/app.ts"
import { daysAgo } from "../world/clock.ts"
import {
  appsReading,
  chartReading,
  hintsReading,
  listingReading,
  reviewsReading,
  searchReading,
} from "../world/readings.ts"
import { ownerOf } from "./app-scene.ts"
import { expectWellFormed, HOSTILE_MARKUP } from "./markup.ts"

setDefaultTimeout(60_000)

// Tests texts written by others on the pages of the market and of reviews. attacks.test.ts attacks the forms.

/** The hostile text as a page shows it. */
const ESCAPED = "&quot;&#39;&gt;&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;b hostile=&#39;&amp;amp;"
const TERM = "tide"
/** A keyword that people can type. */
const HOSTILE_TERM = "<b>&amp;'"

let owner: Browser
let iosId: string
let base: string
let ids: string[]

beforeSlow(async () => {
  const service = openService({ sql: await freshDatabase() })
  const workspaceId = await service.workspace({ plan: "enterprise", explorer: true })
  iosId = newStoreId()
  ids = [iosId, newStoreId(), newStoreId()]
  const app = await trackOwn(service.sql, {
    workspaceId,
    iosId,
    name: HOSTILE_MARKUP,
    keywords: [TERM, HOSTILE_TERM],
  })
  base = `/app/apps/${app}`
  const named = (id: string) => ({ id, name: HOSTILE_MARKUP, developer: HOSTILE_MARKUP, developerId: "77001" })
  const chart = (days: number, shownIds: string[]) =>
    chartReading(daysAgo(days), shownIds, { genre: "36", source: "apple-charts", apps: shownIds.map(named) })
  const facts = {
    ...named(iosId),
    version: HOSTILE_MARKUP.slice(0, 30),
    releasedAt: new Date(daysAgo(900)),
    ratings: 900,
    rating: 4.5,
    languages: ["en"],
  }
  const page = { name: HOSTILE_MARKUP, developer: HOSTILE_MARKUP, developerId: "77001", subtitle: HOSTILE_MARKUP }
  const similar = ids.slice(1).map((id) => ({ id, name: HOSTILE_MARKUP }))
  const reviews = Array.from({ length: 60 }, (_, at) => ({
    id: String(at + 1),
    stars: 1 + (at % 5),
    at: new Date(Date.now() - at * 43_200_000),
    title: HOSTILE_MARKUP,
    text: `It crashes at every start. ${HOSTILE_MARKUP}`,
    version: HOSTILE_MARKUP.slice(0, 30),
  }))
  const search = (term: string) =>
    searchReading(term, daysAgo(0), ids, { source: "apple-web-search", depth: 200, results: ids.map(named) })
  const phrases = { promotionalText: HOSTILE_MARKUP, description: HOSTILE_MARKUP, similar, moreByDeveloper: similar }
  await record(service.sql, [
    chart(8, [ids[2]!, ids[0]!]),
    chart(1, [ids[0]!, ids[2]!]),
    chart(0, [ids[1]!, ids[0]!]),
    appsReading(daysAgo(0), [facts]),
    listingReading(daysAgo(3), { ...page, subtitle: "Before" }, { id: iosId }),
    listingReading(daysAgo(1), { ...page, ...phrases }, { id: iosId }),
    search(TERM),
    search(HOSTILE_TERM),
    hintsReading(TERM, daysAgo(0), [`${TERM} ${HOSTILE_TERM}`]),
    reviewsReading(new Date().toISOString(), reviews, { storeId: iosId }),
  ])
  owner = await ownerOf(service, workspaceId)
})

slow("hostile texts of stores and reviewers are escaped on every market page and review page", async () => {
  const term = encodeURIComponent(HOSTILE_TERM)
  const showing = [
    "/app/market/charts?country=us&genre=36",
    `/app/market/charts?country=us&genre=36&app=${iosId}`,
    "/app/market/new?country=us",
    "/app/market/find?rankMax=9",
    `/app/market/app?id=${iosId}`,
    `/app/market/app?id=${ids[1]}`,
    `/app/market/keyword?term=${TERM}&country=us`,
    `/app/market/keyword?term=${term}&country=us`,
    `/app/market/rank?term=${TERM}&app=${iosId}&country=us`,
    `/app/market/compare?country=us&apps=${ids.join("+")}`,
    "/app/market/publisher?id=77001",
    `${base}/reviews`,
    `${base}/reviews?q=crashes&sort=lowest`,
    `${base}/reply?review=1`,
    `${base}/summary`,
    `${base}/ranks?terms=${TERM}`,
    `${base}/ranks?terms=${term}`,
    `${base}/visibility`,
    `${base}/assistants`,
    `${base}/revenue`,
  ]
  for (const address of [...showing, "/app/market", "/app/market/categories"]) {
    const { status, text } = await owner.open(address)
    expect([address, status]).toEqual([address, 200])
    expectWellFormed(address, text)
    if (showing.includes(address)) expect([address, text.includes(ESCAPED)]).toEqual([address, true])
  }
})

slow("a hostile text in any parameter of an address is escaped or left out", async () => {
  const hostile = encodeURIComponent(HOSTILE_MARKUP)
  const parameters = [
    "q",
    "term",
    "apps",
    "app",
    "id",
    "country",
    "genre",
    "kind",
    "day",
    "order",
    "page",
    "show",
    "text",
  ]
  parameters.push(
    "publisher",
    "released",
    "rankMin",
    "growthMax",
    "rating",
    "version",
    "language",
    "sort",
    "at",
    "days",
  )
  parameters.push("from", "to", "vs", "terms", "csv", "review", "done", "skipped", "window", "find", "type", "since")
  const markets = ["", "/charts", "/new", "/search", "/find", "/keyword", "/rank", "/compare", "/app", "/publisher"]
  const addresses = [
    ...[...markets, "/categories"].map((path) => `/app/market${path}`),
    ...["reviews", "reply", "summary", "ranks", "visibility", "revenue", "assistants"].map((tab) => `${base}/${tab}`),
    "/app",
    "/app/alerts",
  ]
  for (const address of addresses) {
    const all = parameters.map((name) => `${name}=${hostile}`).join("&")
    const some = [`terms=${TERM}&term=${TERM}&id=${iosId}&apps=${ids.join("+")}&review=1`, all].join("&")
    for (const query of [all, some]) {
      const { status, text } = await owner.open(`${address}?${query}`)
      expect([address, status < 500]).toEqual([address, true])
      expectWellFormed(address, text)
    }
  }
})
