import type { Sql } from "../database/types.ts"
import { claim, extend, giveBack, type Job } from "./leases.ts"
import type { OutsideWrites } from "./outside.ts"
import { type Parts, perform, type Run } from "./perform.ts"

export interface Runs {
  /** Claims as many due jobs as there is room for and begins them; each promise is one job's end and never rejects. */
  begin(): Promise<Promise<void>[]>
  /**
   * Lets go of jobs whose last heartbeats, one each third of a lease, failed: whoever cannot say that he lives must not
   * begin to write.
   */
  dropSilent(): void
  /** One heartbeat for all that is under way. */
  beat(): Promise<void>
  /** From now on nothing is begun. */
  close(): void
  abort(): void
  ended(): Promise<unknown>
}

/** What is under way in this process: at most `concurrency` jobs at once. `onEnd` is called after each. */
export function createRuns(
  parts: Parts,
  kinds: OutsideWrites,
  { concurrency, onEnd }: { concurrency: number; onEnd: (error?: unknown) => void },
): Runs {
  const { sql, stopwatch } = parts
  const { leaseMs } = parts.pace
  const runs = new Map<Run, Promise<void>>()
  let closed = false

  const launch = (job: Job, sinceLease: () => number): Promise<void> => {
    const run: Run = { job, sinceLease, abort: new AbortController(), sending: false }
    const kind = kinds.get(job.action)
    const ended = (kind ? perform(run, kind, parts) : giveBack(sql, job, null))
      .then(
        () => undefined,
        (error: unknown) => error,
      )
      .then((error) => {
        runs.delete(run)
        onEnd(error)
      })
    runs.set(run, ended)
    return ended
  }

  return {
    async begin() {
      const limit = concurrency - runs.size
      if (limit <= 0 || closed) return []
      const sinceLease = stopwatch()
      const jobs = await claim(sql, { actions: [...kinds.keys()], limit, leaseMs })
      // closed meanwhile: nobody is left to do them
      if (closed) await Promise.all(jobs.map((job) => giveBack(sql, job, null)))
      return closed ? [] : jobs.map((job) => launch(job, sinceLease))
    },
    dropSilent() {
      for (const run of runs.keys()) if (!run.sending && run.sinceLease() > leaseMs / 2) run.abort.abort()
    },
    beat: () => beat(sql, [...runs.keys()], parts),
    close() {
      closed = true
    },
    abort() {
      for (const run of runs.keys()) run.abort.abort()
    },
    ended: () => Promise.all(runs.values()),
  }
}

/** Those whose lease no longer stands are aborted: they are somebody else's now. */
async function beat(sql: Sql, runs: readonly Run[], { stopwatch, pace }: Parts): Promise<void> {
  if (runs.length === 0) return
  const asked = stopwatch()
  const jobs = runs.map(({ job }) => job)
  const standing = await extend(sql, jobs, pace.leaseMs)
  for (const run of runs) {
    if (standing.has(run.job.id)) run.sinceLease = asked
    else run.abort.abort()
  }
}
