import { Buffer } from "node:buffer"
import { DEMO, type Provenance } from "./types.ts"

/**
 * Of readings where only the latest is held, that which is: any before the demo's, then the later one, that of the newer
 * parser, the greater sha256. Whichever came first, the same one is held; a reading never replaces itself. The statements
 * that store such rows say the same.
 */
export function latestOf<Row extends { from: Provenance; key: string }>(rows: readonly Row[]): Row[] {
  const held = new Map<string, Row>()
  for (const row of rows) {
    const other = held.get(row.key)
    if (!other || goesBefore(row.from, other.from)) held.set(row.key, row)
  }
  return [...held.values()]
}

export function hexOf(sha256: Uint8Array): string {
  return Buffer.from(sha256).toString("hex")
}

function goesBefore(one: Provenance, other: Provenance): boolean {
  const [a, b] = [one, other].map(({ origin, seenAt, parser, sha256 }) => ({
    order: [origin === DEMO ? 0 : 1, seenAt.getTime(), parser],
    sha256,
  })) as [Ordered, Ordered]
  const differs = a.order.findIndex((part, place) => part !== b.order[place])
  if (differs >= 0) return (a.order[differs] as number) > (b.order[differs] as number)
  return Buffer.compare(a.sha256, b.sha256) > 0
}

interface Ordered {
  order: number[]
  sha256: Uint8Array
}
