// One of several processes that record overlapping readings: bun recorder.ts URL SEED. Prints the number recorded.

import postgres from "postgres"
import { serverOptions } from "../../../src/database/options.ts"
import type { Sql } from "../../../src/database/types.ts"
import { addTerms } from "../../../src/tracking/terms.ts"
import { record } from "../../record.ts"
import { NOW, reading } from "./measured.ts"

const [url, seed] = process.argv.slice(2) as [string, string]
const sql = postgres(url, serverOptions("server", 4)) as Sql
const months = ["2025-08", "2025-09", "2025-10", "2025-11"]

/** Every process records the same 240 readings, split and ordered differently, and 40 of its own. */
const shared = Array.from({ length: 240 }, (_, i) => {
  const ids = Array.from({ length: 20 }, (_, place) => 10_000 + ((i * 7 + place) % 300))
  return reading(
    `term ${i % 30}`,
    `${months[i % 4]}-${String(1 + (i % 19)).padStart(2, "0")}T10:${String(i % 60).padStart(2, "0")}:00Z`,
    ids,
  )
})
const ownReadings = Array.from({ length: 40 }, (_, i) =>
  reading(`term ${i % 30}`, `2025-11-0${1 + (i % 9)}T11:0${seed}:${10 + i}Z`, [10_000 + i]),
)
const order = [...shared, ...ownReadings].sort((a, b) => weight(a) - weight(b))

const parts = Array.from({ length: 14 }, (_, i) => order.slice(i * 20, i * 20 + 20))
const [counts] = await Promise.all([
  Promise.all(parts.map(async (part) => (await record(sql, part, () => NOW)).recorded)),
  Promise.all([0, 1, 2, 3, 4].map((i) => track(`term ${Number(seed) * 5 + i}`))),
])
process.stdout.write(String(counts.reduce((sum, count) => sum + count, 0)))
await sql.end()

async function track(term: string): Promise<void> {
  const [app] = await sql<{ id: string }[]>`select id from tracked_app`
  await sql.begin((tx) => addTerms(tx, app?.id as string, "all", [term]))
}

function weight({ sha256 }: { sha256: Uint8Array }): number {
  return (sha256[Number(seed)] as number) * 256 + (sha256[Number(seed) + 1] as number)
}
