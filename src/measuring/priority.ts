import type { Sql } from "../database/types.ts"

/** Who goes first when not all that is due can be read: the lowest. */
export const PRIORITY = {
  /** Somebody waits for it. */
  live: 0,
  /** Tracked on a plan that pays. */
  paying: 1,
  /** Tracked on another plan. */
  free: 2,
  /** The page of a rival. */
  rivals: 3,
  /** Asked for by a workspace beyond its share. */
  behind: 4,
  /** The market, which is followed for itself. */
  market: 5,
} as const

/** Spelt out, so that the planner knows how few they are. */
export function everyPriority(sql: Sql) {
  return sql`(values (0), (1), (2), (3), (4), (5)) c (priority)`
}
