// bun test/bench/encodings.ts — what a year of 50 keywords weighs in each encoding and how long that takes, and what sandbox
// reads a second cost in throughput where compression is asked for: in turns, as ratios of one run.
import { inEncoding } from "../../src/vocabulary/compression.ts"
import { freshDatabase } from "../database.ts"
import { openHouse, PUBLIC_URL } from "../house.ts"
import { trackYear } from "../operations/tracked-year.ts"
import { type LoadResult, load, median } from "./load.ts"
import { startServer } from "./started.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 5)
const SECONDS = Number(process.env.SECONDS ?? 3)
const NOW = new Date("2025-11-20T12:00:00Z")
const ENCODINGS = ["identity", "gzip", "br", "zstd"]

await sizes()
for (const path of ["/v1/sandbox/apps", "/v1/sandbox/alerts"]) await throughput(path)
process.exit(0)

async function sizes(): Promise<void> {
  const house = openHouse({ sql: await freshDatabase(), now: () => NOW })
  const overrides = { historyDays: 365, ratePerSecond: 1e6, trackedKeywords: 1_000 }
  const workspace = await house.workspace({ plan: "enterprise", overrides })
  const headers = { authorization: `Bearer ${await house.key(workspace)}` }
  const app = await trackYear(house.sql, workspace, 50, "2025-11-20")
  for (const accept of ["application/json", "text/csv", "application/jsonl"]) {
    const request = new Request(`${PUBLIC_URL}/v1/apps/${app}/history`, { headers: { ...headers, accept } })
    const plain = await (await house.app.fetch(request, null)).bytes()
    const shown = [`${kb(plain.length)} KB`]
    for (const encoding of ENCODINGS.slice(1)) {
      const times = []
      let size = 0
      for (let round = 0; round < 10; round++) {
        const at = performance.now()
        size = (await (await inEncoding(encoding, new Response(plain))).bytes()).length
        times.push(performance.now() - at)
      }
      shown.push(`${encoding} ${kb(size)} KB in ${median(times).toFixed(1)} ms`)
    }
    console.log(`a year of 50 keywords, ${accept}: ${shown.join(", ")}`)
  }
}

function kb(bytes: number): string {
  return (bytes / 1_024).toFixed(1)
}

async function throughput(path: string): Promise<void> {
  const server = await startServer("house")
  const results = new Map<string, LoadResult[]>(ENCODINGS.map((encoding) => [encoding, []]))
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const [encoding, runs] of results) {
        const head = `GET ${path} HTTP/1.1\r\naccept-encoding: ${encoding}`
        runs.push(await load(server.pid, server.port, head, 64, SECONDS))
      }
  } finally {
    server.stop()
  }
  const plain = results.get("identity") as LoadResult[]
  for (const [encoding, runs] of results) {
    const ratios = runs.map((run, i) => run.perSecond / (plain[i] as LoadResult).perSecond)
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
    const perSecond = Math.round(median(runs.map((run) => run.perSecond)))
    console.log(
      `${path} ${encoding}: ${perSecond}/s, ${median(ratios).toFixed(2)} of without (${least.toFixed(2)} to ${most.toFixed(2)} over ${ROUNDS} rounds)`,
    )
  }
}
