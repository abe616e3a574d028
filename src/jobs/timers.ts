import { setTimeout as sleep } from "node:timers/promises"
import type { Db } from "../database/types.ts"
import type { Log, LogLevel } from "../lib/log.ts"
import type { LogEvent } from "../lib/log-events.ts"
import type { RecurringWork } from "../lib/time.ts"

/** Returns SQL for now() plus `ms`, by the database's clock. Null gives null, which greatest() ignores. */
export function later(sql: Db, ms: number | null) {
  return sql`now() + ${ms}::float8 * interval '1 millisecond'`
}

interface SingleRun {
  go(): void
  idle(): Promise<void>
}

export interface RunListener {
  failed(error: unknown): void
  worked(): void
}

/** Runs work without overlap. A `go` during a run causes one more run after it. */
export function single(work: () => Promise<unknown>, { worked, failed }: RunListener): SingleRun {
  let running: Promise<void> | undefined
  let again = false
  const run = async () => {
    do {
      again = false
      await work().then(worked, failed)
    } while (again)
    running = undefined
  }
  return {
    go() {
      if (running) again = true
      else running = run()
    },
    idle: async () => running,
  }
}

export function recurring(everyMs: number, work: () => Promise<unknown>, ends: RunListener): RecurringWork {
  const run = single(work, ends)
  let timer: NodeJS.Timeout | undefined
  return {
    start() {
      timer = setInterval(run.go, everyMs)
      run.go()
    },
    async stop() {
      clearInterval(timer)
      await run.idle()
    },
  }
}

/**
 * Runs `work` after `firstMs`, and again after the milliseconds that each run returns. `work` handles its own failures.
 * Its signal is aborted by `stop`.
 */
export function repeated(firstMs: number, work: (signal: AbortSignal) => Promise<number>): RecurringWork {
  const stopping = new AbortController()
  const { signal } = stopping
  let running = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const wait = (ms: number) => {
    if (signal.aborted) return
    timer = setTimeout(() => {
      running = work(signal).then(wait)
    }, ms)
  }
  return {
    start: () => wait(firstMs),
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** Logs only the first failure in a row: while the database is down every run fails. */
export function firstOf(log: Log, event: LogEvent, level: LogLevel = "warn"): RunListener {
  let away = false
  return {
    failed(error) {
      const { message, stack } = error instanceof Error ? error : new Error(String(error))
      if (!away) log(level, event, { reason: message, ...(stack !== undefined && { stack }) })
      away = true
    },
    worked() {
      away = false
    },
  }
}

/**
 * Counts milliseconds by whichever clock advanced more: the monotonic clock may pause while the machine sleeps, and the
 * system clock may be set.
 */
export function stopwatch(now: () => Date): () => number {
  const [ticks, time] = [performance.now(), now().getTime()]
  return () => Math.max(performance.now() - ticks, now().getTime() - time)
}

/** Returns the result of `work`, or undefined after `ms`; the work is not cancelled. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const over = new AbortController()
  const late = sleep(ms, undefined, { signal: over.signal }).catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}

export class TooLate extends Error {
  override name = "TooLate"
}

/**
 * Returns the result of `work`. Throws TooLate after `ms` or when the run is aborted, even if the work ignores its
 * signal.
 */
export async function limited<T>(
  ms: number,
  run: AbortController,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const { promise: late, reject } = Promise.withResolvers<never>()
  late.catch(() => {}) // avoids an unhandled rejection when the work ended first
  const giveUp = () => {
    reject(new TooLate(run.signal.aborted ? "stopped before it ended" : `no end within ${ms} ms`))
    limit.abort()
  }
  const timer = setTimeout(giveUp, ms)
  run.signal.addEventListener("abort", giveUp)
  if (run.signal.aborted) giveUp()
  try {
    return await Promise.race([late, limit.signal.aborted ? late : work(limit.signal)])
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener("abort", giveUp)
  }
}
