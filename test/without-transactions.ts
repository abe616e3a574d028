import type { Sql } from "../src/database/types.ts"

/** Returns a handle that can only read, for code that must not begin a transaction. */
export function withoutTransactions(sql: Sql): Sql {
  return new Proxy(sql, {
    get: (target, name) => {
      if (name === "begin") throw new Error("a transaction was opened")
      return Reflect.get(target, name)
    },
  })
}
