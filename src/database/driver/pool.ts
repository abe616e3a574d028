import postgres from "postgres"
import type { PoolOptions } from "../options.ts"
import type { Sql } from "../types.ts"

/** A pool of connections to the PostgreSQL at `url`, or to the embedded one that `options.socket` leads to. */
export function openPool(options: PoolOptions, url?: string): Sql {
  return repeatingStale((url === undefined ? postgres(options) : postgres(url, options)) as Sql)
}

/** How often a statement or a transaction is repeated. Several times: each migration of an upgrade changes the schema. */
const MAX_REPEATS = 3

/**
 * Repeats what failed because a prepared statement is stale: a migration changed the type of its result or of a column,
 * or the server forgot the statement. The driver (patches/) marks such errors and forgets the statement.
 *
 * A repeat does nothing twice. A statement outside a transaction is a transaction of its own, so one that the server
 * answered with an error did nothing. A transaction was rolled back before `begin` rejects with the error of one of its
 * statements, or of `commit`. Its function runs again from its beginning: it may assign to variables outside, but must
 * not add to them, and it sends nothing to anyone but the database. Statements of a reserved connection are not repeated.
 */
function repeatingStale(sql: Sql): Sql {
  const begin = async (...args: unknown[]): Promise<unknown> => {
    const run = sql.begin as (...args: unknown[]) => Promise<unknown>
    for (let repeats = 0; ; repeats++) {
      try {
        return await run(...args)
      } catch (error) {
        if (!isStale(error) || repeats === MAX_REPEATS) throw error
      }
    }
  }
  const unsafe = (...args: Parameters<Sql["unsafe"]>) => repeatQuery(sql.unsafe(...args))
  const replaced: Record<string | symbol, unknown> = { begin, unsafe }
  return new Proxy(sql, {
    apply: (target, self, args) => repeatQuery(Reflect.apply(target, self, args)),
    get: (target, name) => replaced[name] ?? Reflect.get(target, name),
  })
}

/** The parts of the driver's query that sending it again needs. */
interface DriverQuery {
  handler(query: DriverQuery): void
  reject(error: unknown): void
  options: { prepare?: boolean }
  parameters: unknown[] | null
  state: object | null
}

/** Fragments and identifiers are returned as they are: only a query of its own is ever sent, and so rejected. */
function repeatQuery<T>(part: T): T {
  if (!isQuery(part)) return part
  const { handler: send, reject } = part
  let repeats = 0
  part.reject = (error) => {
    if (!isStale(error) || repeats++ === MAX_REPEATS) {
      reject(error)
      return
    }
    // the driver has serialized them in place, by the types of the stale statement
    part.parameters = null
    part.state = null
    // an unnamed statement is parsed on whichever connection the query is sent to next
    part.options.prepare = false
    send(part)
  }
  return part
}

function isQuery(part: unknown): part is DriverQuery {
  return typeof (part as { handler?: unknown } | null)?.handler === "function"
}

function isStale(error: unknown): boolean {
  return (error as { stale?: unknown } | null)?.stale === true
}
