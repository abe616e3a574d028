import { closeSync, readdirSync, readlinkSync, realpathSync } from "node:fs"
import { ANALYZE_UNKNOWN } from "../upkeep.ts"
import { DatabaseStopped, StatementStopped } from "./stopped.ts"
import { type Backend, startBackend } from "./thread.ts"
import { query } from "./wire.ts"

interface WatchOptions {
  /**
   * Called when a statement has exceeded its limit: the thread is about to be replaced, and the sessions of its clients
   * are lost.
   */
  onRestart(error: Error): void
  /** Called once when the database is lost permanently. */
  onLoss(error: Error): void
  template?: Uint8Array<ArrayBuffer> | undefined
}

/** A thread that hangs in the operating system (for instance on a disk that does not answer) cannot be ended. */
const GONE_MS = 30_000
/**
 * Pauses between attempts to open a directory after a kill. If the attempt after the last pause fails, the database
 * counts as lost.
 */
const TRIES_MS = [250, 500, 1_000, 2_000, 4_000]

/**
 * Starts a thread that is replaced if a statement exceeds its limit, because PGlite cannot cancel statements. Other
 * work waits meanwhile. Missing statistics may be the cause, so they are gathered before clients continue.
 */
export async function startWatched(directory: string, { onRestart, onLoss, template }: WatchOptions): Promise<Backend> {
  let lost: Error | null = null
  let ended = false
  let backend: Promise<Backend>

  const lose = (error: Error) => {
    if (lost) return
    lost = error
    onLoss(error)
  }
  // A failure while opening does not count as a loss, because the opening is retried.
  const start = async () => {
    let isOpen = false
    const opened = await startBackend(directory, (error) => isOpen && lose(error), template)
    isOpen = true
    return opened
  }
  const reopened = async (gone: Promise<void>) => {
    await within(GONE_MS, gone)
    closeLeftOpen(directory)
    const opened = await tried(start, () => ended)
    await analyzeUnknown(opened)
    return opened
  }
  const stop = (running: Backend, limitMs: number) => {
    const error = new StatementStopped(limitMs)
    onRestart(error)
    backend = reopened(running.cut(error))
    backend.catch(lose)
  }
  const first = await start()
  backend = Promise.resolve(first)
  return {
    exec: async (batch, limitMs = Number.POSITIVE_INFINITY) => {
      const running = await backend
      const watched = watch(limitMs, () => stop(running, limitMs))
      return await running.exec(batch).finally(watched)
    },
    dump: async () => (await backend).dump(),
    rest: async () => (await backend).rest(),
    close: async () => {
      ended = true
      await (await backend).close()
    },
    kill: () => void backend.then((running) => running.kill(), lose),
    cut: async (error) => (await backend).cut(error),
  }
}

const TICKS = 10

// Counts timer ticks of this process. Time during which the machine slept or the process was stopped is therefore not
// counted.
function watch(limitMs: number, overdue: () => void): () => void {
  if (limitMs === Number.POSITIVE_INFINITY) return () => {}
  let left = TICKS
  const timer = setInterval(() => {
    if (--left > 0) return
    clearInterval(timer)
    overdue()
  }, limitMs / TICKS)
  return () => clearInterval(timer)
}

// Waits until the old thread has ended, because two threads on one directory would corrupt it.
async function within(ms: number, gone: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new DatabaseStopped("its thread cannot be ended")), ms)
  await Promise.race([gone, late.promise]).finally(() => clearTimeout(timer))
}

async function tried<T>(start: () => Promise<T>, isOver: () => boolean): Promise<T> {
  for (let failed = 0; ; failed++) {
    try {
      return await start()
    } catch (error) {
      if (failed === TRIES_MS.length || isOver()) throw error
      await new Promise((resolve) => setTimeout(resolve, TRIES_MS[failed]))
    }
  }
}

/** Runs before any client can use the backend. Ignores failures, because housekeeping gathers the statistics again. */
async function analyzeUnknown({ exec }: Backend): Promise<void> {
  await exec(new Uint8Array(query(ANALYZE_UNKNOWN))).catch(() => {})
}

// Closes the files that an ended thread leaves open. Only Linux lists them; on other systems a few stay open.
function closeLeftOpen(directory: string): void {
  if (process.platform !== "linux") return
  const within = `${realpathSync(directory)}/`
  for (const name of readdirSync("/proc/self/fd")) {
    try {
      if (readlinkSync(`/proc/self/fd/${name}`).startsWith(within)) closeSync(Number(name))
    } catch {} // The descriptor with which this folder is read.
  }
}
