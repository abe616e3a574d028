import type { Sql, Tx } from "../database/types.ts"
import type { Observation, Platform } from "../observations/types.ts"
import type { SafeFetch } from "../outbound/safe-fetch.ts"
import type { AppAdsFile } from "../sources/app-ads.ts"
import type { Source } from "../sources/source.ts"
import type { Upstream } from "../vocabulary/upstreams.ts"

/**
 * Names of the work that comes again, in the order in which one transaction locks its rows of `due`: that of the table's
 * key.
 */
export const DUE_NAMES = [
  "app", "app_ads", "canary", "chart", "developer", "difficulty", "findings", "genres", "hints", "listing", "reviews",
  "search",
] as const // biome-ignore format: a list to scan
export type DueName = (typeof DUE_NAMES)[number]
export type KindName = Exclude<DueName, "findings">

export function isLockedBefore(one: DueName, other: DueName): boolean {
  return DUE_NAMES.indexOf(one) < DUE_NAMES.indexOf(other)
}

/** What comes again; the table `due` has a row for each. */
export interface Subject {
  kind: DueName
  platform: Platform
  storefront: string
  /** A term, a store id, a source's name, a developer's id, or a chart: "iphone free 6013". */
  subject: string
}

/** Work on subjects that comes again, on one platform. */
export interface DueWork {
  name: DueName
  platform: Platform
  /**
   * The storefronts that it can be done in from here; all when left out. Rows of others are neither claimed nor counted
   * in a budget: what cannot be read stays unmeasured.
   */
  storefronts?: readonly string[]
  /** How many subjects of one storefront a claim takes. */
  together: number
  /** Days between two ends. */
  everyDays: number
}

/** A kind of measurement. */
export interface Kind extends DueWork {
  name: KindName
  /** The upstream whose turn a claim takes; what a reading asks beyond its first request waits for turns of its own. */
  upstream: Upstream
  /** Requests that a measurement takes, on average: what the budget is reckoned with. */
  requests: number
  /**
   * Its first reading of a subject takes many requests: it may take longer than others, few of it are under way at once,
   * and between two requests it leaves the turn to whoever else wants it.
   */
  isLong?: true
  /**
   * Reads the subjects, which share kind, platform and storefront. Throws ReadFailure, and then nothing of it is stored; or
   * NotYet. An empty list is an answer too: nothing there to be read.
   */
  read(subjects: readonly Subject[], port: ReadPort): Promise<Observation[]>
  /** What follows from what was stored, within the same transaction. */
  derive?(tx: Tx, subjects: readonly Subject[], now: Date): Promise<void>
  /** Makes due, so many milliseconds later, what should look at this soon; within the same transaction. */
  putsForward?(tx: Tx, subjects: readonly Subject[], afterMs: number): Promise<void>
}

/** What a subject is read by is not known yet: it is put off, and nothing failed. */
export class NotYet extends Error {
  override name = "NotYet"
  readonly waitMs: number

  constructor(why: string, waitMs: number) {
    super(why)
    this.waitMs = waitMs
  }
}

/** What a reading may use. */
export interface ReadPort {
  sql: Sql
  signal: AbortSignal
  now: () => Date
  /** Whether a source may be asked at all. */
  isOn(source: string): boolean
  /**
   * Asks a source once: at its upstream's pace, which the claim has taken for the first request; counted for its health;
   * its body kept. Throws ReadFailure.
   */
  ask<Asked, Seen extends Observation>(source: Source<Asked, Seen>, asked: Asked): Promise<Seen>
  /**
   * The country that the upstream's latest answer named when this one was asked for from here; null while none has. What an
   * answer that names no country is believed by.
   */
  readNamedCountry(upstream: Upstream, storefront: string): Promise<string | null>
  /** Asks a developer's site, at the pace of all such sites; counted for the health of app-ads-txt. Throws OutboundProblem. */
  askSite: SafeFetch
  /** Reads a site's app-ads.txt. Throws ReadFailure. */
  parseAppAds(bytes: Uint8Array): Promise<AppAdsFile>
}
