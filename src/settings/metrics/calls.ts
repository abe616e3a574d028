import type { Log } from "../../lib/log.ts"

/** Where a call came in; "public" is what needs no key besides the sandbox: documents and health. */
type Surface = "rest" | "tools" | "sandbox" | "public"

/** A call that was answered. Everything in it is one of a small fixed set, save for the amounts. */
interface AnsweredCall {
  surface: Surface
  /** An operation's id; left out where none was reached. */
  operation?: string | undefined
  status: number
  latencyMs: number
  /** A fault's code, or the number of a protocol error. */
  code?: string | undefined
  /** Credits that it took. */
  cost?: number | undefined
}

/** Calls of one surface, operation and status. */
export interface Series {
  surface: Surface
  operation: string
  status: string
  count: number
  sumSeconds: number
  /** Calls that took at most as long as the bound of the same place, each call in one place only. */
  within: number[]
}

/** Upper bounds in seconds. A call may take 4.5 s, one that waits for a store 25 s. */
export const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25]

export type Amounts = ReadonlyMap<Surface, ReadonlyMap<string, number>>

export interface Calls {
  count(answered: AnsweredCall): void
  /** The store of the limits did not answer, and a call was counted in this process. */
  fellBack(): void
  readonly fallbacks: number
  /** Our own code failed. */
  failed(): void
  readonly errors: number
  series(): Series[]
  /** By surface, and by the code of the answer. */
  readonly refusals: Amounts
  /** By surface and operation. */
  readonly credits: Amounts
}

/** Counts what was answered, in this process, from now on. */
export function createCalls(): Calls {
  // nested: a name put together for each call cost more than all the rest of counting
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
      const own = seriesOf(surface, operation, status)
      own.count++
      own.sumSeconds += latencyMs / 1_000
      const place = placeOf(latencyMs / 1_000)
      if (place < BOUNDS.length) own.within[place]!++
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

/** The same log, and every call whose line passes it is counted: what may be logged of a call names no key and no term. */
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
  const known = map.get(key)
  if (known !== undefined) return known
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
  const own = getOrMake(amounts, surface, () => new Map<string, number>())
  own.set(word, (own.get(word) ?? 0) + amount)
}
