import { setTimeout as sleep } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import type { Sql } from "../database/types.ts"
import type { Platforms } from "../lib/accounts/platform.ts"
import { Fault } from "../lib/faults.ts"
import type { Log, LogLevel } from "../lib/log.ts"
import type { LogEvent } from "../lib/log-events.ts"
import { storable } from "../lib/storable.ts"
import { finish, giveBack, type Job, markSent, type Outcome } from "./outbox-jobs.ts"
import { stepsOf } from "./outbox-steps.ts"
import type { OutsideWrite, Port } from "./outside.ts"
import { limited, TooLate } from "./timers.ts"
import type { Run } from "./worker.ts"

type JobRun = Run<Job>

export interface OutboxPace {
  leaseMs: number
  /** Timeout of a read, and of the write itself. */
  readMs: number
  sendMs: number
  maxAttempts: number
  /** Full jitter: the delay is random, up to `baseMs` doubled per attempt, at most `capMs`. */
  retry: { baseMs: number; capMs: number }
}

export interface AttemptParts {
  sql: Sql
  log: Log
  pace: OutboxPace
  platforms: Platforms
  random: () => number
  stopwatch: () => () => number
}

/** Runs one attempt of a job. Rejects only when the database fails: the lease then expires and the job is recovered. */
export async function performJob(run: JobRun, kind: OutsideWrite, parts: AttemptParts): Promise<void> {
  const { claim: job, abort } = run
  const { sql, platforms, pace } = parts
  const { readMs, sendMs, leaseMs } = pace
  const port = (signal: AbortSignal): Port => {
    const { id: idempotencyKey, workspaceId, appId } = job
    return { signal, idempotencyKey, workspaceId, appId, sql, platforms }
  }
  let changed = false
  let seen: unknown
  try {
    if (kind.read) {
      seen = await limited(readMs, abort, async (signal) => kind.read?.(job.args, port(signal)))
      changed = !isDeepStrictEqual(storable(seen), job.before)
    }
    if (!changed) await markBeforeSending(run, parts)
  } catch (error) {
    return await setBack(run, error, parts)
  }
  if (changed) return await store(run, CHANGED, parts)
  run.isEnding = true
  const step = stepsOf(sql, job, leaseMs)
  const send = async (signal: AbortSignal) => kind.send(job.args, { ...port(signal), step }, seen)
  const outcome = await limited(sendMs, abort, send).then(done, notDone)
  await store(run, outcome, parts)
}

/**
 * Records that the request is about to be sent. Throws when the lease is lost, or expires before the request could time
 * out.
 */
async function markBeforeSending(run: JobRun, { sql, pace, stopwatch }: AttemptParts): Promise<void> {
  const sinceMark = stopwatch()
  const marked = !run.abort.signal.aborted && (await markSent(sql, run.claim, pace.leaseMs))
  if (marked) run.sinceLease = sinceMark
  if (!marked || run.abort.signal.aborted || sinceMark() > pace.leaseMs - pace.sendMs)
    throw new TooLate("the lease expired")
}

/** Handles a failure before anything was sent: schedules a retry, unless the error is final or no attempts are left. */
async function setBack(run: JobRun, error: unknown, parts: AttemptParts): Promise<void> {
  const { claim: job, abort } = run
  const { maxAttempts, retry } = parts.pace
  // a stop of this process is not the job's fault: another worker may start it at once
  if (abort.signal.aborted) {
    const stood = await giveBack(parts.sql, job, null)
    return tell(parts, "info", stood ? "job_released" : "job_lease_lost", job, {})
  }
  const fault = faultOf(error)
  const final = fault.status < 500 && fault.status !== 429
  if (final || job.attempts >= maxAttempts) return await store(run, { status: "failed", fault, why: error }, parts)
  const delayMs = parts.random() * Math.min(retry.capMs, retry.baseMs * 2 ** (job.attempts - 1))
  const stood = await giveBack(parts.sql, job, delayMs)
  tell(parts, "warn", stood ? "job_retried" : "job_lease_lost", job, { code: fault.code, why: error })
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (error instanceof TooLate) return new Fault("unavailable", { detail: SILENT })
  return new Fault("internal_error")
}

const SILENT = "There was no answer in time; nothing was sent."

function done(result: unknown): Outcome {
  try {
    return { status: "done", result: storable(result) }
  } catch (error) {
    return { status: "done", result: null, why: error }
  }
}

/**
 * Returns the outcome of a failed write. A Fault means that the platform refused it. After any other error it may have
 * been applied.
 */
function notDone(error: unknown): Outcome {
  if (error instanceof Fault) return { status: "failed", fault: error, why: error }
  return { status: "unknown", why: error }
}

const CHANGED: Outcome = { status: "failed", fault: new Fault("changed_since_preview") }

const ENDED = { done: "job_done", failed: "job_failed", unknown: "job_unknown" } as const

const STORE_TRIES = 60
const STORE_PAUSE_MS = 500

/** Stores the outcome. Retries for 30 s: a write that was applied but whose outcome is not stored counts as unknown. */
async function store({ claim: job }: JobRun, outcome: Outcome, parts: AttemptParts): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const stood = await finish(parts.sql, job, outcome)
      const code = outcome.status === "failed" ? outcome.fault.code : undefined
      const level = outcome.status === "done" ? "info" : "warn"
      return tell(parts, level, stood ? ENDED[outcome.status] : "job_lease_lost", job, { code, why: outcome.why })
    } catch (error) {
      if (tries >= STORE_TRIES) throw error
      await sleep(STORE_PAUSE_MS)
    }
  }
}

function tell(
  { log }: AttemptParts,
  level: LogLevel,
  event: LogEvent,
  { requestId, workspaceId: workspace, action: operation, attempts: count }: Job,
  { code, why }: { code?: string | undefined; why?: unknown },
): void {
  const { message, stack } = why instanceof Error ? why : { message: why === undefined ? undefined : String(why) }
  const details = why instanceof Fault || why instanceof TooLate ? { reason: message } : { reason: message, stack }
  log(level, event, { requestId, workspace, operation, count, code, ...details })
}
