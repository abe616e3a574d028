import type { Sql, Tx } from "../database/types.ts"
import type { Observation, Platform } from "../observations/types.ts"
import type { Source } from "../sources/source.ts"
import type { Upstream } from "../upstreams.ts"

/** What is measured again and again; the table `due` has a row for each. */
export interface Subject {
  kind: KindName
  platform: Platform
  storefront: string
  /** A term, a store id, or a source's name. */
  subject: string
}

export const KINDS = ["search", "app", "hints", "difficulty", "canary"] as const
export type KindName = (typeof KINDS)[number]

/** A kind of measurement, on one platform. */
export interface Kind {
  name: KindName
  platform: Platform
  /** The upstream whose turn a claim takes; what a reading asks beyond its first request waits for turns of its own. */
  upstream: Upstream
  /**
   * The storefronts that it can be read in from here; all when left out. Rows of others are neither claimed nor counted
   * in a budget: what cannot be read stays unmeasured.
   */
  storefronts?: readonly string[]
  /** How many subjects of one storefront a request takes. */
  together: number
  /** Requests that a measurement takes, on average: what the budget is reckoned with. */
  requests: number
  /** Days between two measurements. */
  everyDays: number
  /**
   * Reads the subjects, which share kind, platform and storefront. Throws ReadFailure; then nothing of it is stored.
   * An empty list is an answer too: nothing there to be read yet.
   */
  read(subjects: readonly Subject[], port: ReadPort): Promise<Observation[]>
  /** What follows from what was stored, within the same transaction. */
  derive?(tx: Tx, subjects: readonly Subject[], now: Date): Promise<void>
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
}
