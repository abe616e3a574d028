/** How long one transaction may have the embedded database to itself: requests wait for its end. */
const TARGET_MS = 25
const [LEAST, MOST] = [50, 1_000]

export interface BatchSize {
  /** Results that the next transaction may store; a review counts as two. */
  readonly results: number
  /** So many results took so long. */
  note(results: number, tookMs: number): void
}

/** What is stored in some 25 ms on this machine, by the transactions so far: nobody waits longer on a slow one. */
export function createBatchSize(): BatchSize {
  let results = 200
  return {
    get results() {
      return results
    },
    note(count, tookMs) {
      if (count === 0) return
      // never more than twice or half of before: a transaction may be slow for other reasons
      const fitting = (count * TARGET_MS) / Math.max(1, tookMs)
      results = Math.round(Math.min(MOST, Math.max(LEAST, Math.min(2 * results, Math.max(results / 2, fitting)))))
    },
  }
}
