import { possible } from "../../../src/core/observation/app-facts.ts"
import type { Outcome } from "../../../src/core/observation/attempt.ts"
import type { Observation } from "../../../src/kinds.ts"
import { checkObservation } from "../../../src/measuring/record/check.ts"
import { ReadFailure, type Source } from "../../../src/measuring/source.ts"
import { cases } from "../../long.ts"
import { unfaithful } from "./faithful.ts"
import { type As, type Island, islandsOf, put } from "./islands.ts"
import { editedText } from "./text-edits.ts"
import { editedValue, type Places, placesIn } from "./value-edits.ts"

export type { As }

export type Random = () => number

export interface Mutation {
  body: string
  /** What was done, in order. */
  did: string
}

/** Random numbers from a seed, each in [0, 1) (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pick<T>(random: Random, of: readonly T[]): T {
  return of[Math.floor(random() * of.length)] as T
}

/**
 * Bodies that differ from one by a few edits, the same ones for the same seed: mostly of what its JSON holds (in script
 * tags, in callbacks, in texts that are JSON themselves), and some of its text: cut, doubled, its entities garbled.
 */
export function* mutations(
  body: string,
  { seed, count, as }: { seed: number; count: number; as: As },
): Generator<Mutation> {
  const random = randomOf(seed)
  const islands = islandsOf(body, as)
  const places = new Map<Island, Places>()
  for (let made = 0; made < count; made++) {
    const did: string[] = []
    const textual = islands.length === 0 || random() < 0.15
    if (textual) {
      yield { body: editedText(body, as, random, did), did: did.join(", ") }
      continue
    }
    const island = drawn(random, islands)
    const known = places.get(island) ?? placesIn(island.value)
    places.set(island, known)
    let value = island.value
    for (let edits = 1 + Math.floor(random() ** 2 * 4); edits > 0; edits--)
      value = editedValue(value, known, random, did)
    yield { body: put(body, island, value), did: did.join(", ") }
  }
}

/** One of the islands: the longer it is, the likelier it is what a parser reads, and the likelier it is drawn. */
function drawn(random: Random, islands: readonly Island[]): Island {
  let at = random() * islands.reduce((sum, { start, end }) => sum + end - start, 0)
  for (const island of islands) {
    at -= island.end - island.start
    if (at < 0) return island
  }
  return islands[0]!
}

export type Tally = Record<"read" | Outcome, number>

/** Of one body; those at length begin with those in short. */
export const COUNT = cases(100, 600)

/**
 * Holds a parser to its word on mutated bodies: each is either a ReadFailure that the parser itself throws, or an
 * observation that may be stored, is of what was asked, and has no value that does not stand in the mutated body. Says
 * how often which; throws for the first body that breaks it, with the seed and what was done to it.
 */
export function expectTypedOrFaithful<Asked extends object>(
  source: Source<Asked, Observation>,
  asked: Asked,
  body: string,
  { as, seed = 5, count = COUNT }: { as: As; seed?: number; count?: number },
): Tally {
  const tally: Tally = { read: 0, blocked: 0, rate_limited: 0, not_found: 0, changed: 0, mismatched: 0, failed: 0 }
  let made = 0
  for (const mutation of mutations(body, { seed, count, as })) {
    made++
    const verdict = verdictOf(source, asked, mutation.body, as)
    if ("wrong" in verdict) {
      throw new Error(`${source.name}, seed ${seed}, mutation ${made} (${mutation.did}): ${verdict.wrong}`)
    }
    tally[verdict.outcome]++
  }
  return tally
}

const SHA256 = new Uint8Array(32).fill(7)
// after everything that the bodies say was written
const SEEN_AT = new Date("2026-11-01T12:00:00Z")

function verdictOf<Asked extends object>(
  source: Source<Asked, Observation>,
  asked: Asked,
  body: string,
  as: As,
): { outcome: keyof Tally } | { wrong: string } {
  let seen: Observation
  try {
    // as parseBody does, which knows no Error of a parser's own
    seen = possible(source.parse(body, asked, { seenAt: SEEN_AT, sha256: SHA256 }))
  } catch (error) {
    if (error instanceof ReadFailure) return { outcome: error.outcome }
    return { wrong: `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}` }
  }
  try {
    checkObservation(seen, SEEN_AT)
  } catch (error) {
    return { wrong: `may not be stored: ${(error as Error).message}` }
  }
  const wrong = misplaced(source, asked, seen) ?? unfaithful(body, as, seen)
  return wrong === undefined ? { outcome: "read" } : { wrong }
}

/** What of an observation is not what was asked, or who was. */
function misplaced<Asked extends object>(
  source: Source<Asked, Observation>,
  asked: Asked,
  seen: Observation,
): string | undefined {
  const said = { source: source.name, parser: source.parser, origin: "own", seenAt: SEEN_AT, sha256: SHA256 }
  const { ids, term, ...plain } = asked as { ids?: readonly string[]; term?: string }
  // apps that a term led to are not said to be its
  const searched = seen.kind === "search" && { term }
  const meant = { ...said, ...plain, ...(ids && { asked: [...ids] }), ...searched }
  for (const [name, value] of Object.entries(meant)) {
    const is = (seen as unknown as Record<string, unknown>)[name]
    if (is !== value && JSON.stringify(is) !== JSON.stringify(value)) return `its ${name} is not what was asked`
  }
  return undefined
}
