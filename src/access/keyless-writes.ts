import type { Gate } from "../database/gate.ts"
import { siteOf } from "./addresses.ts"
import { createPasswordQueue } from "./password-queue.ts"

/** Returns the gate for one visitor without a key. */
export type VisitorGate = (address: string | null) => Pick<Gate, "run">

/**
 * Limits the writes of visitors without a key over all addresses: few transactions at once, and a turn per site (IPv6:
 * /48). A flood from ever new addresses then waits in this queue and does not delay callers with a key.
 */
export function limitKeylessWrites(gate: Pick<Gate, "run">): VisitorGate {
  const queue = createPasswordQueue({ atOnce: 2, waitingPerKey: 10, maxWaiting: 200 })
  return (address) => ({ run: (work, limitMs) => queue(siteOf(address), () => gate.run(work, limitMs)) })
}
