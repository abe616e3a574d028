import { OWN } from "../../core/observation/origins.ts"
import type { Db } from "../../database/types.ts"

/**
 * Returns the SQL order whose first row is the reading of the day: by source, own before others, the deepest, the
 * latest. Leave out incomplete readings.
 */
export function bestFirst(sql: Db) {
  return sql`source, origin <> ${OWN}, depth desc, seen_at desc`
}
