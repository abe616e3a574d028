import { rootOf } from "./scheduled-sql.ts"
import type { Sql } from "./types.ts"

/** From then on nobody waits for a reading that has not come back: its connection may be dead. */
const STALLED_MS = 1_000

interface Reading<Answer> {
  /** Settles with the answer, or once it is stalled, and a turn of the event loop later: who comes with it comes along. */
  over: Promise<void>
  next?: Promise<Answer>
}

/**
 * What is asked in one turn of the event loop is read once, what is asked while it is being read once more, for all who ask
 * meanwhile. A reading begins after everybody asked who gets it, so nobody is told what was so before. Where it fails, each of
 * the others reads for itself. `read` gets the handle that takes no slots: nobody waits for another workspace's turn.
 */
export function createSharedReads<Answer>() {
  const byDatabase = new WeakMap<Sql, Map<string, Reading<Answer>>>()
  return async (sql: Sql, name: string, read: (database: Sql) => Promise<Answer>): Promise<Answer> => {
    const database = rootOf(sql)
    const readings = byDatabase.get(database) ?? new Map<string, Reading<Answer>>()
    byDatabase.set(database, readings)
    const begin = (): Promise<Answer> => {
      const answer = read(database)
      const reading: Reading<Answer> = { over: isOver(answer) }
      readings.set(name, reading)
      void reading.over.then(() => {
        if (!reading.next) readings.delete(name)
      })
      return answer
    }
    const underWay = readings.get(name)
    if (underWay?.next) {
      const others = underWay.next.then(
        (answer) => ({ answer }),
        () => null,
      )
      const shared = await others
      return shared ? shared.answer : await read(sql)
    }
    const before: Reading<Answer> = underWay ?? { over: new Promise<void>((resolve) => setImmediate(resolve)) }
    readings.set(name, before)
    before.next = before.over.then(begin)
    before.next.catch(() => {
      if (readings.get(name) === before) readings.delete(name)
    })
    return await before.next
  }
}

function isOver(answer: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, STALLED_MS)
  const end = () => {
    clearTimeout(timer)
    setImmediate(resolve)
  }
  answer.then(end, end)
  return promise
}

/** Whether statements that are sent at once are worked on at once: the embedded database does one thing after another. */
export function worksAtOnce(sql: Sql): boolean {
  // embeddedOptions (options.ts) names it
  return sql.options?.host[0] !== "embedded"
}
