import type { Gate } from "../database/gate.ts"
import { siteOf } from "./addresses.ts"
import { createPasswordQueue } from "./password-queue.ts"

/** The gate as one visitor without a key uses it. */
export type VisitorGate = (address: string | null) => Pick<Gate, "run">

/**
 * A ceiling for what visitors without a key write, over all addresses: few transactions at once, sites in turn (IPv6: /48).
 * A flood from ever new addresses then waits for itself instead of filling the database before callers with a key.
 */
export function limitKeylessWrites(gate: Pick<Gate, "run">): VisitorGate {
  const queue = createPasswordQueue({ atOnce: 2, waitingPerKey: 10, maxWaiting: 200 })
  return (address) => ({ run: (work, limitMs) => queue(siteOf(address), () => gate.run(work, limitMs)) })
}
