import type { Sql } from "../database/types.ts"
import type { Log } from "../log.ts"
import { type SafeFetch, safeFetch } from "../outbound/safe-fetch.ts"
import { type Ends, firstOf, single, stopwatch, within } from "../running.ts"
import type { AppAdsFile } from "../sources/app-ads.ts"
import type { BodyRoom } from "../sources/body-room.ts"
import type { RawBody, Reach } from "../sources/source.ts"
import type { Upstream } from "../upstreams.ts"
import { recover } from "./due.ts"
import { RETRY, type Retry } from "./follow.ts"
import type { Kind } from "./kind.ts"
import { BASE_GAPS_MS } from "./pace.ts"
import type { Ended } from "./reading.ts"
import { createReadings, type Readings } from "./readings.ts"
import { createSignOfLife } from "./sign-of-life.ts"

export interface MeasuringOptions {
  sql: Sql
  kinds: readonly Kind[]
  reach: Omit<Reach, "signal" | "room">
  /** Room for large bodies; all that come when left out. */
  bodyRoom?: BodyRoom
  /** Names the address that reads; all processes behind it share one pace at each upstream. */
  egress: string
  log: Log
  /** Milliseconds between two requests, for upstreams where it is not the usual. */
  gapsMs?: ReadonlyMap<Upstream, number>
  /** Sources that are not asked. */
  sourcesOff?: readonly string[]
  /** Asks sites of developers; safeFetch, which knows no private network, when left out. */
  outbound?: SafeFetch
  /** Reads their files; in place when left out. */
  parseAppAds?: (bytes: Uint8Array) => Promise<AppAdsFile>
  /** Keeps a body as it came. */
  keep?: (body: RawBody) => Promise<void>
  now?: () => Date
  random?: () => number
  /** Readings under way at once in this process, for each upstream. */
  atOnce?: number
  /** The longest that nobody looks for what became due elsewhere. */
  pollMs?: number
  leaseMs?: number
  /** The longest that a reading may take, its waits for turns included. */
  readMs?: number
  /** From what was stored to what is found in it. */
  findingsAfterMs?: number
  /** How long a stop waits for what is under way, before it is given back. */
  stopMs?: number
  retry?: Retry
}

export interface Measuring {
  /** Begins to look for what is due; without kinds there is nothing to look for, and no timer. */
  start(): void
  /**
   * Begins nothing more and waits for what is under way; after `stopMs` it is given back, due at once. Ends at most 2 s
   * later, whatever the database does.
   */
  stop(): Promise<void>
  /** It looks for what is due. */
  isReading(): boolean
  /** Something became due here: looks at once. */
  nudge(): void
  /** Takes back what others left, reads what there is a turn for now and waits for its end. Returns how many readings. */
  runOnce(): Promise<number>
  /** The listener is called after each reading of this process that measured its subjects, or failed. */
  onEnded(listener: (ended: Ended) => void): void
}

/** Measures what is due, in any number of processes beside each other. Turns and leases go by the database's clock. */
export function createMeasuring(options: MeasuringOptions): Measuring {
  const { log, stopMs = 15_000 } = options
  const parts = partsOf(options)
  const interrupted = firstOf(log, "measuring_interrupted")
  const listeners: ((ended: Ended) => void)[] = []
  const readings = createReadings({
    ...parts,
    onEnd({ ended, error, freed }) {
      if (error) interrupted.failed(error)
      if (ended) for (const listener of listeners) listener(ended)
      if (freed) looks.go(freed)
    },
  })
  const looks = lookouts(readings, { pollMs: parts.pollMs, ends: interrupted })
  const tidy = single(() => sweep(parts), interrupted)
  // with nothing under way a beat asks the database nothing, so that its end says nothing either
  const live = single(readings.beat, { ...interrupted, worked() {} })
  const sign = createSignOfLife({ ...parts, ends: interrupted })
  let beats: NodeJS.Timeout | undefined
  let stopping = false
  const often = () => {
    readings.dropSilent()
    // also while a stop waits: what is under way keeps its lease
    live.go()
    if (!stopping) tidy.go()
  }
  return {
    start() {
      if (parts.kinds.length === 0 || stopping || beats) return
      beats = setInterval(often, parts.leaseMs / 3)
      often()
      sign.begin()
      looks.begin()
    },
    isReading: () => beats !== undefined && !stopping,
    nudge: looks.go,
    async stop() {
      stopping = true
      readings.close()
      looks.end()
      const unsigned = sign.end().catch(interrupted.failed)
      const idle = () => Promise.all([looks.idle(), tidy.idle()]).then(readings.ended)
      await within(stopMs, idle())
      readings.abort()
      await within(LAST_WORDS_MS, Promise.all([idle(), unsigned]))
      clearInterval(beats)
    },
    async runOnce() {
      await sweep(parts)
      const begun = await Promise.all(readings.upstreams.map((upstream) => readings.begin(upstream)))
      const ends = begun.flatMap((one) => one.begun)
      await Promise.all(ends)
      return ends.length
    },
    onEnded(listener) {
      listeners.push(listener)
    },
  }
}

const LAST_WORDS_MS = 2_000

function partsOf(options: MeasuringOptions) {
  const { sql, kinds, reach, egress, log, keep, sourcesOff = [], outbound = safeFetch } = options
  const { now = () => new Date(), random = Math.random, retry = RETRY } = options
  const { atOnce = 6, pollMs = 1_000, leaseMs = 30_000, readMs = 120_000, findingsAfterMs = 10_000 } = options
  return {
    ...{ sql, kinds, reach, egress, log, keep, sourcesOff, outbound, now, random, retry, atOnce, pollMs, leaseMs },
    ...(options.bodyRoom && { bodyRoom: options.bodyRoom }),
    ...(options.parseAppAds && { parseAppAds: options.parseAppAds }),
    ...{ readMs, longReadMs: 5 * readMs, findingsAfterMs },
    gapsMs: new Map([...BASE_GAPS_MS, ...(options.gapsMs ?? [])]),
    broken: new Map<string, string>(),
    stopwatch: () => stopwatch(now),
  }
}

interface Lookouts {
  /** From now on each upstream is looked at when it may have a turn for something. */
  begin(): void
  /** Looks at once at one upstream, or at all; nothing before `begin` and after `end`. */
  go(upstream?: Upstream): void
  end(): void
  idle(): Promise<unknown>
}

function lookouts(readings: Readings, { pollMs, ends }: { pollMs: number; ends: Ends }): Lookouts {
  const timers = new Map<Upstream, NodeJS.Timeout>()
  let looking = false
  const lookAt = async (upstream: Upstream) => {
    let waitMs = pollMs
    try {
      waitMs = (await readings.begin(upstream)).waitMs
    } finally {
      clearTimeout(timers.get(upstream))
      if (looking) timers.set(upstream, setTimeout(go, Math.ceil(waitMs), upstream))
    }
  }
  const looks = new Map(readings.upstreams.map((upstream) => [upstream, single(() => lookAt(upstream), ends)]))
  const go = (upstream?: Upstream) => {
    if (!looking) return
    if (upstream) looks.get(upstream)?.go()
    else for (const look of looks.values()) look.go()
  }
  return {
    begin() {
      looking = true
      go()
    },
    go,
    end() {
      looking = false
      for (const timer of timers.values()) clearTimeout(timer)
    },
    idle: () => Promise.all([...looks.values()].map((look) => look.idle())),
  }
}

type Sweeping = Pick<MeasuringOptions, "sql" | "log"> & { retry: Retry; random: () => number }

async function sweep({ sql, log, retry, random }: Sweeping): Promise<void> {
  const count = await recover(sql, retry, random())
  if (count > 0) log("warn", "readings_recovered", { count })
}
