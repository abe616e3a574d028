import type { Sql } from "../../src/database/types.ts"

/** Wraps a database and counts executed queries. Fragments of queries are not counted. */
export function countedOn(sql: Sql): { sql: Sql; statements: () => number } {
  let count = 0
  type Sent = { handle: () => unknown }
  const counting = (query: unknown) => {
    const sent = query as Sent
    if (typeof sent?.handle !== "function") return query
    const { handle } = sent
    sent.handle = () => {
      count++
      sent.handle = handle
      return handle.call(query)
    }
    return query
  }
  const wrap = <T extends object>(db: T): T =>
    new Proxy(db, {
      apply: (target, self, args) => counting(Reflect.apply(target as never, self, args)),
      get(target, name) {
        const value = Reflect.get(target, name) as (...args: unknown[]) => unknown
        if (name === "begin" || name === "savepoint")
          return (...args: unknown[]) => {
            const work = args.pop() as (tx: object) => unknown
            return value.call(target, ...args, (tx: object) => work(wrap(tx)))
          }
        return value
      },
    })
  return { sql: wrap(sql), statements: () => count }
}
