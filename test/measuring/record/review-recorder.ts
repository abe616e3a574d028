// One of two processes that record the same feeds, each in its own order: bun review-recorder.ts URL SEED.

import postgres from "postgres"
import { serverOptions } from "../../../src/database/options.ts"
import type { Sql } from "../../../src/database/types.ts"
import { record } from "../../record.ts"
import { NOW } from "./measured.ts"
import { reviewed } from "./reviewed.ts"

const [url, seed] = process.argv.slice(2) as [string, string]
const sql = postgres(url, serverOptions("server", 4)) as Sql

const work = Array.from({ length: 20 }, (_, n) => async () => {
  const pages = ["us", "gb"].map((storefront) =>
    reviewed(
      `2025-11-19T${String(n).padStart(2, "0")}:0${seed}:00Z`,
      // the same reviews, edited in turn to another day
      Array.from({ length: 8 }, (_, at) => ({
        id: String((n + at) % 12),
        at: new Date(Date.UTC(2025, 10, 1 + ((n * 7 + at) % 15))),
        stars: 1 + ((n + at) % 5),
      })),
      { storefront, end: { pages: 1, complete: n % 3 > 0, empty: false } },
    ),
  )
  await record(sql, pages, () => NOW)
})
if (seed === "2") work.reverse()
await Promise.all(
  [0, 1].map(async (lane) => {
    for (const [n, step] of work.entries()) if (n % 2 === lane) await step()
  }),
)
await sql.end()
