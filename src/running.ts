import type { Log } from "./log.ts"

export interface Single {
  go(): void
  idle(): Promise<void>
}

/** What is told of the ends of work that is tried again and again. */
export interface Ends {
  failed(error: unknown): void
  worked(): void
}

/** Work that runs once at a time; asked for meanwhile, it runs once more. */
export function single(work: () => Promise<unknown>, { worked, failed }: Ends): Single {
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

/** While the database is away every poll fails: the first says so, until one works that asked it something. */
export function firstOf(log: Log, event: string): Ends {
  let away = false
  return {
    failed(error) {
      const { message, stack } = error instanceof Error ? error : new Error(String(error))
      if (!away) log("warn", event, { reason: message, ...(stack !== undefined && { stack }) })
      away = true
    },
    worked() {
      away = false
    },
  }
}

/** Counts milliseconds by whichever clock went further: one stands still while the machine sleeps, the other may be set. */
export function stopwatch(now: () => Date): () => number {
  const [ticks, time] = [performance.now(), now().getTime()]
  return () => Math.max(performance.now() - ticks, now().getTime() - time)
}

/** Waits for the work, but no longer. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, late])
  clearTimeout(timer)
}

/** Work was not done when its time was up, or when it was stopped. */
export class TooLate extends Error {
  override name = "TooLate"
}

/** The work's end, or TooLate once the time is up or the run was aborted, whatever the work does with its signal. */
export async function limited<T>(
  ms: number,
  run: AbortController,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const { promise: late, reject } = Promise.withResolvers<never>()
  late.catch(() => {}) // also when the work has ended first
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
