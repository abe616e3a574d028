import type { Log } from "../../lib/log.ts"

/** The surface of a call. "public" has the documents and health, which need no key; the sandbox is separate. */
type Surface = "rest" | "tools" | "sandbox" | "public"

/** An answered call. Except for amounts, each value comes from a small fixed set. */
interface AnsweredCall {
  surface: Surface
  /** The operation's id. Undefined if no operation was reached. */
  operation?: string | undefined
  status: number
  latencyMs: number
  /** The code of a fault, or the number of a protocol error. */
  code?: string | undefined
  /** Credits charged. */
  cost?: number | undefined
}

/** Calls of one surface, operation and status. */
export interface Series {
  surface: Surface
  operation: string
  status: string
  count: number
  sumSeconds: number
  /** Calls per bucket of BOUNDS, not cumulative. */
  within: number[]
}

/** Upper bounds of the buckets in seconds. A call may take 4.5 s, or 25 s if it waits for a store. */
export const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25]

export type Amounts = ReadonlyMap<Surface, ReadonlyMap<string, number>>

export interface Calls {
  count(answered: AnsweredCall): void
  /** Counts a call whose rate this process counted alone, because the shared store did not answer. */
  fellBack(): void
  readonly fallbacks: number
  /** Counts an internal error. */
  failed(): void
  readonly errors: number
  series(): Series[]
  /** Counts by surface and error code. */
  readonly refusals: Amounts
  /** Credits by surface and operation. */
  readonly credits: Amounts
}

/** Counts answered calls in this process. */
export function createCalls(): Calls {
  // Nested maps: concatenating a key for each call takes longer than the rest of the counting.
  const series = new Map<Surface, Map<string, Map<number, Series>>>()
  const refusals = new Map<Surface, Map<string, number>>()
  const credits = new Map<Surface, Map<string, number>>()
  let fallbacks = 0
  let errors = 0
  const seriesOf = (surface: Surface, operation: string, status: number): Series => {
    const operations = getOrMake(series, surface, () => new Map<string, Map<number, Series>>())
    const statuses = getOrMake(operations, operation, () => new Map<number, Series>())
    return getOrMake(statuses, status, () => newSeries(surface, operation, status))
  }
  return {
    count({ surface, operation = "none", status, latencyMs, code, cost }) {
      const ofSurface = seriesOf(surface, operation, status)
      ofSurface.count++
      ofSurface.sumSeconds += latencyMs / 1_000
      const place = placeOf(latencyMs / 1_000)
      if (place < BOUNDS.length) ofSurface.within[place]!++
      if (code !== undefined) add(refusals, surface, code, 1)
      if (cost) add(credits, surface, operation, cost)
    },
    fellBack() {
      fallbacks++
    },
    get fallbacks() {
      return fallbacks
    },
    failed() {
      errors++
    },
    get errors() {
      return errors
    },
    series: () => [...series.values()].flatMap((of) => [...of.values()]).flatMap((of) => [...of.values()]),
    refusals,
    credits,
  }
}

/** Wraps a log and counts each logged call. Logged fields of a call contain neither keys nor terms. */
export function countingLog(log: Log, calls: Calls): Log {
  return (level, event, fields) => {
    if (event === "call" && fields) {
      const { path, operation, status = 0, latencyMs = 0, code, cost } = fields
      calls.count({ surface: path === "/mcp" ? "tools" : "rest", operation, status, latencyMs, code, cost })
    }
    if (event === "internal_error") calls.failed()
    log(level, event, fields)
  }
}

function newSeries(surface: Surface, operation: string, status: number): Series {
  return { surface, operation, status: String(status), count: 0, sumSeconds: 0, within: BOUNDS.map(() => 0) }
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const made = make()
  map.set(key, made)
  return made
}

function placeOf(seconds: number): number {
  let place = 0
  while (place < BOUNDS.length && seconds > BOUNDS[place]!) place++
  return place
}

function add(amounts: Map<Surface, Map<string, number>>, surface: Surface, word: string, amount: number): void {
  const ofSurface = getOrMake(amounts, surface, () => new Map<string, number>())
  ofSurface.set(word, (ofSurface.get(word) ?? 0) + amount)
}
