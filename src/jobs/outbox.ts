import { NO_PLATFORMS, type Platforms } from "../lib/accounts/platform.ts"
import { Fault } from "../lib/faults.ts"
import { DAY_MS } from "../lib/time.ts"
import { type AttemptParts, type OutboxPace, performJob } from "./outbox-attempt.ts"
import { claim, extend, failOld, giveBack, type Job, recover } from "./outbox-jobs.ts"
import { settleUnknown } from "./outbox-proofs.ts"
import type { OutsideWrites } from "./outside.ts"
import { firstOf, stopwatch } from "./timers.ts"
import { createWorker, type Worker, type WorkerOptions } from "./worker.ts"

export interface OutboxOptions extends Partial<OutboxPace>, Omit<WorkerOptions, "atOnce" | "leaseMs"> {
  kinds: OutsideWrites
  /** Access to the accounts of workspaces. None if left out. */
  platforms?: Platforms
  concurrency?: number
  maxAgeMs?: number
  /**
   * How long a stop waits for running jobs. After that, jobs that sent nothing are queued again; the others become
   * unknown.
   */
  stopMs?: number
}

export type Outbox = Worker

export function createOutbox(options: OutboxOptions): Outbox {
  const { sql, kinds, log, concurrency = 4, pollMs = 1_000, maxAgeMs = DAY_MS, stopMs = 15_000 } = options
  const { now = () => new Date(), random = Math.random, platforms = NO_PLATFORMS } = options
  const pace = paceOf(options)
  const { leaseMs } = pace
  const parts: AttemptParts = { sql, log, pace, platforms, random, stopwatch: () => stopwatch(now) }
  return createWorker<"outbox", Job>(
    {
      lanes: kinds.size > 0 ? ["outbox"] : [],
      atOnce: concurrency,
      async claim(_, { limit }) {
        const claims = await claim(sql, { actions: [...kinds.keys()], limit, leaseMs })
        return { claims, waitMs: claims.length < limit ? null : 0 }
      },
      perform: (run) => performJob(run, kinds.get(run.claim.action)!, parts),
      giveBack: (job) => giveBack(sql, job, null),
      extend: (jobs) => extend(sql, jobs, leaseMs),
      async recover() {
        await sweep(parts, maxAgeMs)
        await settleUnknown({ ...parts, kinds, readMs: pace.readMs })
      },
    },
    { leaseMs, pollMs, stopMs, now, ends: firstOf(log, "job_worker_failed") },
  )
}

/** A read and a send must fit into a lease, and a stop must fit into the server's limit of 25 s. */
const PACE: OutboxPace = {
  leaseMs: 30_000,
  readMs: 8_000,
  sendMs: 12_000,
  maxAttempts: 5,
  retry: { baseMs: 2_000, capMs: 60_000 },
}
function paceOf(options: OutboxOptions): OutboxPace {
  const { leaseMs, readMs, sendMs, maxAttempts, retry } = { ...PACE, ...options }
  if (sendMs >= leaseMs) throw new Error("a lease must outlast the request that it covers")
  return { leaseMs, readMs, sendMs, maxAttempts, retry }
}

async function sweep({ sql, log, pace }: AttemptParts, maxAgeMs: number): Promise<void> {
  for (const { status, jobs } of await recover(sql, pace.maxAttempts)) {
    log(status === "queued" ? "info" : "warn", "jobs_recovered", { code: status, count: jobs })
  }
  const old = await failOld(sql, maxAgeMs, new Fault("unavailable", { detail: OLD }))
  if (old > 0) log("warn", "jobs_expired", { count: old })
}

const OLD = "It could not start for a day; nothing was sent."
