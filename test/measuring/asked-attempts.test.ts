import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { openPort } from "../../src/measuring/ask.ts"
import type { Kind, ReadPort } from "../../src/measuring/kind.ts"
import { difficultyOnAppStore } from "../../src/measuring/kinds/difficulty.ts"
import { openLane } from "../../src/measuring/pace.ts"
import { recordAttempt } from "../../src/observations/attempts.ts"
import { record } from "../../src/observations/record.ts"
import type { Attempt } from "../../src/observations/types.ts"
import { safeFetch } from "../../src/outbound/safe-fetch.ts"
import { appleAppPage } from "../../src/sources/apple/app-page.ts"
import { appleCharts } from "../../src/sources/apple/charts.ts"
import { appleGenres } from "../../src/sources/apple/genres.ts"
import { appleHints } from "../../src/sources/apple/hints.ts"
import { itunesDeveloper } from "../../src/sources/apple/itunes-developer.ts"
import { itunesLookup } from "../../src/sources/apple/itunes-lookup.ts"
import { freshDatabase } from "../database.ts"
import { reading, said } from "../observations/measured.ts"
import { type ReplayServer, reachOf, replayServer } from "../sources/replay.ts"

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
    ...{ sql, log: silentLog, reach: reachOf(stores, { now: () => NOW }), egress: "here", sourcesOff: [] },
    ...{ now: () => NOW, random: () => 0, stopwatch: () => () => 0, keep: undefined, outbound: safeFetch },
  }
  const claim = { lease: "", kind, subjects: [subject], live: false, claimedAt: NOW }
  const asking = { claim, signal: new AbortController().signal, leftMs: () => 10_000, sinceClaim: () => 0 }
  return openPort(parts, asking, (attempt) => failed.push(attempt))
}

test("every read that failed is logged by what was asked, and can be", async () => {
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

test("a difficulty keeps what a look-up says of apps, and not of their pages", async () => {
  const now = new Date("2025-11-20T12:00:00Z")
  await record(sql, [reading("tea", "2025-11-20T10:00:00Z", ["20001"], { depth: 30 })], () => now)
  const beside = { description: "Of somebody's app." }
  const seen = said("2025-11-20T11:00:00Z", [{ id: "20001", name: "Tea", ratings: 5, listing: beside }])
  const asking = { ...port(), now: () => now, ask: async () => seen as never }
  const subject = { kind: "difficulty", platform: "ios", storefront: "us", subject: "tea" } as const
  const read = await difficultyOnAppStore.read([subject], asking)
  expect(read).toEqual([{ ...seen, apps: [{ id: "20001", name: "Tea", ratings: 5 }] }])
  await record(sql, read, () => now)
  expect(await sql`select 1 from listing_content`).toHaveLength(0)
  expect(await sql`select 1 from rating_count where source = 'itunes-lookup'`).toHaveLength(1)
})
