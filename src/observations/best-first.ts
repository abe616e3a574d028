import type { Db } from "../database/types.ts"

/** The first is the day's answer: by source, the deepest, the latest. Leave out readings that are not complete. */
export function bestFirst(sql: Db) {
  return sql`source, depth desc, seen_at desc`
}
