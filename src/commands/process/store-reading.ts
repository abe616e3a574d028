import { createFindings } from "../../alerts/findings-worker.ts"
import type { Sql } from "../../database/types.ts"
import { recurring } from "../../jobs/timers.ts"
import type { Measure } from "../../lib/live-read.ts"
import type { Log } from "../../lib/log.ts"
import { type Budget, readBudget } from "../../measuring/budget.ts"
import { createMeasure } from "../../measuring/measure.ts"
import { createBodyRoom } from "../../measuring/parsing/body-room.ts"
import { openParsers } from "../../measuring/parsing/pool.ts"
import { openRawBodies } from "../../measuring/raw-bodies.ts"
import type { AskedSource } from "../../measuring/source-alarms.ts"
import { ensureCanaries, noteHealth } from "../../measuring/source-alarms.ts"
import { createMeasuring } from "../../measuring/worker.ts"
import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import type { MeasuringSettings } from "../../settings/settings.ts"
import { guardedFetch } from "./guarded-fetch.ts"
import { measuredBy } from "./measured-kinds.ts"

export interface StoreReading {
  /** Live reads; whichever process works next does them. */
  measure: Measure
  budget(): Promise<Budget[]>
  /** Begins to read what is due, and to tend what goes with it. */
  start(): void
  stop(): Promise<void>
}

/** The longest that one answer of a store may take: a search page has 1 MB. */
const ANSWER_MS = 20_000

/** Wires the settings into what reads the stores. Nothing is asked before `start`. */
export function openStoreReading(opened: StoreReadingParts): StoreReading {
  const { settings, sql, log, allowPrivate = [], now = () => new Date() } = opened
  const parts = measuredBy(settings)
  const { kinds, egress, egressCountry, gapsMs } = parts
  const bodies = openRawBodies({ ...settings.raw, log })
  const parsers = openParsers()
  const measuring = createMeasuring({
    sql,
    kinds,
    egress,
    gapsMs,
    log,
    now,
    reach: {
      address: (upstream) => settings.addresses.get(upstream) ?? `https://${upstream}`,
      fetch: (url, init) => fetch(url, init),
      now,
      egress: egressCountry,
      timeoutMs: ANSWER_MS,
      parse: parsers.parse,
    },
    bodyRoom: createBodyRoom(1, collectGarbage),
    parseAppAds: parsers.parseAppAds,
    sourcesOff: settings.sourcesOff,
    atOnce: settings.atOnce,
    outbound: opened.outbound ?? guardedFetch(allowPrivate),
    keep: bodies.keep,
    ...(opened.findingsAfterMs !== undefined && { findingsAfterMs: opened.findingsAfterMs }),
  })
  const findings = createFindings({ sql, log, now })
  const { isReading, nudge, onEnded } = measuring
  const ends = {
    worked() {},
    failed: (error: unknown) => log("warn", "tending_failed", { reason: (error as Error).message }),
  }
  const chores = [
    recurring(MINUTE_MS, () => ensureCanaries(sql, parts), ends),
    // an answer and the failure that makes an alert may be noted at one moment by two processes
    recurring(MINUTE_MS, () => judgeAll(sql, parts.sources, log), ends),
    recurring(10 * MINUTE_MS, () => bodies.sweep(), ends),
  ]
  return {
    measure: createMeasure({ sql, kinds, egress, now, sources: parts.sources, isReading, nudge, onEnded }),
    budget: () => readBudget(sql, parts),
    start() {
      if (allowPrivate.length > 0)
        log("info", "private_targets", { reason: `may be asked: ${allowPrivate.join(", ")}` })
      measuring.start()
      findings.start()
      for (const chore of chores) chore.start()
    },
    async stop() {
      await Promise.all([measuring, findings, ...chores].map((one) => one.stop()))
      parsers.stop()
    },
  }
}

/** Runtimes let garbage lie: hostile pages of 8 MB came to 300 MB, to 150 MB where the work waits for this. */
function collectGarbage(): void {
  const { Bun: bun } = globalThis as { Bun?: { gc(sync: boolean): void } }
  bun?.gc(true)
}

async function judgeAll(sql: Sql, sources: readonly AskedSource[], log: Log): Promise<void> {
  for (const { name } of sources) await noteHealth(sql, name, log)
}

interface StoreReadingParts {
  settings: MeasuringSettings
  sql: Sql
  log: Log
  /** Addresses and networks that sites of developers may have although they are not public. */
  allowPrivate?: readonly string[]
  now?: () => Date
  outbound?: SafeFetch
  findingsAfterMs?: number
}

const MINUTE_MS = 60_000
