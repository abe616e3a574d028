import type { Log } from "../log.ts"
import type { Sql } from "./types.ts"

const SKEW_MS = 2_000

/**
 * Warns when this process' clock is not the database's. Tokens, leases and expiry go by the database's and are right all the
 * same; the seconds in which calls are counted, and what counts as today, go by this one.
 */
export async function warnOfSkew(sql: Sql, log: Log, now: () => number = Date.now): Promise<void> {
  const aheadMs = await databaseAheadMs(sql, now)
  if (Math.abs(aheadMs) <= SKEW_MS) return
  const way = aheadMs > 0 ? "behind" : "ahead of"
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1)
  log("warn", "clock_skew", {
    reason: `this clock is ${seconds} s ${way} the database's; calls per second are counted by it`,
  })
}

/** How far the database's clock is ahead. The quickest of a few answers tells most: it was read between asking and hearing. */
export async function databaseAheadMs(sql: Sql, now: () => number = Date.now): Promise<number> {
  let best = { tookMs: Number.POSITIVE_INFINITY, aheadMs: 0 }
  for (let i = 0; i < 3; i++) {
    const before = now()
    const [row] = await sql<{ ms: number }[]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`
    const after = now()
    if (after - before < best.tookMs) best = { tookMs: after - before, aheadMs: row!.ms - (before + after) / 2 }
  }
  return best.aheadMs
}
