// bun test/bench/metrics.ts — the same calls with and without counting, in turns in one process without a socket, as ratios.
import { openLimits } from "../../src/access/limits/open.ts"
import { createApp } from "../../src/app.ts"
import { createLog } from "../../src/log.ts"
import { countingLog, createCalls } from "../../src/metrics/calls.ts"
import { freshDatabase } from "../database.ts"
import { sandboxAt } from "../sandbox.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 15)
const CALLS = 20_000

const sql = await freshDatabase()
const now = () => new Date()
const log = createLog(() => {})
const appOf = (metered: boolean) =>
  createApp({
    sql,
    limits: openLimits({ sql, log, now }),
    sandbox: sandboxAt("http://127.0.0.1"),
    settings: {
      publicUrl: "http://127.0.0.1",
      trustedProxies: [],
      sandboxPerSecond: 1e9,
      requestDeadlineMs: 4_500,
      maxWaiting: 500,
    },
    log,
    now,
    metered: metered ? { version: "0", database: { kind: "embedded", connections: 10 } } : undefined,
  })

const apps = [appOf(false), appOf(true)] as const

async function nanoseconds(app: (typeof apps)[number], path: string): Promise<number> {
  const started = Bun.nanoseconds()
  for (let i = 0; i < CALLS; i++) await app.fetch(new Request(`http://127.0.0.1${path}`), "127.0.0.1")
  return (Bun.nanoseconds() - started) / CALLS
}

// the cheapest calls there are: what counting adds weighs most on them
for (const [what, path] of [
  ["sandbox read", "/v1/sandbox/apps"],
  ["call without a key", "/v1/apps"],
] as const) {
  const times: [number[], number[]] = [[], []]
  for (let round = -2; round < ROUNDS; round++)
    for (const i of round % 2 ? ([0, 1] as const) : ([1, 0] as const)) {
      const each = await nanoseconds(apps[i], path)
      if (round >= 0) times[i].push(each)
    }
  const [without, counted] = times.map((all) => all.sort((a, b) => a - b)[ROUNDS >> 1]!) as [number, number]
  const added = Math.round(counted - without)
  console.log(
    `${what}: ${(counted / without).toFixed(2)} of the same without counting (${Math.round(without)} ns, ${added} ns more)`,
  )
}

const counting = countingLog(() => {}, createCalls())
const line = { operation: "list_apps", path: "/v1/apps", status: 200, cost: 1, latencyMs: 1.5 }
for (let i = 0; i < 1e6; i++) counting("info", "call", line)
const started = Bun.nanoseconds()
for (let i = 0; i < 1e6; i++) counting("info", "call", line)
console.log(`counting alone: ${Math.round((Bun.nanoseconds() - started) / 1e6)} ns a call`)
process.exit(0)
