/** How long one transaction may occupy the embedded database: requests wait for it. */
const TARGET_MS = 25
const [MIN_RESULTS, MAX_RESULTS] = [50, 1_000]

export interface BatchSize {
  /** Maximum number of results in the next transaction. A review counts as two results. */
  readonly results: number
  /** Reports how long a transaction of this size took. */
  note(results: number, tookMs: number): void
}

/** Adapts the batch size so that a transaction takes about 25 ms on this machine, even a slow one. */
export function createBatchSize(): BatchSize {
  let results = 200
  return {
    get results() {
      return results
    },
    note(count, tookMs) {
      if (count === 0) return
      // at most doubled or halved: a single transaction may be slow for other reasons
      const fitting = (count * TARGET_MS) / Math.max(1, tookMs)
      results = Math.round(
        Math.min(MAX_RESULTS, Math.max(MIN_RESULTS, Math.min(2 * results, Math.max(results / 2, fitting)))),
      )
    },
  }
}
