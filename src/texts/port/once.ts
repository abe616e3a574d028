import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "../../database/types.ts"
import { within } from "../../jobs/timers.ts"
import type { Log } from "../../lib/log.ts"
import { createTurns, type Turns } from "../../lib/turns.ts"
import type { WritingState } from "../../lib/writing/written-text.ts"
import {
  claimText,
  extendLease,
  forgetFailure,
  LEASE_MS,
  readText,
  storeFailure,
  storeText,
  type TextKey,
} from "./stored-texts.ts"
import type { WritingResult } from "./write-once.ts"

interface OnceParts {
  sql: Sql
  log: Log
  /** Interval between checks of the database while another process makes the text. */
  pollMs?: number
  /** Maximum time for one text, independent of its callers. */
  mostMs?: number
}

/** Makes a text. Rejects only if the signal aborts or something unexpected fails. */
type Make<Task extends TextKey> = (task: Task, signal: AbortSignal) => Promise<WritingResult>

/** Makes each text once for all callers in all processes, and stores it even if no caller waits any more. */
interface Once<Task extends TextKey> {
  /** Returns the stored text, or makes the text. */
  get(task: Task, waitMs: number): Promise<WritingState<unknown>>
  /** Returns a stored or running text. A failure is returned once. Null if the text is neither stored nor running. */
  find(key: TextKey): Promise<WritingState<unknown> | null>
  /** Aborts running texts, so that another process may make those texts. */
  stop(): Promise<void>
}

const MAX_MS = 300_000

export function createOnce<Task extends TextKey>(parts: OnceParts, atOnce: number, make: Make<Task>): Once<Task> {
  const { sql } = parts
  const stopping = new AbortController()
  const underWay = new Map<string, Promise<WritingState<unknown>>>()
  const work = { make, turns: createTurns(atOnce), signal: stopping.signal }

  const begin = (task: Task): Promise<WritingState<unknown>> => {
    const key = `${task.kind} ${task.digest}`
    const running = underWay.get(key)
    if (running) return running
    const making = makeOrWatch(parts, task, work)
    underWay.set(key, making)
    const ended = () => void underWay.delete(key)
    making.then(ended, ended) // the error goes to the callers
    return making
  }
  return {
    async get(task, waitMs) {
      const stored = await readText(sql, task)
      if (stored?.state === "done") return stored
      return (await within(waitMs, begin(task))) ?? { state: "pending" }
    },
    async find(key) {
      const stored = await readText(sql, key)
      if (stored?.state === "failed") await forgetFailure(sql, key)
      return stored
    },
    async stop() {
      stopping.abort()
      await Promise.allSettled(underWay.values())
    },
  }
}

interface Work<Task extends TextKey> {
  make: Make<Task>
  turns: Turns
  signal: AbortSignal
}

/** Makes the text in this process, or waits for the process that is making it. */
async function makeOrWatch<Task extends TextKey>(
  parts: OnceParts,
  task: Task,
  work: Work<Task>,
): Promise<WritingState<unknown>> {
  const { sql, pollMs = 500 } = parts
  for (;;) {
    const lease = await claimText(sql, task)
    if (lease !== null) return await makeUnder(lease, parts, task, work)
    const stored = await readText(sql, task)
    if (stored && stored.state !== "pending") return stored
    await sleep(pollMs, undefined, { signal: work.signal })
  }
}

async function makeUnder<Task extends TextKey>(
  lease: string,
  { sql, log, mostMs = MAX_MS }: OnceParts,
  task: Task,
  { make, turns, signal }: Work<Task>,
): Promise<WritingState<unknown>> {
  const lost = new AbortController()
  const ended = AbortSignal.any([signal, lost.signal, AbortSignal.timeout(mostMs)])
  const beats = setInterval(() => void keep(sql, lease, lost), LEASE_MS / 3)
  try {
    await turns.enter(ended)
    const result = await make(task, ended).finally(turns.leave)
    if (!result.done) {
      await storeFailure(sql, lease, result)
      const { why, retryAfter } = result
      return { state: "failed", why, ...(retryAfter !== undefined && { retryAfter }) }
    }
    await storeText(sql, lease, result)
    return (await readText(sql, task)) ?? { state: "failed", why: "unusable" }
  } catch (error) {
    const isStop = ended.aborted
    log(isStop ? "info" : "warn", "writing_aborted", { operation: task.kind, reason: (error as Error).name })
    await storeFailure(sql, lease, { why: isStop ? null : "unusable" })
    if (isStop) return { state: "failed", why: "unusable" }
    throw error
  } finally {
    clearInterval(beats)
  }
}

/**
 * Extends the lease, and aborts the text if the lease is lost. A single error is ignored, since the lease lasts three
 * heartbeats.
 */
async function keep(sql: Sql, lease: string, lost: AbortController): Promise<void> {
  const stands = await extendLease(sql, lease).catch(() => true)
  if (!stands) lost.abort()
}
