import type { Sql } from "../database/types.ts"
import { Fault } from "../faults.ts"
import type { Log } from "../log.ts"
import { firstOf, single, stopwatch, within } from "../running.ts"
import { failOld, recover } from "./leases.ts"
import type { OutsideWrites } from "./outside.ts"
import type { Pace, Parts } from "./perform.ts"
import { createRuns } from "./runs.ts"

export interface WorkerOptions extends Partial<Pace> {
  sql: Sql
  kinds: OutsideWrites
  log: Log
  now?: () => Date
  random?: () => number
  /** Jobs under way at once in this process. */
  concurrency?: number
  pollMs?: number
  /** Queued jobs older than this fail. */
  maxAgeMs?: number
  /** How long a stop waits for what is under way, before it is aborted. */
  stopMs?: number
}

export interface Worker {
  /** Begins to look for jobs every second; without kinds there is nothing to look for, and no timer. */
  start(): void
  /**
   * Takes no new jobs and waits for those under way; after `stopMs` they are aborted: given back when nothing was sent,
   * else unknown. Ends at most 2 s later, whatever the database does.
   */
  stop(): Promise<void>
  /** A job was enqueued here: looks at once. */
  nudge(): void
  /** Recovers what others left, begins what is due and waits for its end. Returns how many were begun. */
  runOnce(): Promise<number>
}

/** Does queued jobs, in any number of processes beside each other. Leases are judged by the database's clock. */
export function createWorker(options: WorkerOptions): Worker {
  const { sql, kinds, log, concurrency = 4, pollMs = 1_000, maxAgeMs = DAY_MS, stopMs = 15_000 } = options
  const { now = () => new Date(), random = Math.random } = options
  const pace = paceOf(options)
  const parts: Parts = { sql, log, pace, random, stopwatch: () => stopwatch(now) }
  const interrupted = firstOf(log, "jobs_interrupted")
  const runs = createRuns(parts, kinds, {
    concurrency,
    onEnd(error) {
      if (error) interrupted.failed(error)
      nudge()
    },
  })
  const sweepOnce = () => sweep(parts, maxAgeMs)
  // with nothing under way a beat asks the database nothing, so that its end says nothing either
  const live = single(runs.beat, { ...interrupted, worked() {} })
  const [look, tidy] = [single(runs.begin, interrupted), single(sweepOnce, interrupted)]
  const timers: NodeJS.Timeout[] = []
  let state: "idle" | "started" | "stopping" = "idle"

  const nudge = () => {
    if (state === "started") look.go()
  }
  const often = () => {
    runs.dropSilent()
    // also while a stop waits: what is under way keeps its lease
    live.go()
    if (state === "started") tidy.go()
  }
  return {
    start() {
      if (kinds.size === 0 || state !== "idle") return
      state = "started"
      timers.push(setInterval(nudge, pollMs), setInterval(often, pace.leaseMs / 3))
      often()
      nudge()
    },
    nudge,
    async stop() {
      state = "stopping"
      runs.close()
      const idle = () => Promise.all([look.idle(), tidy.idle()]).then(runs.ended)
      await within(stopMs, idle())
      runs.abort()
      await within(LAST_WORDS_MS, idle())
      for (const timer of timers.splice(0)) clearInterval(timer)
    },
    async runOnce() {
      await sweepOnce()
      const begun = await runs.begin()
      await Promise.all(begun)
      return begun.length
    },
  }
}

/** They fit each other: a read and a send end within the lease, and a stop within the server's 25 s. */
const PACE: Pace = {
  leaseMs: 30_000,
  readMs: 8_000,
  sendMs: 12_000,
  maxAttempts: 5,
  retry: { baseMs: 2_000, capMs: 60_000 },
}
const DAY_MS = 86_400_000
const LAST_WORDS_MS = 2_000

function paceOf(options: WorkerOptions): Pace {
  const { leaseMs, readMs, sendMs, maxAttempts, retry } = { ...PACE, ...options }
  if (sendMs >= leaseMs) throw new Error("a lease must outlast the request that it covers")
  return { leaseMs, readMs, sendMs, maxAttempts, retry }
}

async function sweep({ sql, log, pace }: Parts, maxAgeMs: number): Promise<void> {
  for (const { status, jobs } of await recover(sql, pace.maxAttempts)) {
    log(status === "queued" ? "info" : "warn", "jobs_recovered", { code: status, count: jobs })
  }
  const old = await failOld(sql, maxAgeMs, new Fault("unavailable", { detail: OLD }))
  if (old > 0) log("warn", "jobs_too_old", { count: old })
}

const OLD = "It could not be begun for a day; nothing was sent."
