import type { Recording } from "../core/recording.ts"
import { firstOf, stopwatch, within } from "../jobs/timers.ts"
import { createWorker, type Work, type WorkerOptions } from "../jobs/worker.ts"
import { valueAt } from "../lib/objects.ts"
import type { Upstream } from "../lib/upstreams.ts"
import { type SafeFetch, safeFetch } from "../outbound/safe-fetch.ts"
import { claimNext } from "./claim.ts"
import { type Claim, extend, giveBack, recover } from "./due.ts"
import type { Kind } from "./due-kind.ts"
import { BASE_GAPS_MS, openLane } from "./pace.ts"
import type { BodyLimit } from "./parsing/body-limit.ts"
import { type PerformedReading, performReading } from "./reading.ts"
import { RETRY, type Retry } from "./rescheduling.ts"
import { createSignOfLife } from "./sign-of-life.ts"
import type { ParseText, RawBody, SourceAccess } from "./source.ts"

export interface MeasuringOptions extends WorkerOptions {
  recording: Recording
  kinds: readonly Kind[]
  reach: Omit<SourceAccess, "signal" | "largeBodies">
  /** Limits large bodies in memory. No limit if left out. */
  bodyLimit?: BodyLimit
  /** Name of the egress address. All processes that use this address share one pace per upstream. */
  egress: string
  /** Milliseconds between two requests, for upstreams that differ from BASE_GAPS_MS. */
  gapsMs?: ReadonlyMap<Upstream, number>
  sourcesOff?: readonly string[]
  /** Default: safeFetch, which reaches no private network. */
  outbound?: SafeFetch
  parseText?: ParseText
  /** Stores a raw body. */
  keep?: (body: RawBody) => Promise<void>
  readMs?: number
  findingsAfterMs?: number
  retry?: Retry
}

export interface MeasuringWorker {
  /** Starts to look for due work. Without kinds it starts no timer. */
  start(): void
  /** Gives running readings back after `stopMs`. Returns at most 2 s later, even if the database does not respond. */
  stop(): Promise<void>
  isReading(): boolean
  /** Looks at once for due work of this upstream, or of all. */
  nudge(upstream?: Upstream): void
  /**
   * Recovers abandoned readings, then performs the readings that have a turn now and waits for them to end. Returns
   * their number.
   */
  runOnce(): Promise<number>
  onEnded(listener: (ended: PerformedReading) => void): void
}

/** Measures due subjects in any number of processes. Turns and leases follow the database's clock. */
export function createMeasuring(options: MeasuringOptions): MeasuringWorker {
  const { stopMs = 15_000 } = options
  const parts = partsOf(options)
  const { log, leaseMs, pollMs, now } = parts
  const ends = firstOf(log, "measuring_worker_failed")
  const listeners: ((ended: PerformedReading) => void)[] = []
  const tell = (ended: PerformedReading | null) => {
    if (ended) for (const listener of listeners) listener(ended)
  }
  const worker = createWorker(readingWork(parts, tell), { leaseMs, pollMs, stopMs, now, ends })
  const sign = createSignOfLife({ ...parts, ends })
  const { isStarted: isReading, nudge, runOnce } = worker
  return {
    start() {
      worker.start()
      if (isReading()) sign.begin()
    },
    async stop() {
      const unsigned = sign.end().catch(ends.failed)
      await Promise.all([worker.stop(), within(stopMs + LAST_WORDS_MS, unsigned)])
    },
    isReading,
    nudge,
    runOnce,
    onEnded(listener) {
      listeners.push(listener)
    },
  }
}

const LAST_WORDS_MS = 2_000

/**
 * Delay between a reading and the search for findings. A run looks at all keywords of an app, whose readings arrive one
 * by one: the delay limits how often it runs. Alerts are late by at most this delay.
 */
const FINDINGS_AFTER_MS = 180_000

type MeasuringParts = ReturnType<typeof partsOf>

function partsOf(options: MeasuringOptions) {
  const { recording, sql, kinds, reach, egress, log, keep, sourcesOff = [], outbound = safeFetch } = options
  const { now = () => new Date(), random = Math.random, retry = RETRY } = options
  const {
    atOnce = 6,
    pollMs = 1_000,
    leaseMs = 30_000,
    readMs = 120_000,
    findingsAfterMs = FINDINGS_AFTER_MS,
  } = options
  return {
    recording,
    sql,
    kinds,
    reach,
    egress,
    log,
    keep,
    sourcesOff,
    outbound,
    now,
    random,
    retry,
    atOnce,
    pollMs,
    leaseMs,
    ...(options.bodyLimit && { bodyLimit: options.bodyLimit }),
    ...(options.parseText && { parseText: options.parseText }),
    readMs,
    longReadMs: 5 * readMs,
    findingsAfterMs,
    gapsMs: new Map([...BASE_GAPS_MS, ...(options.gapsMs ?? [])]),
    broken: new Map<string, string>(),
    stopwatch: () => stopwatch(now),
  }
}

/** Maximum concurrent readings of a long kind. The other places are for short readings and waiting callers. */
const LONG_AT_ONCE = 2

/**
 * Defines the worker's lanes: one per upstream that a kind asks first. `onEnd` gets null for a reading that was given
 * back, put off or lost.
 */
function readingWork(parts: MeasuringParts, onEnd: (ended: PerformedReading | null) => void): Work<Upstream, Claim> {
  const { sql, egress, kinds, leaseMs } = parts
  const ofUpstream = Map.groupBy(kinds, ({ upstream }) => upstream)
  const lanes = openedOnce(parts)
  return {
    lanes: [...ofUpstream.keys()],
    atOnce: parts.atOnce,
    async claim(upstream, { underWay }) {
      await lanes.open()
      const isOpen = (kind: Kind) =>
        !kind.isLong || underWay.filter((claim) => claim.kind === kind).length < LONG_AT_ONCE
      const open = valueAt(ofUpstream, upstream).filter(isOpen)
      const next = await claimNext(sql, { upstream, egress }, open, parts)
      if (next.waitMs === null) lanes.forget()
      return next
    },
    perform: (run) => performReading(run, parts).then(onEnd),
    giveBack: (claim) => giveBack(sql, claim, null),
    extend: (claims) => extend(sql, claims, leaseMs),
    recover: () => sweep(parts),
  }
}

/**
 * Creates the pace row of every lane once per process, including upstreams used only by later requests. `forget` makes
 * it run again after rows were deleted.
 */
function openedOnce({ sql, egress, gapsMs }: MeasuringParts) {
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

async function sweep({ sql, log, retry, random }: MeasuringParts): Promise<void> {
  const count = await recover(sql, retry, random())
  if (count > 0) log("warn", "readings_recovered", { count })
}
