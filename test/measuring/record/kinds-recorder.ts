// One of several processes that record the same observations of every kind, each in its own order and parts: bun
// kinds-recorder.ts URL SEED. Prints the number recorded.

import postgres from "postgres"
import { serverOptions } from "../../../src/database/options.ts"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { record } from "../../record.ts"
import { charted } from "./charted.ts"
import { listed } from "./listed.ts"
import { appsReading, hintsReading, NOW, popularityReading, reading } from "./measured.ts"
import { marketed, named, shelved, soldBy } from "./public-facts.ts"
import { reviewed } from "./reviewed.ts"

const moment = (i: number) =>
  `2025-11-${String(1 + (i % 9)).padStart(2, "0")}T10:${String(i % 60).padStart(2, "0")}:00Z`
const id = (i: number) => String(10_000 + (i % 70))

export const EVERY_KIND: readonly Observation[] = Array.from({ length: 80 }, (_, i) => [
  appsReading(
    moment(i),
    Array.from({ length: 9 }, (_, place) => ({
      id: id(i * 11 + place),
      name: `App ${i} ${place}`,
      version: `${i}`,
      ratings: i * 10 + place,
      genre: String(6_000 + (i % 3)),
      developerId: String(1_500_000_000 + (i % 4)),
      ...(place < 4 && { listing: { description: `Said ${i % 5}`, similar: [{ id: id(i + place) }] } }),
    })),
    { asked: Array.from({ length: 12 }, (_, place) => id(i * 11 + place)), parser: 1 + (i % 3) },
  ),
  reading(`term ${i % 20}`, moment(i), [], {
    depth: 20,
    results: Array.from({ length: 20 }, (_, place) => ({ id: id(i * 7 + place), name: `Found ${i}`, ratings: i })),
  }),
  hintsReading(`t${i % 15}`, moment(i), [`term ${i}`]),
  popularityReading(`term ${i % 25}`, "2025-09-01", 1 + i, { parser: i }),
  charted(
    moment(i),
    Array.from({ length: 30 }, (_, place) => 10_000 + ((i * 13 + place) % 70)),
    { storefront: i % 3 ? "us" : "de", source: i % 2 ? "import" : "apple-charts" },
  ),
  listed(moment(i), { name: `Listed ${i % 7}`, ratings: 1_000 + i * 90 }, { id: id(i % 3), parser: 1 + (i % 2) }),
  named(moment(i), {
    storefront: i % 2 ? "us" : "de",
    genres: Array.from({ length: 1 + (i % 9) }, (_, place) => ({ id: String(36 + place), name: `Genre ${i}` })).map(
      (genre, place) => (place === 0 ? genre : { ...genre, parent: "36" }),
    ),
  }),
  shelved(moment(i), [id(i * 3), id(i * 3 + 1)], { developerId: String(1_500_000_000 + (i % 4)) }),
  soldBy(moment(i), [`s${i}.com`], { id: id(i % 9) }),
  marketed(moment(i), { installs: i * 100 }),
  reviewed(
    moment(i),
    Array.from({ length: 12 }, (_, place) => ({
      id: String((i * 5 + place) % 40),
      text: `${i % 4} said`,
      stars: 1 + (i % 5),
    })),
    { storeId: id(i % 3), end: { pages: 1, complete: i % 4 > 0, empty: false } },
  ),
]).flat()

if (import.meta.main) {
  const [url, seed] = process.argv.slice(2) as [string, string]
  const sql = postgres(url, serverOptions("command", 4)) as Sql
  const order = EVERY_KIND.toSorted((a, b) => weight(a, seed) - weight(b, seed))
  const parts = Array.from({ length: Math.ceil(order.length / 16) }, (_, i) => order.slice(i * 16, i * 16 + 16))
  const counts = await Promise.all(parts.map(async (part) => (await record(sql, part, () => NOW)).recorded))
  process.stdout.write(String(counts.reduce((sum, count) => sum + count, 0)))
  await sql.end()
}

function weight({ sha256 }: Observation, seed: string): number {
  return (sha256[Number(seed)] as number) * 256 + (sha256[Number(seed) + 1] as number)
}
