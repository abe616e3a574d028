import type { Db } from "./types.ts"

/** Creates a json parameter. The driver's type rejects values with readonly, optional or `unknown` parts. */
export function json(sql: Db, value: unknown) {
  return sql.json(value as never)
}
