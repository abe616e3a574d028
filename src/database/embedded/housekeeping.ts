import type { Log } from "../../lib/log.ts"
import type { Sql } from "../types.ts"
import { analyzeGrown, vacuumChanged } from "../upkeep.ts"

export interface HousekeepingOptions {
  everyMs?: number
  /** Write-ahead log since the last checkpoint that calls for another, in bytes. */
  logLimit?: number
  /** Longest time between two checkpoints while something is written, in milliseconds. */
  checkpointMs?: number
  vacuumHour?: number
  /** Between two looks for tables that have grown beyond what the planner knows, in milliseconds. */
  analyzeMs?: number
  /** How long little has to be done until memory is given back, in milliseconds. */
  restMs?: number
  now?: () => Date
}

/** It has no background processes: without checkpoints its log grew to 4.6 GB, and 1.1 GB made a start take 15 s. */
export function keepHouse(
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
        if (!stopping.signal.aborted) log("warn", "housekeeping_failed", { reason: error.message })
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

/** Of the time: an idle server takes 0.5 % of a processor. */
const IDLE_SHARE = 0.05

/** Calls `rest` once little was done for so long, and again only after more was. */
export function restWhenIdle(rest: () => Promise<void>, { restMs = 60_000 }: HousekeepingOptions = {}): () => void {
  let isRested = false
  let before = process.cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    const isIdle = (user + system) / 1_000 < IDLE_SHARE * restMs
    if (isIdle && !isRested) rest().catch(() => {}) // the database is gone, which others tell
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
    // A checkpoint writes a record of its own, which must not call for the next one.
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
