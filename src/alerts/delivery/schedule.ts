/** Between attempts, as Standard Webhooks 1.0.0 lists them: with the first at once ten attempts in 75 h 35 min. */
export const RETRIES_MS: readonly number[] = [
  5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
] // biome-ignore format: a list to scan

/** A channel that failed is left alone no longer than that, whatever waits for it. */
const LONGEST_PAUSE_MS = 300_000

export interface Retries {
  retriesMs: readonly number[]
  /** 0 to 1. */
  random: number
}

/** How long after its `failed`th failure a delivery is tried again, give or take a fifth; null = never. */
export function retryAfterMs(failed: number, { retriesMs, random }: Retries): number | null {
  const gap = retriesMs[failed - 1]
  return gap === undefined ? null : spread(gap, random)
}

/** How long a channel is left alone after so many failures in a row; no longer than a single delivery would wait. */
export function pauseMs(failures: number, { retriesMs, random }: Retries): number {
  const gap = retriesMs[Math.min(failures, retriesMs.length) - 1] ?? 0
  return Math.min(LONGEST_PAUSE_MS * (1 - SPREAD), spread(gap, random))
}

/** No delivery is older than that when it is given up; requests to wait do not make it last for ever. */
export function longestMs({ retriesMs }: Pick<Retries, "retriesMs">): number {
  return (1 + SPREAD) * retriesMs.reduce((sum, gap) => sum + gap, 0) + LONGEST_PAUSE_MS
}

const SPREAD = 0.2

function spread(gap: number, random: number): number {
  return gap * (1 - SPREAD + 2 * SPREAD * random)
}
