/**
 * Delays between attempts, from Standard Webhooks 1.0.0. With the immediate first attempt these are ten attempts in 75
 * h 35 min.
 */
export const RETRIES_MS: readonly number[] = [
  5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
]

/** The longest pause of a failing channel. */
const LONGEST_PAUSE_MS = 300_000

export interface Retries {
  retriesMs: readonly number[]
  /** A random number from 0 to 1. */
  random: number
}

/** Returns the delay after the `failed`th failure of a delivery, varied by up to 20%. Null if it is given up. */
export function retryAfterMs(failed: number, { retriesMs, random }: Retries): number | null {
  const gap = retriesMs[failed - 1]
  return gap === undefined ? null : spread(gap, random)
}

/** Returns the pause of a channel after consecutive failures. Never longer than the delay of a single delivery. */
export function pauseMs(failures: number, { retriesMs, random }: Retries): number {
  const gap = retriesMs[Math.min(failures, retriesMs.length) - 1] ?? 0
  return Math.min(LONGEST_PAUSE_MS * (1 - SPREAD), spread(gap, random))
}

/** Returns the maximum age of a delivery, so that repeated requests to wait do not postpone it forever. */
export function longestMs({ retriesMs }: Pick<Retries, "retriesMs">): number {
  return (1 + SPREAD) * retriesMs.reduce((sum, gap) => sum + gap, 0) + LONGEST_PAUSE_MS
}

const SPREAD = 0.2

function spread(gap: number, random: number): number {
  return gap * (1 - SPREAD + 2 * SPREAD * random)
}
