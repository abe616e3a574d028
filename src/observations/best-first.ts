import type { Db } from "../database/types.ts"

/**
 * The order of a day's readings: the first is the day's answer. By precedence of source, then the deepest, then the
 * latest. Readings that are not complete must be left out before.
 */
export function bestFirst(sql: Db) {
  return sql`source, depth desc, seen_at desc`
}
