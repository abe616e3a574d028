import type { Sql } from "../database/types.ts"

/** Priorities of due rows. If not everything due can be read, the lowest number goes first. */
export const PRIORITY = {
  /** A caller is waiting. */
  live: 0,
  /** Tracked on a paid plan. */
  paying: 1,
  /** Tracked on the free plan. */
  free: 2,
  /** A rival's page. */
  rivals: 3,
  /** Requested by a workspace that has used up its share. */
  behind: 4,
  /** Market subjects that no workspace tracks. */
  market: 5,
} as const

/** Returns SQL with every priority as a literal, so that the query planner knows how many priorities there are. */
export function everyPriority(sql: Sql) {
  return sql`(values (0), (1), (2), (3), (4), (5)) c (priority)`
}
