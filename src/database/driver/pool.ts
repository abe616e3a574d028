import postgres from "postgres"
import type { PoolOptions } from "../options.ts"
import type { Sql } from "../types.ts"

/** Opens a pool of connections to the PostgreSQL at `url`, or to the embedded database behind `options.socket`. */
export function openPool(options: PoolOptions, url?: string): Sql {
  return repeatingStale((url === undefined ? postgres(options) : postgres(url, options)) as Sql)
}

/**
 * Maximum number of repeats of a statement or transaction. More than one is needed, because each migration of an
 * upgrade changes the schema.
 */
const MAX_REPEATS = 3

/**
 * Repeats statements that failed because a prepared statement is stale: a migration changed the type of its result or
 * of a column, or the server dropped it. The patched driver (patches/) marks such errors and forgets the statement.
 *
 * A repeat does nothing twice. A statement outside a transaction is its own transaction, so it did nothing if the
 * server answered with an error. A transaction was rolled back before `begin` rejects with the error of one of its
 * statements, or of `commit`. Its function runs again from the start: it may assign to outer variables, but must not
 * add to them, and must send nothing to anything but the database. Statements of a reserved connection are not
 * repeated.
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

/** The parts of the driver's query that a repeat needs. */
interface DriverQuery {
  handler(query: DriverQuery): void
  reject(error: unknown): void
  options: { prepare?: boolean }
  parameters: unknown[] | null
  state: object | null
}

/** Returns fragments and identifiers unchanged, because only a query is sent, and only a query can be rejected. */
function repeatQuery<T>(part: T): T {
  if (!isQuery(part)) return part
  const { handler: send, reject } = part
  let repeats = 0
  part.reject = (error) => {
    if (!isStale(error) || repeats++ === MAX_REPEATS) {
      reject(error)
      return
    }
    // The driver has replaced the parameters by their serialized values, with the types of the stale statement.
    part.parameters = null
    part.state = null
    // An unnamed statement is parsed again on whichever connection the query is sent to.
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
