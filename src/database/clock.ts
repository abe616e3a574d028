import type { Log } from "../lib/log.ts"
import type { Sql } from "./types.ts"

const SKEW_MS = 2_000

/**
 * Logs a warning if the clocks differ. Tokens, leases and expiry use the database's clock; the rate limit per second
 * and today's date use the clock of this process.
 */
export async function warnOfSkew(sql: Sql, log: Log, now: () => number = Date.now): Promise<void> {
  const aheadMs = await measureClockLead(sql, now)
  if (Math.abs(aheadMs) <= SKEW_MS) return
  const way = aheadMs > 0 ? "behind" : "ahead of"
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1)
  log("warn", "clock_skew", {
    reason: `this machine's clock is ${seconds} s ${way} the database's; calls per second use this machine's`,
  })
}

/**
 * Returns by how many milliseconds the database's clock is ahead. Uses the fastest of three queries, because its error
 * is the smallest.
 */
export async function measureClockLead(sql: Sql, now: () => number = Date.now): Promise<number> {
  let best = { tookMs: Number.POSITIVE_INFINITY, aheadMs: 0 }
  for (let i = 0; i < 3; i++) {
    const before = now()
    const [row] = await sql<[{ ms: number }]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`
    const after = now()
    if (after - before < best.tookMs) best = { tookMs: after - before, aheadMs: row.ms - (before + after) / 2 }
  }
  return best.aheadMs
}
