// bun test/bench/http.ts — the house against a bare Bun.serve with the same work, in turns, as ratios of one run.
// DATABASE_URL names the PostgreSQL to use; without it the embedded database serves the keyed reads.
import { type LoadResult, load, median } from "./load.ts"
import { type Server, startServer } from "./started.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 5)
const SECONDS = Number(process.env.SECONDS ?? 3)

async function compare(what: string, kinds: [string, string], head: (server: Server) => string, connections: number) {
  const [house, bare] = [await startServer(kinds[0]), await startServer(kinds[1])]
  const results: [LoadResult[], LoadResult[]] = [[], []]
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, server] of [house, bare].entries()) {
        results[i as 0 | 1].push(await load(server.pid, server.port, head(server), connections, SECONDS))
      }
    }
  } finally {
    house.stop()
    bare.stop()
  }
  const [ours, theirs] = results
  const ratios = ours.map((run, i) => run.perSecond / (theirs[i] as LoadResult).perSecond)
  const show = (runs: LoadResult[]) =>
    `${Math.round(median(runs.map((r) => r.perSecond)))}/s, p50 ${median(runs.map((r) => r.p50Ms)).toFixed(2)} ms, p99 ${median(runs.map((r) => r.p99Ms)).toFixed(2)} ms, ${Math.round(median(runs.map((r) => r.cpuMicroseconds)))} us CPU`
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  console.log(
    `${what}: ${median(ratios).toFixed(2)} of bare (${least.toFixed(2)} to ${most.toFixed(2)} over ${ROUNDS} rounds)`,
  )
  console.log(`  house ${show(ours)}\n  bare  ${show(theirs)}`)
}

const sandboxRead = () => "GET /v1/sandbox/apps HTTP/1.1"
const keyedRead = ({ appId, secret }: Server) =>
  `GET /v1/apps/${appId}/keywords HTTP/1.1\r\nauthorization: Bearer ${secret}`

await compare("sandbox read, 64 connections", ["house", "bare-bytes"], sandboxRead, 64)
if (!process.env.SANDBOX_ONLY)
  await compare("list_keyword_ranks, 200 keywords, 1 connection", ["house", "bare-read"], keyedRead, 1)
if (!process.env.SANDBOX_ONLY)
  await compare("list_keyword_ranks, 200 keywords, 64 connections", ["house", "bare-read"], keyedRead, 64)
