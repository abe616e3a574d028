import type { Upstream } from "../upstreams.ts"
import { claim, untilNext } from "./claim.ts"
import { type Claim, extend, giveBack } from "./due.ts"
import type { Kind } from "./kind.ts"
import { openLane } from "./pace.ts"
import { type Ended, performReading, type ReadingParts, type Run } from "./reading.ts"

export interface Readings {
  /** The upstreams that something is asked of first. */
  upstreams: readonly Upstream[]
  /**
   * Claims what an upstream has a turn for, as much as there is room for, and begins to read it. Each promise is one
   * reading's end and never rejects; `waitMs` is how long there is nothing more to claim, as far as is known.
   */
  begin(upstream: Upstream): Promise<{ begun: Promise<void>[]; waitMs: number }>
  /**
   * Lets go of readings whose last heartbeats, one each third of a lease, failed: others may soon read the same.
   */
  dropSilent(): void
  /** One heartbeat for all that is under way. */
  beat(): Promise<void>
  /** From now on nothing is begun. */
  close(): void
  abort(): void
  ended(): Promise<unknown>
}

export interface ReadingsOptions extends ReadingParts {
  kinds: readonly Kind[]
  /** Milliseconds between two requests to an upstream, where nothing has made them more. */
  gapsMs: ReadonlyMap<Upstream, number>
  /** Readings under way at once for one upstream: one that answers slowly does not keep the others waiting. */
  atOnce: number
  leaseMs: number
  pollMs: number
  /** After each reading. */
  onEnd(end: End): void
}

export interface End {
  /** Null when it was given back, put off, or lost. */
  ended: Ended | null
  /** What the database failed with. */
  error: unknown
  /** The upstream that had no room until now; null when it had. */
  freed: Upstream | null
}

/** Readings of a long kind under way at once: the room beside them is for what is short, and for whoever waits. */
const LONG_AT_ONCE = 2

// The lane was free and something due, but a statement of another process was just at it.
const CONTENDED = { pauseMs: 5, tries: 20 }

/** What is under way in this process. */
export function createReadings(options: ReadingsOptions): Readings {
  const { sql, egress, kinds, atOnce, leaseMs, pollMs, stopwatch, onEnd } = options
  const ofUpstream = Map.groupBy(kinds, ({ upstream }) => upstream)
  const lanes = openedOnce(options)
  const runs = new Map<Run, Promise<void>>()
  let closed = false
  const hasRoom = (upstream: Upstream) =>
    [...runs.keys()].filter((run) => run.claim.kind.upstream === upstream).length < atOnce
  const isOpen = (kind: Kind) =>
    !kind.isLong || [...runs.keys()].filter((run) => run.claim.kind === kind).length < LONG_AT_ONCE

  const launch = (claimed: Claim, since: () => number): Promise<void> => {
    const abort = new AbortController()
    const run: Run = { claim: claimed, sinceLease: since, sinceClaim: since, abort, ending: false }
    const { upstream } = claimed.kind
    const finish = (ended: Ended | null, error?: unknown) => {
      const freed = hasRoom(upstream) ? null : upstream
      runs.delete(run)
      onEnd({ ended, error, freed })
    }
    const reading = performReading(run, options).then(finish, (error) => finish(null, error))
    runs.set(run, reading)
    return reading
  }

  return {
    upstreams: [...ofUpstream.keys()],
    async begin(upstream) {
      await lanes.open()
      const lane = { upstream, egress }
      const begun: Promise<void>[] = []
      for (let misses = 0; !closed && hasRoom(upstream); ) {
        const since = stopwatch()
        const asked = ofUpstream.get(upstream)?.filter(isOpen) ?? []
        const { claimed, again } = await claim(sql, lane, asked, leaseMs)
        if (claimed && closed) await giveBack(sql, claimed, null)
        if (claimed && !closed) begun.push(launch(claimed, since))
        if (claimed || again) continue
        const waitMs = await untilNext(sql, lane, asked, pollMs)
        if (waitMs === null) lanes.forget()
        if (waitMs !== 0 || ++misses === CONTENDED.tries) return { begun, waitMs: waitMs || CONTENDED.pauseMs }
        await new Promise((resolve) => setTimeout(resolve, CONTENDED.pauseMs))
      }
      return { begun, waitMs: pollMs }
    },
    dropSilent() {
      for (const run of runs.keys()) if (!run.ending && run.sinceLease() > leaseMs / 2) run.abort.abort()
    },
    beat: () => beat([...runs.keys()], options),
    close() {
      closed = true
    },
    abort() {
      for (const run of runs.keys()) run.abort.abort()
    },
    ended: () => Promise.all(runs.values()),
  }
}

/** Every lane, also of upstreams that are only asked further on; once in a process, unless somebody took them away. */
function openedOnce({ sql, egress, gapsMs }: ReadingsOptions) {
  let opened: Promise<unknown> | undefined
  const forget = () => {
    opened = undefined
  }
  const open = async () => {
    opened ??= Promise.all([...gapsMs].map(([upstream, gapMs]) => openLane(sql, { upstream, egress }, gapMs)))
    await opened.catch((error) => {
      forget()
      throw error
    })
  }
  return { open, forget }
}

/** Those whose lease no longer stands are aborted: they are somebody else's now. */
async function beat(runs: readonly Run[], { sql, leaseMs, stopwatch }: ReadingsOptions): Promise<void> {
  const held = runs.filter(({ ending }) => !ending)
  if (held.length === 0) return
  const asked = stopwatch()
  const claims = held.map((run) => run.claim)
  const standing = await extend(sql, claims, leaseMs)
  for (const run of held) {
    if (standing.has(run.claim.lease)) run.sinceLease = asked
    else if (!run.ending) run.abort.abort()
  }
}
