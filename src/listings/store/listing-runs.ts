import { hash } from "node:crypto"
import { hexOf } from "../../core/observation/precedence.ts"
import type { ListingObservation } from "../../stores/kinds/listing-shape.ts"

export interface Series {
  appId: number
  storefront: string
  source: string
}

export interface Moment {
  at: number
  /** Digest of the section's content, 32 hex digits. */
  digest: string
  /** Release time of the version on the page. Null if unknown. */
  releasedAt: number | null
  parser: number
  origin: string
  /** SHA-256 of the response body, in hex. */
  sha256: string
}

/** Consecutive readings with the same digest, release, parser and origin. */
export interface Run extends Pick<Moment, "digest" | "releasedAt" | "parser" | "origin"> {
  moments: readonly number[]
  sha256s: readonly string[]
}

export function momentOf(
  { seenAt, parser, origin, sha256 }: ListingObservation,
  digest: string,
  releasedAt: number | null,
): Moment {
  return { at: seenAt.getTime(), digest, releasedAt, parser, origin, sha256: hexOf(sha256) }
}

/** The latest release that a page named before a moment, by parser and origin. */
export type Releases = Map<string, number>

interface MergedRuns {
  runs: Run[]
  /** Runs of stale readings, which show an older state of the page. */
  stale: Run[]
  /** The added readings that are stored. */
  retained: Set<Moment>
}

/**
 * Merges readings into runs, oldest first; the order of arrival does not matter. If two readings have the same time,
 * the newer parser is stored, then the greater sha256. `releases` are those before the first run of `stored`.
 */
export function mergeRuns(
  stored: readonly Run[],
  added: readonly Moment[],
  releases: Releases = new Map(),
): MergedRuns {
  const moments = new Map(stored.flatMap(momentsOf).map((moment) => [moment.at, moment]))
  for (const moment of added) {
    const other = moments.get(moment.at)
    if (!other || goesBefore(moment, other)) moments.set(moment.at, moment)
  }
  const ordered = [...moments.values()].sort((a, b) => a.at - b.at)
  const stale = findStale(ordered, new Map(releases))
  const all = new Set(ordered)
  return {
    runs: toRuns(ordered.filter((moment) => !stale.has(moment))),
    stale: toRuns(ordered.filter((moment) => stale.has(moment))),
    retained: new Set(added.filter((moment) => all.has(moment))),
  }
}

/**
 * Returns the stale readings: those that name an earlier release than a previous reading. A store never returns to an
 * earlier release, but its caches may show one. Only readings of the same parser and origin are compared: otherwise one
 * misread date would make all others stale.
 */
function findStale(ordered: readonly Moment[], releases: Releases): Set<Moment> {
  const stale = new Set<Moment>()
  for (const moment of ordered) {
    const { releasedAt } = moment
    if (releasedAt === null) continue
    const key = releaseKey(moment)
    const newest = releases.get(key)
    if (newest !== undefined && releasedAt < newest) stale.add(moment)
    else releases.set(key, releasedAt)
  }
  return stale
}

export function releaseKey({ parser, origin }: Pick<Moment, "parser" | "origin">): string {
  return `${parser} ${origin}`
}

function toRuns(ordered: readonly Moment[]): Run[] {
  const runs: { [Part in keyof Run]: Run[Part] extends readonly (infer T)[] ? T[] : Run[Part] }[] = []
  for (const { at, sha256, digest, releasedAt, parser, origin } of ordered) {
    const last = runs.at(-1)
    if (
      last &&
      last.digest === digest &&
      last.releasedAt === releasedAt &&
      last.parser === parser &&
      last.origin === origin
    ) {
      last.moments.push(at)
      last.sha256s.push(sha256)
    } else runs.push({ digest, releasedAt, parser, origin, moments: [at], sha256s: [sha256] })
  }
  return runs
}

function momentsOf({ moments, sha256s, ...same }: Run): Moment[] {
  return moments.map((at, place) => ({ ...same, at, sha256: sha256s[place] as string }))
}

function goesBefore(moment: Moment, other: Moment): boolean {
  if (moment.parser !== other.parser) return moment.parser > other.parser
  const [a, b] = [moment, other].map(({ digest, sha256, origin }) => `${sha256} ${digest} ${origin}`) as [
    string,
    string,
  ]
  return a > b
}

/** Returns the rows of a series that differ from the stored ones, identified by their first moment. */
export function runChanges(stored: readonly Run[], runs: readonly Run[]): { gone: Run[]; written: Run[] } {
  const [before, after] = [stored, runs].map((all) => new Map(all.map((run) => [run.moments[0] as number, run])))
  return {
    gone: stored.filter(({ moments }) => !after?.has(moments[0] as number)),
    written: runs.filter((run) => !isSame(before?.get(run.moments[0] as number), run)),
  }
}

function isSame(stored: Run | undefined, run: Run): boolean {
  return (
    stored !== undefined &&
    stored.digest === run.digest &&
    stored.releasedAt === run.releasedAt &&
    stored.parser === run.parser &&
    stored.origin === run.origin &&
    stored.moments.join() === run.moments.join() &&
    stored.sha256s.join() === run.sha256s.join()
  )
}

/** Returns the digest of a content, independent of the order of object keys: 32 hex digits. */
export function digestOf(content: unknown): string {
  return hash("sha256", JSON.stringify(content, inOrder)).slice(0, 32)
}

function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
