import type { Sql } from "../database/types.ts"
import type { Log } from "../lib/log.ts"
import { type RunListener, single, stopwatch, within } from "./timers.ts"

/** Claimed work. Each claim has its own lease, so that a worker with an earlier lease changes nothing. */
export interface LeasedWork {
  lease: string
}

export interface Work<Lane, Claim extends LeasedWork> {
  /** Independent queues, each with its own slots and waits. An empty list means there is nothing to claim. */
  lanes: readonly Lane[]
  atOnce: number
  /**
   * Leases due work. `waitMs`: 0 claims again at once, null waits for the next poll. `since` returns the milliseconds
   * since the claim's statement began.
   */
  claim(lane: Lane, space: Space<Claim>): Promise<ClaimResult<Claim>>
  /** Does the work. Rejects only when the database fails: the lease then expires and the work is recovered. */
  perform(run: Run<Claim>): Promise<unknown>
  /** Gives the claim back as if it had not been taken. */
  giveBack(claim: Claim): Promise<unknown>
  /**
   * The heartbeat: extends the leases and returns those that are still valid. Left out if the work extends its own
   * lease.
   */
  extend?(claims: readonly Claim[]): Promise<ReadonlySet<string>>
  recover?(): Promise<unknown>
}

export interface ClaimResult<Claim> {
  claims: readonly Claim[]
  waitMs: number | null
  since?: () => number
}

interface Space<Claim> {
  /** Free places of the lane. */
  limit: number
  underWay: readonly Claim[]
  closing: AbortSignal
}

export interface Run<Claim> {
  claim: Claim
  /** Milliseconds since the statement began that last created or extended the lease. */
  sinceLease: () => number
  sinceClaim: () => number
  /** Aborted when the lease is lost or a stop has waited long enough. */
  abort: AbortController
  /** Aborted when the worker stops: what has begun may end, and nothing new begins. */
  closing: AbortSignal
  /**
   * The final statement is running and checks the lease itself: neither failed heartbeats nor a lost lease aborts the
   * run any more.
   */
  isEnding: boolean
}

/** Options of a worker. */
export interface WorkerOptions {
  sql: Sql
  log: Log
  now?: () => Date
  random?: () => number
  atOnce?: number
  /** Poll interval for work that another process made due. */
  pollMs?: number
  leaseMs?: number
  /** How long a stop waits for running work before it gives the work back. */
  stopMs?: number
}

interface Timing {
  leaseMs: number
  /** Poll interval for work that another process made due. */
  pollMs: number
  /** How long a stop waits before it aborts running work, and then how long it waits for that work to end. */
  stopMs: number
  lastWordsMs?: number
  now?: () => Date
  ends: RunListener
}

export interface Worker<Lane = unknown> {
  start(): void
  /** Aborts running work after `stopMs`. Returns at most `lastWordsMs` later, even if the database does not respond. */
  stop(): Promise<void>
  /** Looks for due work at once, in that lane or in all lanes. Call it when this process made work due. */
  nudge(lane?: Lane): void
  isStarted(): boolean
  /** Recovers abandoned work, performs what is due now and waits for it. Returns the number of claims. */
  runOnce(): Promise<number>
}

/** Performs leased work in any number of processes. The database's clock decides when leases expire. */
export function createWorker<Lane, Claim extends LeasedWork>(work: Work<Lane, Claim>, timing: Timing): Worker<Lane> {
  const { leaseMs, stopMs, lastWordsMs = LAST_WORDS_MS, ends } = timing
  const runs = createRuns(work, timing, (lane) => looks.go(lane))
  const looks = createLooks(work.lanes, runs.begin, timing)
  const recover = async () => work.recover?.()
  const tidy = single(recover, ends)
  // a heartbeat with nothing running sends no statement, so its success does not mean that the database is up
  const live = single(runs.beat, { ...ends, worked() {} })
  let beats: NodeJS.Timeout | undefined
  let stopping = false
  const beat = () => {
    runs.dropSilent()
    // also during a stop: running work keeps its lease
    live.go()
    if (!stopping) tidy.go()
  }
  return {
    start() {
      if (work.lanes.length === 0 || stopping || beats) return
      beats = setInterval(beat, leaseMs / 3)
      beat()
      looks.begin()
    },
    async stop() {
      stopping = true
      runs.close()
      looks.end()
      const idle = () => Promise.all([looks.idle(), tidy.idle()]).then(runs.ended)
      await within(stopMs, idle())
      runs.abort()
      await within(lastWordsMs, idle())
      clearInterval(beats)
    },
    nudge: (lane) => looks.go(lane),
    isStarted: () => beats !== undefined && !stopping,
    async runOnce() {
      await recover()
      const begun = (await Promise.all(work.lanes.map(runs.begin))).flatMap((item) => item.begun)
      await Promise.all(begun)
      return begun.length
    },
  }
}

const LAST_WORDS_MS = 2_000

type Runs<Lane> = ReturnType<typeof createRuns<Lane, LeasedWork>>

/** Creates the register of this process's running work. `onFreed` is called when a full lane has a free place again. */
function createRuns<Lane, Claim extends LeasedWork>(
  work: Work<Lane, Claim>,
  { leaseMs, pollMs, ends, now = () => new Date() }: Timing,
  onFreed: (lane: Lane) => void,
) {
  const runs = new Map<Run<Claim>, { lane: Lane; end: Promise<void> }>()
  const close = new AbortController()
  const { signal: closing } = close
  const underWayOn = (lane: Lane) => [...runs].filter(([, on]) => on.lane === lane).map(([run]) => run.claim)

  const launch = (lane: Lane, claim: Claim, since: () => number): Promise<void> => {
    const abort = new AbortController()
    const run: Run<Claim> = { claim, sinceLease: since, sinceClaim: since, abort, closing, isEnding: false }
    const finish = () => {
      const wasFull = underWayOn(lane).length >= work.atOnce
      runs.delete(run)
      if (wasFull) onFreed(lane)
    }
    const end = work.perform(run).catch(ends.failed).then(finish)
    runs.set(run, { lane, end })
    return end
  }
  return {
    /**
     * Claims until the lane is full or empty. Each promise of `begun` is the end of one claim and never rejects; claim
     * again after `waitMs`.
     */
    async begin(lane: Lane): Promise<{ begun: Promise<void>[]; waitMs: number }> {
      const begun: Promise<void>[] = []
      for (let waitMs: number | null = 0; ; ) {
        const underWay = underWayOn(lane)
        const limit = work.atOnce - underWay.length
        if (closing.aborted || waitMs !== 0 || limit <= 0) return { begun, waitMs: waitMs || pollMs }
        const called = stopwatch(now)
        const next = await work.claim(lane, { limit, underWay, closing })
        if (closing.aborted) await Promise.all(next.claims.map(work.giveBack))
        else begun.push(...next.claims.map((claim) => launch(lane, claim, next.since ?? called)))
        waitMs = next.waitMs
      }
    },
    /** Aborts runs whose heartbeats have failed for half a lease: another process may soon claim the same work. */
    dropSilent() {
      if (!work.extend) return
      for (const run of runs.keys()) if (!run.isEnding && run.sinceLease() > leaseMs / 2) run.abort.abort()
    },
    /** Extends all leases and aborts the runs whose lease is lost: another process has that work. */
    async beat() {
      const active = [...runs.keys()]
      if (active.length === 0 || !work.extend) return
      const since = stopwatch(now)
      const standing = await work.extend(active.map(({ claim }) => claim))
      for (const run of active) {
        if (standing.has(run.claim.lease)) run.sinceLease = since
        else if (!run.isEnding) run.abort.abort()
      }
    },
    close: () => close.abort(),
    abort() {
      for (const run of runs.keys()) run.abort.abort()
    },
    ended: () => Promise.all([...runs.values()].map(({ end }) => end)),
  }
}

function createLooks<Lane>(
  lanes: readonly Lane[],
  begin: Runs<Lane>["begin"],
  { pollMs, ends }: Pick<Timing, "pollMs" | "ends">,
) {
  const timers = new Map<Lane, NodeJS.Timeout>()
  let looking = false
  const lookAt = async (lane: Lane) => {
    let waitMs = pollMs
    try {
      waitMs = (await begin(lane)).waitMs
    } finally {
      clearTimeout(timers.get(lane))
      if (looking) timers.set(lane, setTimeout(go, Math.ceil(waitMs), lane))
    }
  }
  const looks = new Map(lanes.map((lane) => [lane, single(() => lookAt(lane), ends)]))
  const go = (lane?: Lane) => {
    if (!looking) return
    for (const [at, look] of looks) if (lane === undefined || at === lane) look.go()
  }
  return {
    begin() {
      looking = true
      go()
    },
    /** Looks for due work in one lane, or in all. Does nothing before `begin` and after `end`. */
    go,
    end() {
      looking = false
      for (const timer of timers.values()) clearTimeout(timer)
    },
    idle: () => Promise.all([...looks.values()].map((look) => look.idle())),
  }
}
