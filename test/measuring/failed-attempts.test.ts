import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { chartAppsOnAppStore } from "../../src/charts/due/charts.ts"
import { appleCharts } from "../../src/charts/sources/apple-charts.ts"
import type { Attempt } from "../../src/core/observation/attempt.ts"
import type { Sql } from "../../src/database/types.ts"
import { difficultyOnAppStore } from "../../src/keywords/due/difficulty.ts"
import { appleHints } from "../../src/keywords/sources/apple-hints.ts"
import { silentLog } from "../../src/lib/log.ts"
import { appleAppPage } from "../../src/listings/sources/apple-app-page.ts"
import { openPort } from "../../src/measuring/ask.ts"
import type { Kind, ReadPort } from "../../src/measuring/due-kind.ts"
import { findLatestReading } from "../../src/measuring/latest-reading.ts"
import { openLane } from "../../src/measuring/pace.ts"
import { safeFetch } from "../../src/outbound/safe-fetch.ts"
import { appleGenres } from "../../src/stores/apple/genres.ts"
import { itunesDeveloper } from "../../src/stores/apple/itunes-developer.ts"
import { itunesLookup } from "../../src/stores/apple/itunes-lookup.ts"
import { freshDatabase } from "../database.ts"
import { record, recordAttempt } from "../record.ts"
import { type ReplayServer, reachOf, replayServer } from "../stores/parsing/replay.ts"
import { charted } from "./record/charted.ts"
import { appsReading, reading } from "./record/measured.ts"

setDefaultTimeout(30_000)

const NOW = new Date("2026-10-10T12:00:00Z")
const UPSTREAMS = ["apps.apple.com", "itunes.apple.com", "search.itunes.apple.com"] as const

let sql: Sql
let stores: ReplayServer
const failed: Attempt[] = []

beforeAll(async () => {
  sql = await freshDatabase()
  stores = replayServer()
  for (const upstream of UPSTREAMS) {
    await openLane(sql, { upstream, egress: "here" }, 0)
    stores.on(upstream, "/", () => new Response("no such thing", { status: 403 }))
  }
})

afterAll(async () => {
  await stores.stop()
})

function port(): ReadPort {
  const subject = { kind: "app", platform: "ios", storefront: "us", subject: "1600000201" } as const
  const kind = { name: "app", platform: "ios", upstream: "play.google.com" } as Kind
  const parts = {
    sql,
    log: silentLog,
    reach: reachOf(stores, { now: () => NOW }),
    egress: "here",
    sourcesOff: [],
    now: () => NOW,
    random: () => 0,
    stopwatch: () => () => 0,
    keep: undefined,
    outbound: safeFetch,
  }
  const claim = { lease: "", kind, subjects: [subject], live: false, claimedAt: NOW }
  const asking = { claim, signal: new AbortController().signal, leftMs: () => 10_000, sinceClaim: () => 0 }
  return openPort(parts, asking, (attempt) => failed.push(attempt))
}

test("every failed read is logged with its kind and subject, and the log entry can be recorded", async () => {
  const { ask } = port()
  const storefront = "de"
  const reads: [Promise<unknown>, Attempt["kind"], string][] = [
    [ask(appleAppPage, { storefront, id: "1600000201" }), "listing", "1600000201"],
    [ask(appleCharts, { storefront, device: "ipad", chart: "free", genre: "6013" }), "chart", "ipad free 6013"],
    [ask(appleGenres, { storefront }), "genres", "36"],
    [ask(itunesDeveloper, { storefront, developerId: "1500000011" }), "developer", "1500000011"],
    [ask(itunesLookup, { storefront, ids: ["1600000201", "1600000202"] }), "apps", "1600000201,1600000202"],
    [ask(appleHints, { storefront, prefix: "te" }), "hints", "te"],
  ]
  const ended = await Promise.allSettled(reads.map(([read]) => read))
  expect(ended.map(({ status }) => status)).toEqual(reads.map(() => "rejected"))
  const logged = failed.map(({ kind, subject }) => `${kind} ${subject}`)
  expect(logged.toSorted()).toEqual(reads.map(([, kind, subject]) => `${kind} ${subject}`).toSorted())
  for (const attempt of failed) {
    expect(attempt).toMatchObject({ storefront, platform: "ios", outcome: "blocked", detail: "status 403" })
    expect(await recordAttempt(sql, attempt, () => NOW)).toBe(true)
  }
})

test("a difficulty reading stores the app facts of its look-up, but not the store pages", async () => {
  const now = new Date("2025-11-20T12:00:00Z")
  await record(sql, [reading("tea", "2025-11-20T10:00:00Z", ["20001"], { depth: 30 })], () => now)
  const extraListing = { description: "Of somebody's app." }
  const answer = appsReading("2025-11-20T11:00:00Z", [{ id: "20001", name: "Tea", ratings: 5, listing: extraListing }])
  const asking = { ...port(), now: () => now, ask: async () => answer as never }
  const subject = { kind: "difficulty", platform: "ios", storefront: "us", subject: "tea" } as const
  const read = await difficultyOnAppStore.read([subject], asking)
  expect(read).toEqual([{ ...answer, apps: [{ id: "20001", name: "Tea", ratings: 5 }] }])
  await record(sql, read, () => now)
  expect(await sql`select 1 from listing_content`).toHaveLength(0)
  expect(await sql`select 1 from rating_count where source = 'itunes-lookup'`).toHaveLength(1)
})

test("the first fifty apps of a chart's newest reading are looked up without their store pages", async () => {
  const now = new Date("2025-11-20T12:00:00Z")
  const ids = (from: number) => Array.from({ length: 60 }, (_, i) => String(from + i))
  await record(
    sql,
    [charted("2025-11-19T10:00:00Z", ids(40_001)), charted("2025-11-20T10:00:00Z", ids(50_001))],
    () => now,
  )
  const listing = { description: "Of somebody's app." }
  const answer = appsReading("2025-11-20T11:00:00Z", [{ id: "50001", name: "Tea", ratings: 5, listing }])
  const requests: unknown[] = []
  const ask: ReadPort["ask"] = async (_, request) => {
    requests.push(request)
    return answer as never
  }
  const chart = { kind: "chart_apps", platform: "ios", storefront: "us", subject: "iphone free 6015" } as const
  const read = await chartAppsOnAppStore.read([chart], { ...port(), now: () => now, ask })
  expect(requests).toEqual([{ storefront: "us", ids: ids(50_001).slice(0, 50) }])
  expect(read).toEqual([{ ...answer, apps: [{ id: "50001", name: "Tea", ratings: 5 }] }])
  expect(await chartAppsOnAppStore.read([{ ...chart, storefront: "gb" }], { ...port(), ask })).toEqual([])
})

test("the time of a chart's apps is their oldest look-up, or null if an app has no look-up", async () => {
  const subject = { kind: "chart_apps", platform: "ios", storefront: "fr", subject: "iphone free 6015" } as const
  const since = new Date("2025-11-18T00:00:00Z")
  const latest = () => findLatestReading(sql, { kind: chartAppsOnAppStore, wanted: subject }, since)
  const [place, now] = [{ storefront: "fr" }, () => new Date("2025-11-20T12:00:00Z")]
  await record(sql, [charted("2025-11-20T10:00:00Z", ["60001", "60002"], place)], now)
  expect(await latest()).toBeNull()
  const look = (day: string, id: string, apps: { id: string }[]) =>
    appsReading(`${day}T11:00:00Z`, apps, { ...place, asked: [id] })
  await record(sql, [look("2025-11-19", "60001", [{ id: "60001" }]), look("2025-11-17", "60002", [])], now)
  expect(await latest()).toBeNull()
  // a look-up that does not find the app counts too
  await record(sql, [look("2025-11-20", "60002", [])], now)
  expect(await latest()).toEqual(new Date("2025-11-19T11:00:00Z"))
})
