import type { Db } from "./types.ts"

/** A parameter of type json. The driver's own type refuses what has readonly or optional parts, or `unknown` ones. */
export function json(sql: Db, value: unknown) {
  return sql.json(value as never)
}
