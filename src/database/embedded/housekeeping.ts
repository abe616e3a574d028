import type { Log } from "../../lib/log.ts"
import type { Sql } from "../types.ts"
import { analyzeGrown, vacuumChanged } from "../upkeep.ts"

export interface HousekeepingOptions {
  everyMs?: number
  /** A checkpoint is made after this many bytes of write-ahead log. */
  logLimit?: number
  /** Maximum milliseconds between two checkpoints while there are writes. */
  checkpointMs?: number
  vacuumHour?: number
  /** Milliseconds between two searches for tables that have grown too much since their statistics were gathered. */
  analyzeMs?: number
  /** Milliseconds of low activity before memory is released. */
  restMs?: number
  now?: () => Date
}

/**
 * Runs checkpoints, vacuum and analyze, because PGlite has no background processes. Without checkpoints the log grows
 * to 4.6 GB, and a start with a log of 1.1 GB takes 15 s.
 */
export function startHousekeeping(
  sql: Sql,
  log: Log,
  {
    everyMs = 2_000,
    logLimit = 16 * 1024 * 1024,
    checkpointMs = 5 * 60_000,
    vacuumHour = 3,
    analyzeMs = 15_000,
    now = () => new Date(),
  }: HousekeepingOptions = {},
): () => Promise<void> {
  const stopping = new AbortController()
  const analyze = sometimes(analyzeMs, now, () => analyzeGrown(sql))
  const checkpoint = checkpointer(sql, log, logLimit, checkpointMs, now)
  const vacuum = nightly(vacuumHour, now, () => vacuumChanged(sql, { signal: stopping.signal }))
  let working: Promise<void> = Promise.resolve()
  let busy = false
  const look = () => {
    if (busy) return
    busy = true
    working = checkpoint()
      .then(analyze)
      .then(vacuum)
      .catch((error: Error) => {
        if (!stopping.signal.aborted) log("warn", "database_maintenance_failed", { reason: error.message })
      })
      .finally(() => {
        busy = false
      })
  }
  const timer = setInterval(look, everyMs)
  timer.unref()
  return async () => {
    stopping.abort()
    clearInterval(timer)
    await working
  }
}

/** Maximum share of processor time that counts as low activity. An idle server uses 0.5 %. */
const IDLE_SHARE = 0.05

/** Calls `rest` once after a period of low activity. Calls it again only after a new period of activity. */
export function restWhenIdle(rest: () => Promise<void>, { restMs = 60_000 }: HousekeepingOptions = {}): () => void {
  let isRested = false
  let before = process.cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    const isIdle = (user + system) / 1_000 < IDLE_SHARE * restMs
    if (isIdle && !isRested) rest().catch(() => {}) // The database is gone, which another part reports.
    isRested = isIdle
  }, restMs)
  timer.unref()
  return () => clearInterval(timer)
}

function checkpointer(sql: Sql, log: Log, logLimit: number, checkpointMs: number, now: () => Date) {
  let last: { at: number; position: number } | null = null
  return async () => {
    const position = await readLogPosition(sql)
    last ??= { at: now().getTime(), position }
    const bytes = position - last.position
    if (bytes === 0) last.at = now().getTime()
    const due = bytes > logLimit || (bytes > 0 && now().getTime() - last.at >= checkpointMs)
    if (!due) return
    const startedAt = performance.now()
    await sql`checkpoint`
    log("debug", "checkpoint", { bytes, latencyMs: Math.round(performance.now() - startedAt) })
    // A checkpoint writes a log record, which must not trigger the next checkpoint.
    last = { at: now().getTime(), position: await readLogPosition(sql) }
  }
}

async function readLogPosition(sql: Sql): Promise<number> {
  const [row] = await sql<[{ position: number }]>`select (pg_current_wal_lsn() - '0/0')::bigint as position`
  return row.position
}

function sometimes(everyMs: number, now: () => Date, work: () => Promise<unknown>) {
  let last = now().getTime()
  return async () => {
    if (now().getTime() - last < everyMs) return
    last = now().getTime()
    await work()
  }
}

function nightly(hour: number, now: () => Date, work: () => Promise<unknown>) {
  let done = ""
  return async () => {
    const day = now().toISOString().slice(0, 10)
    if (now().getUTCHours() !== hour || done === day) return
    done = day
    await work()
  }
}
