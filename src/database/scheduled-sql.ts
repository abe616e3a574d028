import type { SlotCall, Slots } from "./slots.ts"
import type { Db, Sql, Tx } from "./types.ts"
import { DatabaseUnavailable } from "./unavailable.ts"

/**
 * Returns a handle for one call. Each statement and each transaction waits for a slot, and releases the slot when it
 * has settled. A fragment takes no slot, because it is never executed. Cursors are not supported, because they settle
 * only when they were read to the end.
 */
export function createScheduledSql(sql: Sql, slots: Slots, call: SlotCall): Sql {
  const scheduled = hooked(sql, (query, run) => {
    slots
      .take(call, () => abandon(query))
      .then(
        (release) => {
          Promise.prototype.then.call(query, release, release)
          run()
        },
        (error) => query.reject(error),
      )
  })
  const begin = async (...args: BeginArguments) => {
    let running: DriverQuery | undefined
    const follow = (tx: Tx) =>
      hooked(tx, (query, run) => {
        running = query
        run()
      })
    const release = await slots.take(call, () => running && abandon(running))
    try {
      return args.length === 2
        ? await sql.begin(args[0], (tx) => args[1](follow(tx)))
        : await sql.begin((tx) => args[0](follow(tx)))
    } finally {
      release()
    }
  }
  return Object.assign(scheduled, { begin })
}

type Work = (tx: Tx) => Promise<unknown>
type BeginArguments = [options: string, work: Work] | [work: Work]

/** Members of the driver's query that are missing in its types (postgres/src/query.js). */
interface DriverQuery extends Promise<unknown> {
  /** Called once, when the query is awaited for the first time. */
  handler(query: DriverQuery): void
  /** True if the server is running the query. */
  active: boolean
  cancel(): Promise<void> | null
  reject(error: Error): void
}

/** Returns the handle with queries that call `execute` instead of being sent. `run` sends them. */
function hooked<Handle extends Db>(sql: Handle, execute: (query: DriverQuery, run: () => void) => void): Handle {
  const hook = (made: unknown): unknown => {
    if (!(made instanceof Promise && "handler" in made)) return made
    const query = made as DriverQuery
    const send = query.handler
    query.handler = () => execute(query, () => send(query))
    return query
  }
  return Object.assign((...args: unknown[]) => hook(Reflect.apply(sql, undefined, args)), sql, {
    unsafe: (...args: unknown[]) => hook(Reflect.apply(sql.unsafe, undefined, args)),
  })
}

/** Rejects a query, and asks the server to cancel it. */
function abandon(query: DriverQuery): void {
  if (query.active) void query.cancel()?.catch(() => {})
  query.reject(new DatabaseUnavailable("deadline", "the statement took too long and was abandoned"))
}
