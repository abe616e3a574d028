// bun test/bench/reviews.ts [REVIEWS] — measures how long reads of an app's reviews take directly after an import, with
// 1,000 reviews and with 20,000, as ratios to fetching as many rows by primary key in the same run. Fails if a page or
// the figures of the larger app take over 8 times those of the smaller, or if finding a text takes over 40 times as
// long. On the embedded database; with DATABASE_URL on that server.

import type { Sql } from "../../src/database/types.ts"
import { getPortfolioOverview } from "../../src/overview/operations/portfolio.ts"
import { getToday } from "../../src/overview/operations/today.ts"
import { listReviews } from "../../src/reviews/operations/list-reviews.ts"
import { getReviewStats } from "../../src/reviews/operations/review-stats.ts"
import { searchReviews } from "../../src/reviews/operations/search-reviews.ts"
import { freshDatabase } from "../database.ts"
import { ask, contextOf, newWorkspace } from "../measuring/record/measured.ts"
import { importLines } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"
import { heavyLines, IOS_ID } from "./heavy-lines.ts"
import { median } from "./load.ts"

const FEW = 1_000
const MANY = Number(process.argv[2] ?? 20_000)
const MAX_FACTOR = 8
const MAX_TEXT_FACTOR = 40
const ROUNDS = 30
const now = new Date()

const few = await measureReads(FEW)
const many = await measureReads(MANY)
let holds = true
for (const [label, ms] of many) {
  const times = ms / few.get(label)!
  const maxFactor = label.includes("text") ? MAX_TEXT_FACTOR : MAX_FACTOR
  if (times > maxFactor) holds = false
  console.log(`${label}: ${few.get(label)!.toFixed(2)} and ${ms.toFixed(2)} ms, ${times.toFixed(1)} times`)
}
process.exit(holds ? 0 : 1)

/** Milliseconds of each read. */
async function measureReads(reviews: number): Promise<Map<string, number>> {
  const sql = await freshDatabase()
  const workspaceId = await newWorkspace(sql)
  const tracked = { workspaceId, iosId: IOS_ID, countries: ["us"], keywords: ["tea"], origin: "own" }
  const appId = await trackOwn(sql, tracked)
  await importLines(sql, lines(reviews))
  const plain = contextOf(sql, workspaceId, now)
  const ctx = { ...plain, caller: { ...plain.caller, scopes: [] } }
  const search = (rest: object) => () => ask(searchReviews, ctx, { appId, ...rest })
  const reads: [string, () => Promise<unknown>][] = [
    ["figures of 90 days", () => ask(getReviewStats, ctx, { appId })],
    ["their rows by key", await rowsByKey(sql, "review_day", ["app_id", "feed", "day"], 90)],
    ["the newest", () => ask(listReviews, ctx, { appId })],
    ["of one star", search({ rating: [1] })],
    ["of one star and a version", search({ rating: [1], version: "1.5" })],
    ["of a version", search({ version: "1.5" })],
    ["100 rows by key", await rowsByKey(sql, "review_version", ["app_id", "feed", "review_id"], 100)],
    ["a text in all", search({ q: "missing" })],
    ["a text in none", search({ q: "nowhere" })],
    ["today", () => ask(getToday, ctx, { appId })],
    ["portfolio", () => ask(getPortfolioOverview, ctx)],
  ]
  const times = new Map<string, number>()
  for (const [label, read] of reads) times.set(label, await timeOf(read))
  return times
}

async function rowsByKey(sql: Sql, table: string, key: string[], count: number): Promise<() => Promise<unknown>> {
  const keys = await sql`select ${sql(key)} from ${sql(table)} order by ${sql(key)} limit ${count}`
  const columns = key.map((name) => sql`${sql(name)} = any(${[...new Set(keys.map((row) => row[name]))]})`)
  return async () => await sql`select * from ${sql(table)} where ${columns[0]!} and ${columns[1]!} and ${columns[2]!}`
}

async function timeOf(read: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < 5; i++) await read()
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const started = performance.now()
    await read()
    times.push(performance.now() - started)
  }
  return median(times)
}

async function* lines(reviews: number) {
  yield* heavyLines({ reviews, lists: 0, charts: 0 }, now)
}
