import type { Sql } from "../database/types.ts"
import type { Log } from "../lib/log.ts"
import { type RunListener, single, stopwatch, within } from "./timers.ts"

/** A row or rows that one worker has, each claim under a lease of its own: whoever held an earlier one changes nothing. */
export interface LeasedWork {
  lease: string
}

export interface Work<Lane, Claim extends LeasedWork> {
  /** What is claimed side by side, each with room and waits of its own; none = there is nothing to look for. */
  lanes: readonly Lane[]
  atOnce: number
  /** Takes leases on what is due. `waitMs` 0 = claim again at once, null = poll. `since` counts from the statement. */
  claim(lane: Lane, space: Space<Claim>): Promise<ClaimResult<Claim>>
  /** Rejects only when the database fails: the lease then runs out, and the work is recovered. */
  perform(run: Run<Claim>): Promise<unknown>
  /** As if it had not been claimed. */
  giveBack(claim: Claim): Promise<unknown>
  /** The heartbeat; returns the leases that still stand. Left out where the work extends its own lease. */
  extend?(claims: readonly Claim[]): Promise<ReadonlySet<string>>
  recover?(): Promise<unknown>
}

export interface ClaimResult<Claim> {
  claims: readonly Claim[]
  waitMs: number | null
  since?: () => number
}

interface Space<Claim> {
  room: number
  underWay: readonly Claim[]
  closing: AbortSignal
}

export interface Run<Claim> {
  claim: Claim
  /** Milliseconds since the statement was asked that last made or extended the lease. */
  sinceLease: () => number
  sinceClaim: () => number
  /** The lease is lost, or a stop has waited long enough. */
  abort: AbortController
  /** The worker stops: what is begun ends, and nothing further is begun. */
  closing: AbortSignal
  /** Its end is on its way and fenced by the lease itself: neither silence nor a lost lease aborts it any more. */
  isEnding: boolean
}

/** What a worker that looks for due work may be given. */
export interface WorkerOptions {
  sql: Sql
  log: Log
  now?: () => Date
  random?: () => number
  atOnce?: number
  /** The longest that nobody looks for what became due elsewhere. */
  pollMs?: number
  leaseMs?: number
  /** How long a stop waits for what is under way, before it is given back. */
  stopMs?: number
}

interface Timing {
  leaseMs: number
  /** The longest that nobody looks for what became due elsewhere. */
  pollMs: number
  /** How long a stop waits for what is under way, before it is aborted, and then for its last words. */
  stopMs: number
  lastWordsMs?: number
  now?: () => Date
  ends: RunListener
}

export interface Worker<Lane = unknown> {
  start(): void
  /** Aborts what is under way after `stopMs`, and ends at most `lastWordsMs` later, whatever the database does. */
  stop(): Promise<void>
  /** Something became due here: looks at once, at one lane or at all. */
  nudge(lane?: Lane): void
  isStarted(): boolean
  /** Recovers what others left, performs what is due now and waits for its end. Returns how many claims that were. */
  runOnce(): Promise<number>
}

/** Performs leased work, in any number of processes beside each other. Leases are judged by the database's clock. */
export function createWorker<Lane, Claim extends LeasedWork>(work: Work<Lane, Claim>, timing: Timing): Worker<Lane> {
  const { leaseMs, stopMs, lastWordsMs = LAST_WORDS_MS, ends } = timing
  const runs = createRuns(work, timing, (lane) => looks.go(lane))
  const looks = createLooks(work.lanes, runs.begin, timing)
  const recover = async () => work.recover?.()
  const tidy = single(recover, ends)
  // a heartbeat with nothing under way asks the database nothing, so its end says nothing of the database
  const live = single(runs.beat, { ...ends, worked() {} })
  let beats: NodeJS.Timeout | undefined
  let stopping = false
  const beat = () => {
    runs.dropSilent()
    // also while a stop waits: what is under way keeps its lease
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
      const begun = (await Promise.all(work.lanes.map(runs.begin))).flatMap((one) => one.begun)
      await Promise.all(begun)
      return begun.length
    },
  }
}

const LAST_WORDS_MS = 2_000

type Runs<Lane> = ReturnType<typeof createRuns<Lane, LeasedWork>>

/** What is under way in this process. `onRoom` is called when a full lane has room again. */
function createRuns<Lane, Claim extends LeasedWork>(
  work: Work<Lane, Claim>,
  { leaseMs, pollMs, ends, now = () => new Date() }: Timing,
  onRoom: (lane: Lane) => void,
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
      if (wasFull) onRoom(lane)
    }
    const end = work.perform(run).catch(ends.failed).then(finish)
    runs.set(run, { lane, end })
    return end
  }
  return {
    /** Each promise of `begun` is one claim's end and never rejects; nothing more is to be claimed for `waitMs`. */
    async begin(lane: Lane): Promise<{ begun: Promise<void>[]; waitMs: number }> {
      const begun: Promise<void>[] = []
      for (let waitMs: number | null = 0; ; ) {
        const underWay = underWayOn(lane)
        const room = work.atOnce - underWay.length
        if (closing.aborted || waitMs !== 0 || room <= 0) return { begun, waitMs: waitMs || pollMs }
        const called = stopwatch(now)
        const next = await work.claim(lane, { room, underWay, closing })
        if (closing.aborted) await Promise.all(next.claims.map(work.giveBack))
        else begun.push(...next.claims.map((claim) => launch(lane, claim, next.since ?? called)))
        waitMs = next.waitMs
      }
    },
    /** Aborts those whose last heartbeats, one each third of a lease, failed: others may soon have the same. */
    dropSilent() {
      if (!work.extend) return
      for (const run of runs.keys()) if (!run.isEnding && run.sinceLease() > leaseMs / 2) run.abort.abort()
    },
    /** Aborts those whose lease no longer stands: they are somebody else's now. */
    async beat() {
      const held = [...runs.keys()]
      if (held.length === 0 || !work.extend) return
      const since = stopwatch(now)
      const standing = await work.extend(held.map(({ claim }) => claim))
      for (const run of held) {
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
    /** One lane, or all; nothing before `begin` and after `end`. */
    go,
    end() {
      looking = false
      for (const timer of timers.values()) clearTimeout(timer)
    },
    idle: () => Promise.all([...looks.values()].map((look) => look.idle())),
  }
}
