// One of two processes that record the same keywords, days and months, each in its own order: bun now-recorder.ts URL
// SEED.

import postgres from "postgres"
import { serverOptions } from "../../../src/database/options.ts"
import type { Sql } from "../../../src/database/types.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { retryDeadlocks } from "../../../src/measuring/record/record.ts"
import { record } from "../../record.ts"
import { hintsReading, NOW, popularityReading, reading } from "./measured.ts"

const [url, seed] = process.argv.slice(2) as [string, string]
const sql = postgres(url, serverOptions("server", 4)) as Sql
const terms = Array.from({ length: 12 }, (_, n) => `word ${n}`)
const days = Array.from({ length: 10 }, (_, n) => `2025-${n < 5 ? "10-2" : "11-1"}${n}`)

const work = days.map((day, n) => async () => {
  const hour = String((n * 5 + Number(seed)) % 11).padStart(2, "0")
  const readings = terms.flatMap((term, at) => [
    reading(term, `${day}T${hour}:00:00Z`, [10_001 + at, 10_002 + Number(seed)], { depth: 20 + Number(seed) }),
    hintsReading(term, `${day}T${hour}:30:00Z`, [`${term} and more`]),
    popularityReading(term, n % 2 ? "2025-08-01" : "2025-09-01", 1 + ((n + at) % 50)),
  ])
  await record(sql, readings, () => NOW)
  const lists = terms.map((term) => ({ platform: "ios" as const, storefront: "us", term }))
  await retryDeadlocks(() => sql.begin((tx) => deriveKeywordMetrics(tx, lists, new Date(`${day}T11:30:00Z`))))
})
if (seed === "2") work.reverse()
await Promise.all(
  [0, 1].map(async (lane) => {
    for (const [n, step] of work.entries()) if (n % 2 === lane) await step()
  }),
)
await sql.end()
