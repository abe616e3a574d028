import { Buffer } from "node:buffer"
import type { Db } from "../../database/types.ts"

/** The origin of this instance's own readings and imports. Any other origin is the name of the publisher. */
export const OWN = "own"

/**
 * Returns SQL for whether the row with the table alias `one` takes precedence, by its origin, over the row with the
 * alias `other`: own readings first, then the publisher whose name sorts first. So the result does not depend on the
 * order of recording, and all readings of one publisher can be removed.
 */
export function outranks(sql: Db, one: string, other: string) {
  const [mine, theirs] = [sql(`${one}.origin`), sql(`${other}.origin`)]
  return sql`
    ((${mine} = ${OWN}, ${theirs} collate "C") > (${theirs} = ${OWN}, ${mine} collate "C"))`
}

/** Returns true if `by` takes precedence over `origin`, by the same rule as `outranks`. */
export function isOutranked(origin: string, by: string): boolean {
  if (origin === by) return false
  if (origin === OWN || by === OWN) return by === OWN
  return Buffer.compare(Buffer.from(by), Buffer.from(origin)) < 0
}
