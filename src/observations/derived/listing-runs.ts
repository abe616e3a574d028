import { hash } from "node:crypto"
import { hexOf } from "../precedence.ts"
import type { ListingObservation } from "../types.ts"

export interface Series {
  appId: number
  storefront: string
  source: string
}

export interface Moment {
  at: number
  /** Of what the section said, 32 hex digits. */
  digest: string
  parser: number
  origin: string
  /** Of the body, hex. */
  sha256: string
}

/** Readings one after the other of which digest, parser and origin are the same. */
export interface Run extends Pick<Moment, "digest" | "parser" | "origin"> {
  moments: readonly number[]
  sha256s: readonly string[]
}

export function momentOf({ seenAt, parser, origin, sha256 }: ListingObservation, digest: string): Moment {
  return { at: seenAt.getTime(), digest, parser, origin, sha256: hexOf(sha256) }
}

/**
 * Oldest first, in any order of coming. Of one moment the newer parser is held, then the greater sha256; `kept` are the
 * added ones that are held.
 */
export function mergeRuns(held: readonly Run[], added: readonly Moment[]): { runs: Run[]; kept: Set<Moment> } {
  const moments = new Map(held.flatMap(momentsOf).map((moment) => [moment.at, moment]))
  for (const moment of added) {
    const other = moments.get(moment.at)
    if (!other || goesBefore(moment, other)) moments.set(moment.at, moment)
  }
  const ordered = [...moments.values()].sort((a, b) => a.at - b.at)
  const runs: { [Part in keyof Run]: Run[Part] extends readonly (infer T)[] ? T[] : Run[Part] }[] = []
  for (const { at, sha256, digest, parser, origin } of ordered) {
    const last = runs.at(-1)
    if (last && last.digest === digest && last.parser === parser && last.origin === origin) {
      last.moments.push(at)
      last.sha256s.push(sha256)
    } else runs.push({ digest, parser, origin, moments: [at], sha256s: [sha256] })
  }
  const all = new Set(ordered)
  return { runs, kept: new Set(added.filter((moment) => all.has(moment))) }
}

function momentsOf({ moments, sha256s, ...same }: Run): Moment[] {
  return moments.map((at, place) => ({ ...same, at, sha256: sha256s[place] as string }))
}

function goesBefore(one: Moment, other: Moment): boolean {
  if (one.parser !== other.parser) return one.parser > other.parser
  const [a, b] = [one, other].map(({ digest, sha256, origin }) => `${sha256} ${digest} ${origin}`) as [string, string]
  return a > b
}

/** Of a series, the rows that differ from what is stored, told by their first moment. */
export function runChanges(held: readonly Run[], runs: readonly Run[]): { gone: Run[]; written: Run[] } {
  const [before, after] = [held, runs].map((all) => new Map(all.map((run) => [run.moments[0] as number, run])))
  return {
    gone: held.filter(({ moments }) => !after?.has(moments[0] as number)),
    written: runs.filter((run) => !isSame(before?.get(run.moments[0] as number), run)),
  }
}

function isSame(held: Run | undefined, run: Run): boolean {
  return (
    held !== undefined &&
    held.digest === run.digest &&
    held.parser === run.parser &&
    held.origin === run.origin &&
    held.moments.join() === run.moments.join() &&
    held.sha256s.join() === run.sha256s.join()
  )
}

/** Of what is said, in whichever order an object's parts stand: 32 hex digits. */
export function digestOf(content: unknown): string {
  return hash("sha256", JSON.stringify(content, inOrder)).slice(0, 32)
}

function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
