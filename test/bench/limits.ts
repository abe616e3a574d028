// One process' share of a load on the shared limiter.
// bun test/bench/limits.ts burst PREFIX SUBJECT LIMIT CALLS   waits for a time (ms) on stdin, calls all at once, prints
// JSON   bun test/bench/limits.ts latency                            microseconds per call of each store, one after
// another
import { openLimits } from "../../src/access/limits/open.ts"
import { bunRedisWire } from "../../src/access/redis/bun-wire.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { upstashRest } from "../upstash-rest.ts"

const sql = null as unknown as Sql
const [mode, prefix = `bench-${process.pid}`, subject = "key", limit = "10", calls = "25"] = process.argv.slice(2)
const wire = bunRedisWire(process.env.REDIS_URL ?? "redis://127.0.0.1:6379")
await Bun.sleep(100)

if (mode === "burst") await burst()
else await latency()
wire.close()

async function burst() {
  const { rate } = openLimits({ wire, sql, log: silentLog, prefix })
  await rate.take("warm-up", 1)
  process.stdout.write("ready\n")
  const at = Number(await new Response(Bun.stdin.stream()).text())
  await Bun.sleep(at - Date.now())
  const startedMs = Date.now() - at
  const answers = await Promise.all(Array.from({ length: Number(calls) }, () => rate.take(subject, Number(limit))))
  const passed = answers.filter((answer) => answer.allowed).length
  const degraded = answers.filter((answer) => answer.degraded).length
  process.stdout.write(`${JSON.stringify({ passed, degraded, startedMs, endedMs: Date.now() - at })}\n`)
}

async function latency() {
  const rest = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: upstashRest(wire, "t") })
  const upstash = { url: `http://127.0.0.1:${rest.port}`, token: "t" }
  for (const options of [{}, { wire }, { upstash }]) {
    const { rate, store } = openLimits({ ...options, sql, log: silentLog, prefix })
    const times: number[] = []
    for (let i = 0; i < 2_200; i++) {
      const startedAt = performance.now()
      await rate.take(subject, 1_000_000)
      if (i >= 200) times.push((performance.now() - startedAt) * 1_000)
    }
    times.sort((a, b) => a - b)
    process.stdout.write(`${store}: p50 ${times[1_000]!.toFixed(1)} us, p99 ${times[1_980]!.toFixed(1)} us\n`)
  }
  await rest.stop(true)
}
