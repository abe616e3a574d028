import { expect, setDefaultTimeout } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openStoreReading } from "../../src/commands/process/store-reading.ts"
import type { Sql } from "../../src/database/types.ts"
import type { Log } from "../../src/lib/log.ts"
import { UPSTREAMS } from "../../src/lib/upstreams.ts"
import { OutboundProblem } from "../../src/outbound/problem.ts"
import type { SafeFetch } from "../../src/outbound/safe-fetch.ts"
import { freshDatabase } from "../database.ts"
import { rowsOf } from "../every-row.ts"
import { until } from "../jobs/platform.ts"
import { afterSlow, beforeSlow, long, slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { type ReplayServer, replayServer } from "../stores/parsing/replay.ts"
import { APP_ADS, answersPublic, answersReviews, HARBOR } from "./public-pages.ts"
import { captchaPage, hintsAnswer, searchPage, someApps, storeSearchAnswer } from "./store-pages.ts"

setDefaultTimeout(90_000)

const GAP_MS = 5
const TERMS = ["sleep sounds", "white noise", "rain"]

let folder: string
let sql: Sql
let stores: ReplayServer
let service: Service
let key: string
const logged: string[] = []
const log: Log = (level, event, fields) => {
  if (level === "error" || level === "warn") logged.push(`${event} ${fields?.reason ?? ""}`)
}

const outbound: SafeFetch = async (url) => {
  if (url !== "https://northlight.example/app-ads.txt") throw new OutboundProblem("no_such_host")
  return { url, status: 200, headers: new Headers(), bytes: new TextEncoder().encode(APP_ADS) }
}

beforeSlow(async () => {
  folder = mkdtempSync(join(tmpdir(), "appmeter-raw-"))
  sql = await freshDatabase()
  stores = replayServer()
  answersPublic(stores)
  // two apps rank above the app on every term
  stores.on("apps.apple.com", "/us/iphone/search", ({ url }) =>
    searchPage("us", url.searchParams.get("term")!, someApps(30).toSpliced(2, 0, HARBOR)),
  )
  stores.on("search.itunes.apple.com", "/WebObjects/MZSearchHints.woa", ({ url }) => hintsAnswer(TERMS, url))
  stores.on("search.itunes.apple.com", "/WebObjects/MZStore.woa", () => storeSearchAnswer(someApps(60)))
  service = openService({ sql })
  key = await service.key(await service.workspace())
})
afterSlow(async () => {
  await stores.stop()
  rmSync(folder, { recursive: true })
})

slow("a fresh instance reads all public data of an added app by itself", async () => {
  const args = { iosId: HARBOR.id, countries: ["us"], keywords: TERMS }
  const preview = await service.call("/v1/actions", { key, method: "POST", body: { action: "add_app", args } })
  const body = { confirmToken: preview.body.confirmToken }
  expect((await service.call("/v1/actions/confirm", { key, method: "POST", body })).status).toBe(200)

  await reading(async () => await until(async () => (await countUnread()) === 0))

  const sections = await sql`
    select r.section, c.content
    from listing_run r
    join listing_content c using (app_id, storefront, source, section, digest)
    join store_app a on a.id = r.app_id
    where r.source = 'apple-app-page' and a.store_id = ${HARBOR.id}
    order by r.section`
  expect([...sections]).toEqual([
    { section: "developer", content: ["1600000301", "1600000302"] },
    { section: "page", content: expect.objectContaining({ name: HARBOR.name, version: "4.2.1", language: "en-US" }) },
    { section: "similar", content: ["1600000102", "1600000103", "1600000104", "1600000105"] },
  ])
  expect(await counted(sql`review`)).toBe(500)
  expect(stores.requests.filter(({ url }) => url.pathname.includes("/rss/customerreviews/"))).toHaveLength(10)
  // the charts of all apps and of its genre
  expect([...(await sql`select genre, count(*)::int as charts from chart group by genre order by genre`)]).toEqual([
    { genre: "36", charts: 6 },
    { genre: "6013", charts: 6 },
  ])
  const places = await sql`
    select distinct p.rank from chart_place p join store_app a on a.id = p.app_id where a.store_id = ${HARBOR.id}`
  expect([...places]).toEqual([{ rank: 4 }])
  expect(await counted(sql`genre`)).toBeGreaterThan(5)
  expect([...(await sql`select developer_id, cardinality(app_ids) > 0 as sells from developer_shelf`)]).toEqual([
    { developer_id: String(HARBOR.developerId), sells: true },
  ])
  expect([...(await sql`select state, domain, jsonb_array_length(records) as records from app_ads`)]).toEqual([
    { state: "records", domain: "northlight.example", records: 2 },
  ])
  // apps ranked above it become rivals, are looked up with it, and their pages are read
  const rivals = await sql<{ id: string; looked: boolean; subtitle: string | null }[]>`
    select a.store_id as id, exists (
      select from app_storefront s where s.app_id = a.id and s.source = 'itunes-lookup' and s.available
    ) as looked, (
      select c.content ->> 'subtitle'
      from listing_run r
      join listing_content c using (app_id, storefront, source, section, digest)
      where (r.app_id, r.storefront, r.source, r.section) = (a.id, 'us', 'apple-app-page', 'page')
    ) as subtitle
    from app_rival r
    join store_app a on a.id = r.rival
    order by a.store_id`
  const subtitle = "Rain, waves & white noise"
  expect([...rivals]).toEqual(someApps(2).map(({ id }) => ({ id, looked: true, subtitle })))
  expect([...(await sql`select kind, failure from due where failures > 0`)]).toEqual([])
  expect(logged).toEqual([])
})

long("a day on which the stores refuse every request changes no stored data", async () => {
  const before = await picture()
  stores.on("apps.apple.com", "/", captchaPage)
  stores.on("itunes.apple.com", "/", () => new Response("", { status: 404 }))
  stores.on("search.itunes.apple.com", "/", captchaPage)
  answersReviews(stores, HARBOR.id, [{ reviews: [], last: 10 }])
  await sql`update due set next_at = now() where kind not in ('app_ads', 'findings')`
  await reading(async () => await until(async () => (await attempted()) >= 15))
  expect(await picture()).toEqual(before)
  const [failing] = await sql<{ n: number }[]>`select count(*)::int as n from due where failures > 0`
  expect(failing!.n).toBeGreaterThan(5)
})

async function reading(work: () => Promise<void>): Promise<void> {
  const reading = openStoreReading({
    sql,
    log,
    outbound,
    findingsAfterMs: 100,
    settings: {
      on: true,
      atOnce: 6,
      egress: "main",
      egressCountry: undefined,
      sourcesOff: [],
      gapsMs: new Map(UPSTREAMS.map((upstream) => [upstream, GAP_MS])),
      addresses: new Map(UPSTREAMS.map((upstream) => [upstream, stores.address(upstream)])),
      raw: { accountDays: 0, folder, days: 14, megabytes: 10 },
    },
  })
  reading.start()
  try {
    await work()
  } finally {
    await reading.stop()
  }
}

/** Returns what is still due or was never read. */
async function countUnread(): Promise<number> {
  return (
    await sql<{ n: number }[]>`
    select count(*)::int as n from due
    where next_at <= now() + interval '1 second' or lease is not null or measured_at is null`
  )[0]!.n
}

async function attempted(): Promise<number> {
  return (await sql<{ n: number }[]>`select count(distinct (kind, subject))::int as n from attempt`)[0]!.n
}

async function counted(table: ReturnType<Sql>): Promise<number> {
  return (await sql<{ n: number }[]>`select count(*)::int as n from ${table}`)[0]!.n
}

function picture(): Promise<string[]> {
  return rowsOf(sql, [
    "listing_run",
    "listing_content",
    "listing_item",
    "listing_version",
    "listing_change",
    "rating_count",
    "market_fact",
    "review",
    "review_version",
    "review_read",
    "review_day",
    "review_feed",
    "chart",
    "chart_results",
    "chart_place",
    "chart_first_seen",
    "app_first_seen",
    "chart_now",
    "genre",
    "developer_shelf",
    "app_ads",
    "app_rival",
    "app_storefront",
    "store_app",
    "list",
    "search_results",
    "alert",
  ])
}
