import { possible } from "../../../src/core/observation/app-facts.ts"
import type { Outcome } from "../../../src/core/observation/attempt.ts"
import type { Observation } from "../../../src/kinds.ts"
import { ReadFailure, type Source } from "../../../src/measuring/source.ts"
import { cases } from "../../long.ts"
import { checkObservation } from "../../record.ts"
import { unfaithful } from "./faithful.ts"
import { type As, type Island, islandsOf, put } from "./islands.ts"
import { editedText } from "./text-edits.ts"
import { editedValue, type Places, placesIn } from "./value-edits.ts"

export type { As }

export type Random = () => number

export interface Mutation {
  body: string
  /** The edits in order. */
  did: string
}

/** Returns pseudo-random numbers in [0, 1) from a seed (mulberry32). */
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
 * Yields bodies with a few edits each; the same seed gives the same bodies. Most edits change JSON (in script tags,
 * callbacks and texts), some change the text: cut, doubled, with garbled entities.
 */
export function* mutations(
  body: string,
  { seed, count, as }: { seed: number; count: number; as: As },
): Generator<Mutation> {
  const random = randomOf(seed)
  const islands = islandsOf(body, as)
  const places = new Map<Island, Places>()
  for (let number = 0; number < count; number++) {
    const editNames: string[] = []
    const textual = islands.length === 0 || random() < 0.15
    if (textual) {
      yield { body: editedText(body, as, random, editNames), did: editNames.join(", ") }
      continue
    }
    const island = drawn(random, islands)
    const islandPlaces = places.get(island) ?? placesIn(island.value)
    places.set(island, islandPlaces)
    let value = island.value
    for (let edits = 1 + Math.floor(random() ** 2 * 4); edits > 0; edits--)
      value = editedValue(value, islandPlaces, random, editNames)
    yield { body: put(body, island, value), did: editNames.join(", ") }
  }
}

/** Picks an island at random. Longer islands are more likely, because parsers are more likely to read them. */
function drawn(random: Random, islands: readonly Island[]): Island {
  let at = random() * islands.reduce((sum, { start, end }) => sum + end - start, 0)
  for (const island of islands) {
    at -= island.end - island.start
    if (at < 0) return island
  }
  return islands[0]!
}

export type Tally = Record<"read" | Outcome, number>

/** Mutations per body. Long runs begin with those of short runs. */
export const COUNT = cases(100, 600)

/**
 * Checks a parser on mutated bodies: each must give a ReadFailure thrown by the parser itself, or an observation that
 * can be stored, answers the question and has only values of the mutated body. Returns a count of each outcome. Throws
 * for the first wrong body, with the seed and the edits.
 */
export function expectTypedOrFaithful<Asked extends object>(
  source: Source<Asked, Observation>,
  subject: Asked,
  body: string,
  { as, seed = 5, count = COUNT }: { as: As; seed?: number; count?: number },
): Tally {
  const tally: Tally = { read: 0, blocked: 0, rate_limited: 0, not_found: 0, changed: 0, mismatched: 0, failed: 0 }
  let n = 0
  for (const mutation of mutations(body, { seed, count, as })) {
    n++
    const verdict = verdictOf(source, subject, mutation.body, as)
    if ("wrong" in verdict) {
      throw new Error(`${source.name}, seed ${seed}, mutation ${n} (${mutation.did}): ${verdict.wrong}`)
    }
    tally[verdict.outcome]++
  }
  return tally
}

const SHA256 = new Uint8Array(32).fill(7)
// Later than every date in the bodies.
const SEEN_AT = new Date("2026-11-01T12:00:00Z")

function verdictOf<Asked extends object>(
  source: Source<Asked, Observation>,
  subject: Asked,
  body: string,
  as: As,
): { outcome: keyof Tally } | { wrong: string } {
  let reading: Observation
  try {
    // Parses a body like parseBody, without its handling of untyped errors.
    reading = possible(source.parse(body, subject, { seenAt: SEEN_AT, sha256: SHA256 }))
  } catch (error) {
    if (error instanceof ReadFailure) return { outcome: error.outcome }
    return { wrong: `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}` }
  }
  try {
    checkObservation(reading, SEEN_AT)
  } catch (error) {
    return { wrong: `may not be stored: ${(error as Error).message}` }
  }
  const wrong = misplaced(source, subject, reading) ?? unfaithful(body, as, reading)
  return wrong === undefined ? { outcome: "read" } : { wrong }
}

/** Returns what in an observation does not match the question or the source. */
function misplaced<Asked extends object>(
  source: Source<Asked, Observation>,
  subject: Asked,
  reading: Observation,
): string | undefined {
  const common = { source: source.name, parser: source.parser, origin: "own", seenAt: SEEN_AT, sha256: SHA256 }
  const { ids, term, ...plain } = subject as { ids?: readonly string[]; term?: string }
  // The term of an app search is not part of the observation.
  const searched = reading.kind === "search" && { term }
  const expected = { ...common, ...plain, ...(ids && { asked: [...ids] }), ...searched }
  for (const [name, value] of Object.entries(expected)) {
    const actual = (reading as unknown as Record<string, unknown>)[name]
    if (actual !== value && JSON.stringify(actual) !== JSON.stringify(value)) return `its ${name} is not what was asked`
  }
  return undefined
}
