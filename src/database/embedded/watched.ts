import { closeSync, readdirSync, readlinkSync, realpathSync } from "node:fs"
import { type Backend, startBackend, stopped } from "./thread.ts"

export interface WatchOptions {
  /** A statement ran on: the thread is about to be replaced, and its clients' sessions are lost. */
  onRestart(error: Error): void
  /** Called once when the database is lost for good. */
  onLoss(error: Error): void
  template?: Uint8Array<ArrayBuffer> | undefined
}

/** So many replacements within this time are no accident: the process ends, and whoever keeps it starts it again. */
const RESTARTS = 3
const WITHIN_MS = 10 * 60_000

/** A thread that hangs in the operating system (a disk that does not answer) cannot be ended. */
const GONE_MS = 5_000

/**
 * The embedded database in its thread, under watch. PGlite knows neither statement_timeout nor cancel, so a statement
 * that exceeds its limit is stopped by ending the thread, as by kill -9, and a new one opens `directory`: what was
 * acknowledged is there, work meanwhile waits for it.
 */
export async function startWatched(directory: string, { onRestart, onLoss, template }: WatchOptions): Promise<Backend> {
  const restarts: number[] = []
  let lost: Error | null = null
  let backend: Promise<Backend>

  const lose = (error: Error) => {
    if (lost) return
    lost = error
    onLoss(error)
  }
  const start = () => startBackend(directory, lose, template)
  const stop = (running: Backend, limitMs: number) => {
    const error = stopped(`a statement ran for more than ${limitMs} ms`)
    const since = performance.now() - WITHIN_MS
    while (restarts[0] !== undefined && restarts[0] < since) restarts.shift()
    if (restarts.push(performance.now()) > RESTARTS) return running.kill()
    onRestart(error)
    backend = replaced(running.cut(error), directory, start)
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
    close: async () => (await backend).close(),
    kill: () => void backend.then((running) => running.kill(), lose),
    cut: async (error) => (await backend).cut(error),
  }
}

const TICKS = 10

// In ticks of this process: time in which the machine slept or the process was stopped is not the statement's.
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

async function replaced(gone: Promise<void>, directory: string, start: () => Promise<Backend>): Promise<Backend> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(stopped("its thread cannot be ended")), GONE_MS)
  // two threads on one directory would destroy it
  await Promise.race([gone, late.promise]).finally(() => clearTimeout(timer))
  closeLeftOpen(directory)
  return await start()
}

// A thread that was ended closes none of its files. Only Linux says which are whose; elsewhere they stay open, a few
// restarts' worth.
function closeLeftOpen(directory: string): void {
  if (process.platform !== "linux") return
  const within = `${realpathSync(directory)}/`
  for (const name of readdirSync("/proc/self/fd")) {
    try {
      if (readlinkSync(`/proc/self/fd/${name}`).startsWith(within)) closeSync(Number(name))
    } catch {} // the one that reads the folder
  }
}
