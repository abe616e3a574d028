import type { Tx } from "../../database/types.ts"
import type { Subject } from "../../measuring/due-kind.ts"
import { deriveKeywordMetrics } from "../store/keyword-metrics.ts"

/** Recalculates the figures of keywords from the readings stored so far. */
export async function deriveMetrics(tx: Tx, subjects: readonly Subject[], now: Date): Promise<void> {
  const lists = subjects.map(({ platform, storefront, subject: term }) => ({ platform, storefront, term }))
  await deriveKeywordMetrics(tx, lists, now)
}
