import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { deriveFindings } from "../../src/alerts/findings.ts"
import { openStoreReading } from "../../src/commands/process/store-reading.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { UPSTREAMS } from "../../src/lib/upstreams.ts"
import { OutboundProblem } from "../../src/outbound/problem.ts"
import { freshDatabase } from "../database.ts"
import { until } from "../jobs/platform.ts"
import { long } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { type ReplayServer, replayServer } from "../stores/parsing/replay.ts"
import { xmlFeed } from "../stores/parsing/review-pages.ts"
import { answersAppPages, answersPublic, appPage, chartFeed, HARBOR } from "./public-pages.ts"
import { hintsAnswer, lookupAnswer, type ShownApp, searchPage, someApps, storeSearchAnswer } from "./store-pages.ts"

setDefaultTimeout(120_000)

const DAY_MS = 86_400_000
const folder = mkdtempSync(join(tmpdir(), "appmeter-raw-"))
const TODAY = new Date()
const YESTERDAY = new Date(TODAY.getTime() - DAY_MS)

const OTHERS = someApps(20)
const [A, B, C, D, E] = OTHERS as [ShownApp, ShownApp, ShownApp, ShownApp, ShownApp]
/** Ten apps of another genre. The tracked app is not among them. */
const KETTLES = someApps(10, 1_000_200_000)

/** The search results of the first and the second day. */
const RESULTS: Record<string, [ShownApp[], ShownApp[]]> = {
  "sleep sounds": [
    [A, B, HARBOR, C, D],
    [A, B, C, D, E, HARBOR],
  ],
  "white noise": [
    [A, HARBOR, B],
    [A, B],
  ],
  rain: [
    [A, B],
    [HARBOR, A, B],
  ],
  calm: [
    [A, B, C, D, HARBOR],
    [A, HARBOR, B, C, D],
  ],
  harbor: [
    [HARBOR, A],
    [HARBOR, A],
  ],
  "tea kettle": [KETTLES, KETTLES],
}
const TERMS = Object.keys(RESULTS)

let sql: Sql
let stores: ReplayServer
let service: Service
let key: string
let app: string
let second = false
let unreadable = false

beforeAll(async () => {
  sql = await freshDatabase()
  stores = replayServer()
  answersPublic(stores)
  answersSearches()
  answersPages()
  answersReviewsOfDays()
  service = openService({ sql, now: () => (second ? TODAY : YESTERDAY) })
  key = await service.key(await service.workspace())
})
afterAll(async () => {
  await stores.stop()
  rmSync(folder, { recursive: true })
})

long("the first day's readings make no alert except for a keyword that is off topic", async () => {
  const args = { iosId: HARBOR.id, countries: ["us"], keywords: TERMS }
  const preview = await service.call("/v1/actions", { key, method: "POST", body: { action: "add_app", args } })
  const confirm = { key, method: "POST", body: { confirmToken: preview.body.confirmToken } }
  expect((await service.call("/v1/actions/confirm", confirm)).status).toBe(200)
  app = (await service.call("/v1/apps", { key })).body.apps[0].id
  // the stores' clock is a day behind the database's
  await sql`update tracked_app set created_at = created_at - interval '2 days'`
  await sql`update tracked_term set added_at = added_at - interval '2 days'`
  await readAll()
  expect(await alerts()).toEqual([
    'off_topic: None of the first ten results for "tea kettle" in the US App Store shares your category, genre 6013',
  ])
  expect((await service.call(`/v1/apps/${app}/timeline`, { key })).body.changes).toEqual([])
})

long("unreadable pages between the two days make no alert", async () => {
  unreadable = true
  const before = await alerts()
  await sql`update due set next_at = now() where kind in ('listing', 'app')`
  await readAll()
  const failed = await sql`select distinct kind from attempt where outcome = 'changed' order by kind`
  expect(failed.map(({ kind }) => kind)).toEqual(["apps", "listing"])
  expect(await alerts()).toEqual(before)
  expect(await sql`select 1 from listing_change`).toHaveLength(0)
  unreadable = false
})

long("the second day makes exactly the expected alerts and changes", async () => {
  second = true
  const requestCount = stores.requests.length
  await sql`update due set next_at = now() where kind not in ('genres', 'developer', 'app_ads')`
  await readAll()
  expect(await alerts()).toEqual(EXPECTED)
  const changes = await sql<{ what: string; before: unknown; after: unknown }[]>`
    select concat_ws(' ', a.store_id, c.kind, nullif(c.subject, '')) as what, c.before, c.after
    from listing_change c
    join store_app a on a.id = c.app_id
    order by a.store_id, c.kind, c.subject, c.source`
  expect(changes.map(({ what, before, after }) => [what, before, after])).toEqual(CHANGES)
  // changes are compared with the last successful reading, not with the failed one
  const changeTimes = await sql<
    { at: Date; before: Date }[]
  >`select distinct at, before_seen_at as before from listing_change`
  expect([...changeTimes]).toEqual([{ at: TODAY, before: YESTERDAY }])
  // as many requests a day as in the manual, plus a canary search
  const paths = stores.requests.slice(requestCount).map(({ url }) => url.pathname)
  const count = (path: string) => paths.filter((requested) => requested.startsWith(path)).length
  const counted = [`/us/app/id${HARBOR.id}`, "/us/rss/top", "/us/rss/customerreviews/", "/us/iphone/search"].map(count)
  expect(counted).toEqual([1, 12, 1, TERMS.length + 1])
  const pages = paths.filter((path) => path.startsWith("/us/app/"))
  const rivals = await sql<{ id: string }[]>`
    select a.store_id as id
    from app_rival r
    join store_app a on a.id = r.rival`
  expect(pages).toEqual(expect.arrayContaining(rivals.map(({ id }) => `/us/app/id${id}`)))
  expect([rivals.length, new Set(pages).size]).toEqual([10, pages.length])
})

long("reading and checking both days again makes no further alert", async () => {
  const before = await sql`select t::text from alert t order by id`
  const changes = await sql`select t::text from listing_change t order by 1`
  await sql`update due set next_at = now() where kind not in ('genres', 'developer', 'app_ads')`
  await readAll()
  for (const now of [TODAY, new Date(TODAY.getTime() + 3_600_000)]) {
    await sql.begin((tx) => deriveFindings(tx, [{ platform: "ios", storefront: "us", subject: HARBOR.id }], now))
  }
  expect([...(await sql`select t::text from alert t order by id`)]).toEqual([...before])
  expect([...(await sql`select t::text from listing_change t order by 1`)]).toEqual([...changes])
})

const NAMES = Object.fromEntries(OTHERS.map((other, at) => [at, other.name])) as Record<number, string>

/** The parts of a page that change on the second day: the text of the first day and its replacement. */
const EDITS: [after: string, before: string][] = [
  ["4.2.1", "4.1.9"],
  ["Rain, waves", "Rain"],
  ["1400000011", "1400000099"],
  ["6750000001", "6750000099"],
  ["a night on the northern sea", "a harbor in the fog"],
  ["• A timer that fades out", "• A timer"],
  ["d4ac50fe-example/AppIcon", "0dd1c045-example/AppIcon"],
  ["0ec3ee38-example/Screen", "0dd5c4ee-example/Screen"],
]
const ICON = "https://is1-ssl.mzstatic.com/image/new/512x512bb.jpg"
const SHOTS = ["https://is1-ssl.mzstatic.com/image/one.jpg", "https://is1-ssl.mzstatic.com/image/two.jpg"]

const card = (id: string) => ({ id, kind: "story", title: "Wind down for the night" })
const event = expect.objectContaining({ title: "Northern Lights Week" })

/** Changes on rivals' pages: the recorded text, and the texts of the first and the second day. */
const RIVAL_EDITS: Record<string, [recorded: string, first: string, second: string][]> = {
  [A.id]: [
    ["4.2.1", "1.0", "1.1"],
    // all except screenshots
    ...EDITS.slice(1, 7).map(([after, before]): [string, string, string] => [after, before, after]),
  ],
  [B.id]: [
    [`"price":0,`, `"price":0,`, `"price":4.99,`],
    [`"isFree":true`, `"isFree":true`, `"isFree":false`],
    ["90288479-example/Screen", "0dd5c4ee-example/Screen", "90288479-example/Screen"],
  ],
  [D.id]: [
    ["[91350,9450,", "[71350,29450,", "[71350,29450,"],
    ["4.8", "4.5", "4.2"],
  ],
}

/** Expected changes of the app from its page, and of rivals from their pages and look-ups: what, before and after. */
const CHANGES: [what: string, before: unknown, after: unknown][] = [
  ...wordsOf(A.id),
  [`${A.id} icon`, expect.stringContaining("0dd1c045-example"), expect.stringContaining("d4ac50fe-example")],
  [`${A.id} icon`, `https://is1-ssl.mzstatic.com/image/${A.id}/512x512bb.jpg`, ICON],
  [`${A.id} version`, "1.0", "1.1"],
  [`${A.id} version`, "1.0", "1.1"],
  [`${B.id} price`, { price: 0, currency: "USD" }, { price: 4.99, currency: "USD" }],
  [`${B.id} price`, { price: 0, currency: "USD" }, { price: 4.99, currency: "USD" }],
  [`${B.id} screenshots`, { phone: expect.any(Array) }, { phone: expect.any(Array) }],
  [`${B.id} screenshots`, { phone: SHOTS.slice(0, 1) }, { phone: SHOTS }],
  [`${C.id} name`, C.name, "App C"],
  [`${C.id} name`, C.name, "App C"],
  [`${D.id} rating_jump`, 4.5, 4.2],
  [`${D.id} rating_jump`, 4.5, 4.2],
  ...wordsOf(HARBOR.id),
  [`${HARBOR.id} icon`, expect.stringContaining("0dd1c045-example"), expect.stringContaining("d4ac50fe-example")],
  [`${HARBOR.id} screenshots`, { pad: expect.any(Array) }, { pad: expect.any(Array) }],
  [`${HARBOR.id} version`, "4.1.9", "4.2.1"],
].sort(([a], [b]) => (a as string).localeCompare(b as string)) as never

/** Parts that only an app's page has. */
function wordsOf(id: string): [what: string, before: unknown, after: unknown][] {
  return [
    [
      `${id} description`,
      expect.stringContaining("• A timer\n"),
      expect.stringContaining("• A timer that fades out\n"),
    ],
    [`${id} event_ended 6750000099`, event, null],
    [`${id} event_started 6750000001`, null, event],
    [`${id} featured story 1400000011`, null, card("1400000011")],
    [`${id} promotional_text`, expect.stringContaining("fog"), expect.stringContaining("northern sea")],
    [`${id} subtitle`, "Rain & white noise", "Rain, waves & white noise"],
    [`${id} unfeatured story 1400000099`, card("1400000099"), null],
  ]
}

const EXPECTED = [
  `chart_drop: You fell from 4 to 30 on the free iPhone chart of genre 6013 in the US App Store`,
  `chart_enter: You entered the paid iPad chart of genre 6013 in the US App Store at 50 (before: not in the first 99)`,
  `dropped_out: "white noise" dropped out in the US App Store: not in the first 200 (before: 2)`,
  `entered: "rain" entered at 1 in the US App Store (before: not in the first 200)`,
  `featured: The US App Store features you in a story: "Wind down for the night"`,
  `off_topic: None of the first ten results for "tea kettle" in the US App Store shares your category, genre 6013`,
  `rank_drop: "sleep sounds" fell from 3 to 6 in the US App Store`,
  `rank_rise: "calm" rose from 5 to 2 in the US App Store`,
  `review_wave: You got 6 one-star reviews in the US App Store (28 days before: 0 a day)`,
  `rival_beaten: You passed ${NAMES[0]} on "rain" in the US App Store: 1 vs 2 (before: not in the first 200 vs 1)`,
  `rival_beaten: You passed ${NAMES[1]} on "calm" in the US App Store: 2 vs 3 (before: 5 vs 2)`,
  `rival_beaten: You passed ${NAMES[1]} on "rain" in the US App Store: 1 vs 3 (before: not in the first 200 vs 2)`,
  `rival_beaten: You passed App C on "calm" in the US App Store: 2 vs 4 (before: 5 vs 3)`,
  `rival_beaten: You passed ${NAMES[3]} on "calm" in the US App Store: 2 vs 5 (before: 5 vs 4)`,
  `rival_event: ${NAMES[0]} changed its icon in the US App Store`,
  `rival_event: ${NAMES[0]} updated from version 1.0 to 1.1 in the US App Store`,
  `rival_event: ${NAMES[1]} changed its price from free to 4.99 USD in the US App Store`,
  `rival_event: ${NAMES[1]} changed its screenshots in the US App Store`,
  `rival_event: ${NAMES[3]} fell from 4.5 to 4.2 stars in the US App Store`,
  `rival_event: App C changed its name from "${NAMES[2]}" to "App C" in the US App Store`,
  `rival_passed: ${NAMES[1]} passed you on "white noise" in the US App Store: 2 vs not in the first 200 (before: ` +
    "3 vs 2)",
  `rival_passed: ${NAMES[3]} passed you on "sleep sounds" in the US App Store: 4 vs 6 (before: 5 vs 3)`,
  `rival_passed: ${NAMES[4]} passed you on "sleep sounds" in the US App Store: 5 vs 6 (before: ` +
    "not in the first 200 vs 3)",
  `rival_passed: App C passed you on "sleep sounds" in the US App Store: 3 vs 6 (before: 4 vs 3)`,
].sort()

async function alerts(): Promise<string[]> {
  const { body } = await service.call("/v1/alerts?limit=500", { key })
  return body.alerts.map(({ type, sentence }: Record<string, string>) => `${type}: ${sentence}`).sort()
}

function answersSearches(): void {
  const appsOf = (term: string) => (RESULTS[term]?.[second ? 1 : 0] ?? OTHERS).map(renamed)
  stores.on("apps.apple.com", "/us/iphone/search", ({ url }) => {
    const term = url.searchParams.get("term") as string
    return searchPage("us", term, appsOf(term))
  })
  stores.on("search.itunes.apple.com", "/WebObjects/MZSearchHints.woa", ({ url }) => hintsAnswer(TERMS, url))
  stores.on("search.itunes.apple.com", "/WebObjects/MZStore.woa", () => storeSearchAnswer(OTHERS))
}

/** On the second day every source shows a new name for one of these apps. */
function renamed(listed: ShownApp): ShownApp {
  return second && listed.id === C.id ? { ...listed, name: "App C" } : listed
}

/** Serves pages of the app and its rivals, its charts, and look-ups in which four rivals change as their pages do. */
function answersPages(): void {
  answersAppPages(stores, [...OTHERS, ...KETTLES, HARBOR], (app) => {
    if (unreadable) return "{}"
    if (app.id !== HARBOR.id) return rivalPage(app)
    return second ? appPage(app) : EDITS.reduce((body, [now, replaced]) => body.replaceAll(now, replaced), appPage(app))
  })
  stores.on("itunes.apple.com", "/us/rss/top", ({ url }) => {
    const [otherApps, { pathname }] = [someApps(99, 1_000_300_000), url]
    const isOwnGenre = pathname.includes("/topfreeapplications/") && pathname.includes("genre=6013")
    const ipad = pathname.includes("/toppaidipadapplications/") && pathname.includes("genre=6013")
    if (ipad && !second) return chartFeed(url, otherApps)
    const place = ipad ? 50 : isOwnGenre && second ? 30 : 4
    return chartFeed(url, otherApps.toSpliced(place - 1, 0, HARBOR))
  })
  const storeApps = [...OTHERS, ...KETTLES, HARBOR]
  stores.on("itunes.apple.com", "/lookup", async ({ url }) => {
    if (unreadable) return new Response("{}")
    const ids = url.searchParams.get("id")!.split(",")
    if (ids.includes(String(HARBOR.developerId))) return new Response(fixture("itunes-developer-us.json"))
    const answer = (await lookupAnswer(storeApps.filter(({ id }) => ids.includes(id))).json()) as { results: Looked[] }
    return Response.json({ ...answer, results: answer.results.map(otherwise) })
  })
}

function rivalPage(app: ShownApp): string {
  const edits = RIVAL_EDITS[app.id] ?? []
  return edits.reduce(
    (body, [recorded, first, secondText]) => body.replaceAll(recorded, second ? secondText : first),
    appPage(renamed(app)),
  )
}

interface Looked {
  trackId: number
  screenshotUrls?: string[]
}

function otherwise(row: Looked): Looked {
  const changed: Record<string, object> = {
    [A.id]: { version: "1.1", artworkUrl512: ICON },
    [B.id]: { price: 4.99, screenshotUrls: SHOTS },
    [C.id]: { trackName: "App C" },
    [D.id]: { averageUserRating: 4.2 },
  }
  return { ...row, screenshotUrls: SHOTS.slice(0, 1), ...(second && changed[row.trackId]) }
}

/** Serves five-star reviews, one every 12 hours for 40 days, and six one-star reviews on the second day. */
function answersReviewsOfDays(): void {
  const earlier = Array.from({ length: 80 }, (_, at) => ({
    id: 500 + at,
    stars: 5,
    at: new Date(YESTERDAY.getTime() - (80 - at) * (DAY_MS / 2)),
  }))
  const wave = Array.from({ length: 6 }, (_, at) => ({
    id: 900 + at,
    stars: 1,
    at: new Date(TODAY.getTime() - (60 - at) * 10),
  }))
  stores.on("itunes.apple.com", "/us/rss/customerreviews/", ({ url }) => {
    const page = Number(/\/page=(\d+)\//.exec(url.pathname)?.[1])
    const reviewRows = [...(second ? wave.toReversed() : []), ...earlier.toReversed()]
    const reviews = reviewRows.slice((page - 1) * 50, page * 50)
    const feed = xmlFeed("us", HARBOR.id, page, { reviews: reviews.map(({ id }) => id), last: 2 })
    return new Response(reviews.reduce((body, { id, stars, at }) => rewritten(body, { id, stars, at }), feed))
  })
}

function rewritten(body: string, { id, stars, at }: { id: number; stars: number; at: Date }): string {
  const entry = new RegExp(`<updated>[^<]*</updated><id>${id}</id>(.*?)<im:rating>\\d</im:rating>`, "s")
  const updated = `${at.toISOString().slice(0, 19)}-00:00`
  return body.replace(entry, `<updated>${updated}</updated><id>${id}</id>$1<im:rating>${stars}</im:rating>`)
}

async function readAll(): Promise<void> {
  const reading = openStoreReading({
    sql,
    log: silentLog,
    now: () => (second ? TODAY : YESTERDAY),
    outbound: async () => {
      throw new OutboundProblem("no_such_host")
    },
    findingsAfterMs: 50,
    settings: {
      on: true,
      atOnce: 6,
      egress: "main",
      egressCountry: undefined,
      sourcesOff: [],
      gapsMs: new Map(UPSTREAMS.map((upstream) => [upstream, 3])),
      addresses: new Map(UPSTREAMS.map((upstream) => [upstream, stores.address(upstream)])),
      raw: { accountDays: 0, folder, days: 14, megabytes: 10 },
    },
  })
  reading.start()
  try {
    await until(async () => (await countUnread()) === 0)
  } finally {
    await reading.stop()
  }
}

/** Returns what is still due or was never read. */
async function countUnread(): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*) as n
    from due
    where next_at <= now() + interval '1 second' or lease is not null or measured_at is null`
  return row!.n
}
