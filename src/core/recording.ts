import type { Db, Sql, Tx } from "../database/types.ts"
import type { Observation } from "../kinds.ts"
import type { AnyKind } from "./kind.ts"
import type { Attempt } from "./observation/attempt.ts"
import type { ObservationProblem } from "./observation/invariants.ts"
import type { MarketFacts } from "./observation/line-parts.ts"
import type { AnyObservation, ChangedApp, StoreObservation } from "./observation/provenance.ts"
import type { NamingApps, OutdatedReading, ShownApps } from "./observation/shown-apps.ts"
import type { SurrogateIds } from "./observation/subjects.ts"

/**
 * The only interface for storing measurements. Created from the root's lists and passed to everything that measures.
 */
export interface Recording extends RecordingModel {
  record: RecordObservations
  /** Logs a failed read; no measurement changes. Returns false if it was already logged. Throws ObservationProblem. */
  recordAttempt(sql: Db, attempt: Attempt, now?: () => Date): Promise<boolean>
  /** Throws ObservationProblem. */
  checkObservation(observation: Observation, now: Date): void
  /** Throws ObservationProblem. */
  checkAttempt(attempt: Attempt, now: Date): void
}

/** The kinds of measurements, and the data derived from them. */
export interface RecordingModel {
  /** Rows are written kind by kind in this order, which prevents deadlocks. */
  kinds: readonly AnyKind[]
  storeApps: StoreApps
  /** The follow-ups run in this order. */
  followUps: readonly FollowUp[]
}

/**
 * Stores measurements; no other code does. A call is one transaction, so pass at most about 500 readings: the readings,
 * the facts they show of apps, and the data derived for tracked apps are stored together or not at all. Safe in several
 * processes at once. Account reports are stored one by one, each completely or not at all: a transaction stores some
 * hundred of their rows, and the rows of a larger report are stored before it counts (see `facts` of a kind).
 *
 * Stores the best of several readings of one list or chart from one source at one moment, in any order of arrival: this
 * instance's own first, then the newer parser, then a complete one, then the deeper, then the greater sha256. Stores
 * only the latest facts of an app by source and storefront, and only the latest hints of a day and figure of a month by
 * source (see latestOf). Stores only the latest genres of a store, page of a developer, and market facts and
 * app-ads.txt of a day. Stores all app pages (see storeListings), including those inside look-ups, and derives the
 * changes between them. The day of a reading is the UTC day of its `seenAt`.
 */
export type RecordObservations = (
  sql: Sql,
  observations: readonly Observation[],
  now?: () => Date,
  options?: RecordOptions,
) => Promise<RecordResult>

export interface RecordOptions {
  /**
   * Runs last in the transaction, even if nothing was new. Runs again after a deadlock, so it may change data only
   * through `tx`. If it throws, everything is rolled back.
   */
  finish?: (tx: Tx) => Promise<void>
  /**
   * If true, throws at the first broken invariant and stores nothing. If false, only leaves out the reading that breaks
   * it.
   */
  all?: true
  /** Called with the milliseconds for which the transaction occupied the database. */
  noteMs?: (ms: number) => void
  /**
   * True if more readings follow. Estimates are then calculated after the last reading, and keywords' metrics at the
   * end of the import.
   */
  isImport?: boolean
}

interface RecordResult {
  /** Readings that were new, or that replaced one of lower precedence of the same moment and source. */
  recorded: number
  /** Readings that were already stored, unchanged or in a better form. */
  alreadyStored: number
  /** Readings that break an invariant, by their index in the call. Nothing of such a reading is stored. */
  refused: { index: number; problem: ObservationProblem }[]
}

/** Stores what readings of any kind show of apps, and the data derived from it for those apps. */
export type StoreApps = (tx: Tx, seen: SeenApps, ids: SurrogateIds) => Promise<StoredApps>

export interface SeenApps {
  market: readonly MarketReading[]
  /** App facts that are the same in every storefront, and rating counts. */
  shown: readonly ShownApps[]
  named: readonly NamingApps[]
  outdated: readonly OutdatedReading[]
}

/** Market facts of one reading. */
export interface MarketReading {
  from: StoreObservation
  apps: readonly { id: string; facts: MarketFacts }[]
}

export interface StoredApps {
  /** Readings with new market facts. */
  market: readonly StoreObservation[]
  /** Readings with new rating counts. */
  rated: readonly ShownApps["from"][]
  /** Apps with a new rating count. */
  counted: readonly ChangedApp[]
  /** Apps with a new name. */
  renamed: readonly ChangedApp[]
}

/** Derives data from readings of several kinds, or schedules this work. */
export interface FollowUp {
  /** True if it runs for imported readings only, because live readings derive the data themselves. */
  importsOnly?: true
  /** Runs in the transaction that stores the readings, after the kinds' own derived rows. */
  follow(tx: Tx, recorded: RecordedReadings): Promise<void>
  /** Runs when an import has ended. */
  afterImport?(sql: Sql, end: ImportEnd): Promise<void>
}

export interface RecordedReadings {
  /**
   * All readings, including those that were already stored (so that a repeated import derives data again) and those
   * contained in other readings.
   */
  readings: readonly AnyObservation[]
  /** Readings with new rating counts. */
  rated: readonly AnyObservation[]
  /** Apps (store_app ids) with new ratings or installs. */
  counted: readonly number[]
  /** Apps with a new rating count or a new date of the last update. */
  changed: readonly ChangedApp[]
  renamed: readonly ChangedApp[]
  ids: SurrogateIds
  kinds: readonly AnyKind[]
  isImport: boolean
  now: Date
}

interface ImportEnd {
  now: () => Date
  /** Awaited between two transactions, so that other work gets the only backend of the embedded database. */
  pause: () => Promise<void>
  /** The months with imported readings. */
  months: readonly string[]
}
