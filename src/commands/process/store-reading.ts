import { createFindings } from "../../alerts/findings-worker.ts"
import type { Sql } from "../../database/types.ts"
import { recurring } from "../../jobs/timers.ts"
import type { Measure } from "../../lib/live-read.ts"
import type { Log } from "../../lib/log.ts"
import { type Budget, readBudget } from "../../measuring/budget.ts"
import { createMeasure } from "../../measuring/measure.ts"
import { createBodyLimit } from "../../measuring/parsing/body-limit.ts"
import { openRawBodies } from "../../measuring/raw-bodies.ts"
import type { CanarySource } from "../../measuring/source-alarms.ts"
import { ensureCanaries, noteHealth } from "../../measuring/source-alarms.ts"
import { createMeasuring } from "../../measuring/worker.ts"
import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import { recording } from "../../recording.ts"
import type { MeasuringSettings } from "../../settings/settings.ts"
import { openBodyParsers } from "./body-parsers.ts"
import { guardedFetch } from "./guarded-fetch.ts"
import { measuredBy } from "./measured-kinds.ts"

export interface StoreReading {
  /** Requests a live read, which the next free process performs. */
  measure: Measure
  budget(): Promise<Budget[]>
  /** Starts reading due subjects, and the periodic maintenance. */
  start(): void
  stop(): Promise<void>
}

/** Timeout of a store's answer: a search page has 1 MB. */
const ANSWER_MS = 20_000

/** Creates the store reader from the settings. It sends no request before `start`. */
export function openStoreReading(opened: StoreReadingParts): StoreReading {
  const { settings, sql, log, allowPrivate = [], now = () => new Date() } = opened
  const parts = measuredBy(settings)
  const { kinds, egress, egressCountry, gapsMs } = parts
  const bodies = openRawBodies({ ...settings.raw, log })
  const parsers = openBodyParsers()
  const measuring = createMeasuring({
    recording,
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
    bodyLimit: createBodyLimit(1, collectGarbage),
    parseText: parsers.parseText,
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
    failed: (error: unknown) => log("warn", "maintenance_failed", { reason: (error as Error).message }),
  }
  const chores = [
    recurring(MINUTE_MS, () => ensureCanaries(sql, parts), ends),
    // repeated, because two processes may record an answer and the failure that causes an alert at the same time
    recurring(MINUTE_MS, () => judgeAll(sql, parts.sources, log), ends),
    recurring(10 * MINUTE_MS, () => bodies.sweep(), ends),
  ]
  return {
    measure: createMeasure({ sql, kinds, egress, now, sources: parts.sources, isReading, nudge, onEnded }),
    budget: () => readBudget(sql, parts),
    start() {
      if (allowPrivate.length > 0) log("info", "private_targets_allowed", { reason: allowPrivate.join(", ") })
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

/**
 * Collects garbage, because runtimes delay it: with pages of 8 MB, memory grew to 300 MB without this and to 150 MB
 * with it.
 */
function collectGarbage(): void {
  const { Bun: bun } = globalThis as { Bun?: { gc(sync: boolean): void } }
  bun?.gc(true)
}

async function judgeAll(sql: Sql, sources: readonly CanarySource[], log: Log): Promise<void> {
  for (const { name } of sources) await noteHealth(sql, name, log)
}

interface StoreReadingParts {
  settings: MeasuringSettings
  sql: Sql
  log: Log
  /** Private addresses and networks that are allowed for developers' sites. */
  allowPrivate?: readonly string[]
  now?: () => Date
  outbound?: SafeFetch
  findingsAfterMs?: number
}

const MINUTE_MS = 60_000
