import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Attempt } from "../../src/core/observation/attempt.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { openPort } from "../../src/measuring/ask.ts"
import type { Kind, ReadPort } from "../../src/measuring/due-kind.ts"
import { openLane } from "../../src/measuring/pace.ts"
import { openRawBodies } from "../../src/measuring/raw-bodies.ts"
import { safeFetch } from "../../src/outbound/safe-fetch.ts"
import { readFeed, readStoredIds } from "../../src/reviews/read/feeds.ts"
import { readPlayReviews, readReviews } from "../../src/reviews/sources/read-reviews.ts"
import { itunesLookup } from "../../src/stores/apple/itunes-lookup.ts"
import { freshDatabase } from "../database.ts"
import { long, slow } from "../long.ts"
import { record } from "../record.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { type ReplayServer, reachOf, replayServer } from "../stores/parsing/replay.ts"
import { type Page, playAnswer, xmlFeed } from "../stores/parsing/review-pages.ts"
import { stored } from "./record/measured.ts"

setDefaultTimeout(30_000)

const ID = "1600000201"
const DAY_MS = 86_400_000

let sql: Sql
let stores: ReplayServer
let folder: string
let now = new Date()
const failed: Attempt[] = []

beforeEach(async () => {
  sql = await freshDatabase()
  stores = replayServer()
  folder = mkdtempSync(join(tmpdir(), "reviews-"))
  now = new Date("2026-10-10T12:00:00Z")
  failed.length = 0
  for (const upstream of ["itunes.apple.com", "play.google.com"] as const)
    await openLane(sql, { upstream, egress: "here" }, 0)
})

afterEach(async () => {
  await stores.stop()
  rmSync(folder, { recursive: true })
})

/** Opens a port for one reading of an app's reviews, with a folder for bodies. */
function port(): ReadPort {
  const subject = { kind: "app", platform: "ios", storefront: "us", subject: ID } as const
  const kind = { name: "app", platform: "ios", upstream: "itunes.apple.com" } as Kind
  const bodies = openRawBodies({ folder, days: 14, megabytes: 100 })
  const parts = {
    sql,
    log: silentLog,
    reach: reachOf(stores, { now: () => now }),
    egress: "here",
    sourcesOff: [],
    now: () => now,
    random: () => 0,
    stopwatch: () => () => 0,
    keep: bodies.keep,
    outbound: safeFetch,
  }
  const claim = { lease: "", kind, subjects: [subject], live: false, claimedAt: now }
  const asking = { claim, signal: new AbortController().signal, leftMs: () => 10_000, sinceClaim: () => 0 }
  return openPort(parts, asking, (attempt) => failed.push(attempt))
}

const storedFiles = () => (existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [])

/** Serves the feed of a day with the responses of each page, in order. Returns the requested pages. */
function feed(pages: Record<number, (Page | number)[]>): number[] {
  const requestedPages: number[] = []
  stores.on("itunes.apple.com", "/us/rss/customerreviews/", ({ url }) => {
    const page = Number(/page=(\d+)/.exec(url.pathname)![1])
    requestedPages.push(page)
    const answers = pages[page] ?? [{ reviews: [], last: null }]
    const answer =
      answers[Math.min(requestedPages.filter((requested) => requested === page).length, answers.length) - 1]!
    if (typeof answer === "number") return new Response("A reviewer", { status: answer })
    return new Response(xmlFeed("us", ID, page, answer))
  })
  return requestedPages
}

async function readToday() {
  const storedIds = await readStoredIds(sql, { platform: "ios", storeId: ID, feed: "us", source: "apple-reviews" })
  const pages = await readReviews(port().ask, { storefront: "us", id: ID, isKnown: storedIds })
  return await record(sql, pages, () => now)
}

/** Pages of this many ids, greatest first, 50 a page. */
function pagesOf(newest: number, count: number): Record<number, Page[]> {
  const pages = Math.ceil(count / 50)
  return Object.fromEntries(
    Array.from({ length: pages }, (_, at) => [
      at + 1,
      [{ reviews: ids(newest - at * 50, Math.min(50, count - at * 50)), last: pages }],
    ]),
  )
}
const ids = (newest: number, count: number) => Array.from({ length: count }, (_, i) => newest - i)

const storedReviews = async () =>
  (await sql<{ id: string }[]>`select review_id as id from review order by at desc`).map(({ id }) => Number(id))
const appId = async () => (await sql<{ id: number }[]>`select id from store_app`)[0]!.id

describe("an app's reviews, read day after day", () => {
  slow("the first daily reading stores all reviews, and later ones need one request a day", async () => {
    const first = feed(pagesOf(9_000, 500))
    expect(await readToday()).toMatchObject({ recorded: 10, refused: [] })
    expect(first).toHaveLength(10)
    expect(await storedReviews()).toEqual(ids(9_000, 500))

    now = new Date(now.getTime() + DAY_MS)
    const second = feed(pagesOf(9_020, 500))
    await readToday()
    expect(second).toEqual([1])
    expect(await storedReviews()).toEqual(ids(9_020, 520))
    expect(await readFeed(sql, { appId: await appId(), feed: "us" })).toEqual({
      readAt: now,
      complete: true,
      empty: false,
      completeAt: now,
    })
  })

  long("reviews of a page that was missing are stored by the next day's reading", async () => {
    feed(pagesOf(9_000, 300))
    await readToday()
    now = new Date(now.getTime() + DAY_MS)
    const gap: Page = { reviews: [], last: 10 }
    const second = feed({ ...pagesOf(9_180, 500), 3: [gap, gap] })
    await readToday()
    expect(second).toEqual([1, 2, 3, 3, 4])
    expect(await storedReviews()).toHaveLength(430)
    expect(await readFeed(sql, { appId: await appId(), feed: "us" })).toMatchObject({ complete: false, readAt: now })

    now = new Date(now.getTime() + DAY_MS)
    const third = feed(pagesOf(9_190, 500))
    await readToday()
    // the previous day's reading is not trusted to be complete
    expect(third).toEqual([1, 2, 3, 4])
    expect(await storedReviews()).toEqual(ids(9_190, 490))
    expect(await readFeed(sql, { appId: await appId(), feed: "us" })).toMatchObject({ complete: true, readAt: now })
  })

  test("stored reviews stay after a day on which the store blocks all requests", async () => {
    feed({ 1: [403] })
    expect(await readToday().catch((error) => error.outcome)).toBe("blocked")
    expect(await sql`select 1 from review_read`).toHaveLength(0)
    expect(failed).toMatchObject([{ kind: "reviews", subject: ID, source: "apple-reviews", outcome: "blocked" }])

    await sql`update pace set next_at = now()`
    feed(pagesOf(9_000, 60))
    await readToday()
    now = new Date(now.getTime() + DAY_MS)
    feed({ 1: [{ reviews: [], last: 2 }] })
    expect(await readToday().catch((error) => error.outcome)).toBe("failed")
    expect(await storedReviews()).toEqual(ids(9_000, 60))
    expect(await readFeed(sql, { appId: await appId(), feed: "us" })).toMatchObject({ empty: false, complete: true })
  })

  test("an app without reviews is stored as empty until its first review is read", async () => {
    feed({ 1: [{ reviews: [], last: 1 }] })
    await readToday()
    expect(await readFeed(sql, { appId: await appId(), feed: "us" })).toMatchObject({ empty: true, complete: true })
    now = new Date(now.getTime() + DAY_MS)
    feed({ 1: [{ reviews: [9_001], last: 1 }] })
    await readToday()
    expect(await readFeed(sql, { appId: await appId(), feed: "us" })).toMatchObject({ empty: false, complete: true })
    expect(await storedReviews()).toEqual([9_001])
  })
})

slow("reviews of Google Play are read and stored by language", async () => {
  const app = "com.example.tide"
  const requestedTokens: (string | null)[] = []
  stores.on("play.google.com", "/_/PlayStoreUi", ({ body }) => {
    const token = JSON.parse(JSON.parse(new URLSearchParams(body).get("f.req")!)[0][0][1])[2][2][2]
    requestedTokens.push(token)
    return new Response(token === null ? playAnswer(ids(900, 150), "b") : playAnswer(ids(750, 30), null))
  })
  const read = async () => {
    const storedIds = await readStoredIds(sql, {
      platform: "android",
      storeId: app,
      feed: "de",
      source: "play-reviews",
    })
    const pages = await readPlayReviews(port().ask, { storefront: "at", language: "de", id: app, isKnown: storedIds })
    await record(sql, pages, () => now)
  }
  await read()
  expect(requestedTokens).toEqual([null, "b"])
  now = new Date(now.getTime() + DAY_MS)
  await read()
  expect(requestedTokens).toEqual([null, "b", null])
  expect((await sql`select count(*)::int as reviews, min(feed) as feed from review`)[0]).toEqual({
    reviews: 180,
    feed: "de",
  })
})

test("the author of a review is in no row, no log line and no stored body", async () => {
  feed(pagesOf(9_000, 60))
  await readToday()
  stores.on("play.google.com", "/_/PlayStoreUi", () => new Response(playAnswer(ids(900, 20), null)))
  const play = { storefront: "us", language: "en", id: "com.example.tide", isKnown: () => false }
  await record(sql, await readPlayReviews(port().ask, play), () => now)
  stores.on("itunes.apple.com", "/us/rss/customerreviews/", () => new Response("<feed><name>A reviewer</name></feed>"))
  expect(await readToday().catch((error) => error.outcome)).toBe("changed")
  expect(failed.map(({ outcome }) => outcome)).toEqual(["changed", "changed"])

  expect(storedFiles()).toEqual([])
  expect(await stored(sql)).not.toContain("A reviewer")
  expect(JSON.stringify(failed)).not.toContain("A reviewer")
  // the response of another source is stored
  stores.on("itunes.apple.com", "/lookup", () => new Response(fixture("itunes-lookup-empty-us.json")))
  await port().ask(itunesLookup, { storefront: "us", ids: ["338986109"] })
  expect(storedFiles()).not.toEqual([])
})
