// bun test/bench/http.ts — compares a read of the sandbox with a bare Bun.serve that sends the same bytes and headers,
// in alternation, as ratios of one run. Processor time is comparable even on a shared machine. ROUNDS, SECONDS.
import { type LoadResult, load, median } from "./load.ts"
import { startServer } from "./started.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 5)
const SECONDS = Number(process.env.SECONDS ?? 3)
const CONNECTIONS = 64
const REQUEST = "GET /v1/sandbox/apps HTTP/1.1"

const servers = [await startServer("product"), await startServer("bare")]
const product: LoadResult[] = []
const bare: LoadResult[] = []
try {
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, { pid, port }] of servers.entries())
      (i === 0 ? product : bare).push(await load(pid, port, REQUEST, CONNECTIONS, SECONDS))
} finally {
  for (const server of servers) server.stop()
}
console.log(`sandbox read, ${CONNECTIONS} connections, ${ROUNDS} rounds`)
show("processor time", (run) => 1 / run.cpuMicroseconds)
show("calls a second", (run) => run.perSecond)
console.log(`  product ${formatRuns(product)}`)
console.log(`  bare    ${formatRuns(bare)}`)

function show(label: string, speed: (run: LoadResult) => number): void {
  const ratios = product.map((run, round) => speed(run) / speed(bare[round]!))
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  console.log(`by ${label}: ${median(ratios).toFixed(2)} of bare (${range})`)
}

function formatRuns(runs: readonly LoadResult[]): string {
  const middle = (select: (run: LoadResult) => number) => median(runs.map(select))
  const times = `p50 ${middle((run) => run.p50Ms).toFixed(2)} ms, p99 ${middle((run) => run.p99Ms).toFixed(2)} ms`
  return (
    `${Math.round(middle((run) => run.perSecond))}/s, ${times}, ${Math.round(middle((run) => run.cpuMicroseconds))} ` +
    "us CPU"
  )
}
