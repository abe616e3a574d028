import { Buffer } from "node:buffer"
import type { Provenance } from "./provenance.ts"

/**
 * Returns one row for each key: the one with the latest time, then the newest parser, then the greatest SHA-256. The
 * result does not depend on the order of arrival. The SQL of the stores uses the same order.
 */
export function latestOf<Row extends { from: Provenance; key: string }>(rows: readonly Row[]): Row[] {
  const bestByKey = new Map<string, Row>()
  for (const row of rows) {
    const other = bestByKey.get(row.key)
    if (!other || goesBefore(row.from, other.from)) bestByKey.set(row.key, row)
  }
  return [...bestByKey.values()]
}

export function hexOf(sha256: Uint8Array): string {
  return Buffer.from(sha256).toString("hex")
}

function goesBefore(one: Provenance, other: Provenance): boolean {
  const order = one.seenAt.getTime() - other.seenAt.getTime() || one.parser - other.parser
  return (order || Buffer.compare(one.sha256, other.sha256)) > 0
}
