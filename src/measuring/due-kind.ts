import type { Platform } from "../core/observation/provenance.ts"
import type { Sql, Tx } from "../database/types.ts"
import type { Observation } from "../kinds.ts"
import type { Upstream } from "../lib/upstreams.ts"
import type { AppAdsFile } from "../listings/sources/app-ads.ts"
import type { SafeFetch } from "../outbound/safe-fetch.ts"
import type { Source } from "./source.ts"

/** In the order in which one transaction locks its rows of `due`: that of the table's key. */
export const DUE_NAMES = [
  "app", "app_ads", "app_names", "canary", "chart", "chart_apps", "developer", "difficulty", "findings", "genres", "hints", "listing", "reviews",
  "search",
] as const // biome-ignore format: a list to scan
export type DueName = (typeof DUE_NAMES)[number]
export type KindName = Exclude<DueName, "findings">

export function isLockedBefore(one: DueName, other: DueName): boolean {
  return DUE_NAMES.indexOf(one) < DUE_NAMES.indexOf(other)
}

export interface Subject {
  kind: DueName
  platform: Platform
  storefront: string
  /** A term, a store id, a source's name, a developer's id, or a chart: "iphone free 6013". */
  subject: string
}

export interface DueWork {
  name: DueName
  platform: Platform
  /** Those that it can be done in from here; all when left out. Rows of others are neither claimed nor counted. */
  storefronts?: readonly string[]
  together: number
  everyDays: number
}

export interface Kind extends DueWork {
  name: KindName
  /** The upstream whose turn a claim takes; what a reading asks beyond its first request waits for turns of its own. */
  upstream: Upstream
  /** Requests that a measurement takes, on average: what the budget is reckoned with. */
  requests: number
  /** Its first reading takes many requests: few are under way at once, and other work may go between two requests. */
  isLong?: true
  /** Throws ReadFailure, and then nothing of it is stored; or NotYet. An empty list is an answer too. */
  read(subjects: readonly [Subject, ...Subject[]], port: ReadPort): Promise<Observation[]>
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

export interface ReadPort {
  sql: Sql
  signal: AbortSignal
  now: () => Date
  isOn(source: string): boolean
  /** At its upstream's pace, counted for its health, its body kept. Throws ReadFailure. */
  ask<Asked, Seen extends Observation>(source: Source<Asked, Seen>, asked: Asked): Promise<Seen>
  /** The country that the latest answer named for this one: what an answer that names none is believed by. */
  readNamedCountry(upstream: Upstream, storefront: string): Promise<string | null>
  /** Asks a developer's site, at the pace of all such sites; counted for the health of app-ads-txt. Throws OutboundProblem. */
  askSite: SafeFetch
  /** Reads a site's app-ads.txt. Throws ReadFailure. */
  parseAppAds(bytes: Uint8Array): Promise<AppAdsFile>
}
