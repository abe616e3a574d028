// bun test/bench/names.ts [APPS] — what it costs that apps are found by their names: an import of charts whose apps are new, and
// of the next day's, a rename now and then; what 100,000 apps take on the disk; and how long a search takes of what its apps
// are many or few. With DATABASE_URL on that server, else on the embedded database.

import { hash } from "node:crypto"
import { record } from "../../src/observations/record.ts"
import type { ChartObservation } from "../../src/observations/types.ts"
import { freshDatabase } from "../database.ts"

const APPS = Number(process.argv[2] ?? 20_000)
const PLACES = 100
/** Charts that one call of record is told, as an import does. */
const TOGETHER = 50
const WORDS = "photo editor budget planner garden sleep tracker hearth home recipe chess puzzle music learn german daily water reminder map trail weather radar family budgets 写真 編集 家計簿 카메라 заметки".split(" ") // biome-ignore format: one list

const sql = await freshDatabase()
const first = await imported("2025-11-18")
const second = await imported("2025-11-19")
console.log(`${APPS} apps: the first day of their charts ${first} ms, the next ${second} ms`)
await report().catch((error) => console.log(String(error)))
process.exit(0)

async function imported(day: string): Promise<number> {
  const charts = Array.from({ length: (2 * APPS) / PLACES }, (_, n) => chartOf(n, day))
  const startedAt = performance.now()
  for (let at = 0; at < charts.length; at += TOGETHER)
    await record(sql, charts.slice(at, at + TOGETHER), () => new Date("2025-11-20T00:00:00Z"))
  return Math.round(performance.now() - startedAt)
}

/** Every app stands on two charts; one in a hundred is called otherwise the next day. */
function chartOf(n: number, day: string): ChartObservation {
  const apps = Array.from({ length: PLACES }, (_, place) => {
    const id = 100_000_000 + ((n * PLACES + place) % APPS)
    return { id: String(id), name: nameOf(id, day), developer: `${wordOf(id, 5)} ${wordOf(id, 6)} Inc` }
  })
  const content = {
    device: "iphone",
    chart: "free",
    genre: String(10_000 + n),
    depth: PLACES,
    complete: true,
    apps,
  } as const
  const sha256 = hash("sha256", JSON.stringify([day, content]), "buffer")
  const from = { kind: "chart", source: "import", platform: "ios", storefront: "us", parser: 1, origin: "own" } as const
  return { ...from, ...content, sha256, seenAt: new Date(`${day}T10:00:00Z`) }
}

function nameOf(id: number, day: string): string {
  const suffix = id % 100 === 0 ? day.slice(-2) : ""
  return `${wordOf(id, 1)} ${wordOf(id, 2)}: ${wordOf(id, 3)} ${id.toString(36)}${suffix}`
}

function wordOf(id: number, place: number): string {
  return WORDS[Math.floor(id / (place * 7)) % WORDS.length]!
}

async function report(): Promise<void> {
  const { appsWithText } = await import("../../src/history/market/texts.ts")
  await sql`vacuum analyze app_text`
  const [size] = await sql<{ rows: number; heap: number; index: number; names: number }[]>`
    select count(*)::int as rows, pg_table_size('app_text')::float8 as heap, pg_indexes_size('app_text')::float8 as index,
      pg_total_relation_size('store_app_name')::float8 as names
    from app_text`
  const mb = (bytes: number) => Math.round((bytes / size!.rows) * 0.1)
  console.log(
    `100,000 apps take ${mb(size!.heap)} MB and their indexes ${mb(size!.index)} MB (store_app_name ${mb(size!.names)} MB)`,
  )
  for (const text of ["hearth", "hearth home", "写真", "編", "ph", "p", "zzzz", "1njchs"]) {
    const times: number[] = []
    let found = 0
    for (let round = 0; round < 7; round++) {
      const startedAt = performance.now()
      const [row] = await sql<{ count: number }[]>`select count(*)::int from (${appsWithText(sql, text)}) f`
      times.push(performance.now() - startedAt)
      found = row!.count
    }
    console.log(`${text}: ${found} apps in ${times.sort((a, b) => a - b)[3]!.toFixed(1)} ms`)
  }
}
