import type { AnyKind } from "../core/kind.ts"
import type { Platform } from "../core/observation/provenance.ts"
import type { Sql, Tx } from "../database/types.ts"
import type { Observation } from "../kinds.ts"
import type { SourceName, Upstream } from "../lib/upstreams.ts"
import type { SafeFetch } from "../outbound/safe-fetch.ts"
import type { ParseText, Source } from "./source.ts"

/** Sorted by locking order: a transaction locks its rows of `due` by the table's key. */
export const DUE_NAMES = [
  "app",
  "app_ads",
  "app_names",
  "canary",
  "chart",
  "chart_apps",
  "developer",
  "difficulty",
  "findings",
  "genres",
  "hints",
  "listing",
  "reviews",
  "search",
] as const
export type DueName = (typeof DUE_NAMES)[number]
export type KindName = Exclude<DueName, "findings">

export function isLockedBefore(one: DueName, other: DueName): boolean {
  return DUE_NAMES.indexOf(one) < DUE_NAMES.indexOf(other)
}

export interface Subject {
  kind: DueName
  platform: Platform
  storefront: string
  /** A term, a store id, a source's name, a developer's id, or a chart ("iphone free 6013"). */
  subject: string
}

export interface DueWork {
  name: DueName
  platform: Platform
  /**
   * Storefronts that this process can read. Default: all. Rows of other storefronts are neither claimed nor counted.
   */
  storefronts?: readonly string[]
  together: number
  everyDays: number
}

export interface Kind extends DueWork {
  name: KindName
  /**
   * The kind of observation that a reading stores, and under which failed reads are logged. Left out if callers cannot
   * request this kind.
   */
  observes?: AnyKind
  /** Finds the latest reading. Default: the function `latest` of the kind in `observes`. */
  latest?: AnyKind["latest"]
  /**
   * True if a reading may succeed without data: the store does not have the subject, or its apps do not have enough
   * data for a figure.
   */
  mayFindNothing?: true
  /** The upstream whose turn a claim takes. Each further request of a reading waits for a turn of its own. */
  upstream: Upstream
  /** Average number of requests per measurement, for the budget. */
  requests: number
  /** True if a first reading takes many requests: few run at once, and other work may run between two requests. */
  isLong?: true
  /** Reads the subjects. An empty list is a valid result. Throws ReadFailure if nothing may be stored, or NotYet. */
  read(subjects: readonly [Subject, ...Subject[]], port: ReadPort): Promise<Observation[]>
  /** Writes derived rows within the transaction that stores the observations. */
  derive?(tx: Tx, subjects: readonly Subject[], now: Date): Promise<void>
  /** Schedules the work that depends on this reading, to run `afterMs` later, within the same transaction. */
  putsForward?(tx: Tx, subjects: readonly Subject[], afterMs: number): Promise<void>
}

export function dueKind<const Declared extends Kind>(declared: Declared): Declared {
  return declared
}

/** A kind in due-kinds.ts, which needs at least one of its sources. */
export interface DueEntry {
  /**
   * "egress": can only be read for the country of the egress address, because Google Play may ignore the requested one.
   */
  where: "anywhere" | "egress"
  /** Returns the kind. Null if all its sources are off. */
  kindOf(isOn: (source: { name: SourceName }) => boolean): Kind | null
}

/**
 * Returns a line of due-kinds.ts. The compiler refuses a name, a store or an interval that differs from the
 * declaration.
 */
export function dueEntry<const Declared extends Kind, Needed extends { name: SourceName }>(
  _name: Declared["name"],
  _platform: Declared["platform"],
  _everyDays: Declared["everyDays"],
  where: DueEntry["where"],
  sources: readonly Needed[],
  declared: Declared | ((sources: readonly [Needed, ...Needed[]]) => Declared),
): DueEntry {
  return {
    where,
    kindOf(isOn) {
      const [first, ...rest] = sources.filter(isOn)
      if (!first) return null
      return typeof declared === "function" ? declared([first, ...rest]) : declared
    },
  }
}

/**
 * Thrown if the data needed to read a subject does not exist yet. The reading is put off, which does not count as a
 * failure.
 */
export class NotYet extends Error {
  override name = "NotYet"
  readonly waitMs: number

  constructor(why: string, waitMs: number) {
    super(why)
    this.waitMs = waitMs
  }
}

export interface ReadPort {
  sql: Sql
  signal: AbortSignal
  now: () => Date
  isOn(source: string): boolean
  /**
   * Reads a source at its upstream's pace, counts the read in the source's health and stores the body. Throws
   * ReadFailure.
   */
  ask<Asked, Seen extends Observation>(source: Source<Asked, Seen>, question: Asked): Promise<Seen>
  /**
   * Returns the country that was named by the latest answer to a request for this country. Used to check answers that
   * name no country.
   */
  readNamedCountry(upstream: Upstream, storefront: string): Promise<string | null>
  /**
   * Fetches from a developer's site, at the pace that all such sites share. The read counts in the health of the source
   * app-ads-txt. Throws OutboundProblem.
   */
  askSite: SafeFetch
  /** Parses a file of a developer's site. */
  parseText: ParseText
}
