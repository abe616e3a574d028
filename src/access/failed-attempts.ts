import { Cache } from "../lib/cache.ts"
import { Fault } from "../lib/faults.ts"
import { networkOf } from "./addresses.ts"

/** Slows down guessing: counts key look-ups that found nothing, per address (IPv6: per /64) and UTC minute. */
interface FailedAttempts {
  /**
   * Limits concurrent look-ups to the number of failures that the minute still allows. Throws rate_limited when that
   * number is 0.
   */
  watch<Found>(address: string | null, lookUp: () => Promise<Found | null>): Promise<Found | null>
}

interface FailedAttemptsOptions {
  now: () => Date
  perMinute?: number
  maxAddresses?: number
}

/** Counts in this process only. All unknown addresses share one counter. */
export function createFailedAttempts(options: FailedAttemptsOptions): FailedAttempts {
  const { now, perMinute = 30 } = options
  const recordOf = createRecords(options)
  return {
    async watch(address, lookUp) {
      const record = recordOf(networkOf(address))
      while (record.failed + record.running >= perMinute) {
        if (record.failed >= perMinute) throw new Fault("rate_limited", {}, { retryAfter: secondsLeft(now()) })
        await new Promise<void>((wake) => record.waiting.push(wake))
      }
      record.running++
      try {
        const found = await lookUp()
        if (found === null) record.failed++
        return found
      } finally {
        record.running--
        for (const wake of record.waiting.splice(0)) wake()
      }
    },
  }
}

interface Attempts {
  failed: number
  running: number
  waiting: (() => void)[]
}

function createRecords({ now, maxAddresses = 10_000 }: FailedAttemptsOptions) {
  // Every entry is stale once the minute is over.
  const records = new Cache<string, Attempts>(maxAddresses)
  let minute = Number.NaN
  return (subject: string): Attempts => {
    const current = Math.floor(now().getTime() / 60_000)
    if (current !== minute) records.clear()
    minute = current
    return records.getOrMake(subject, () => ({ failed: 0, running: 0, waiting: [] }))
  }
}

function secondsLeft(at: Date): number {
  return 60 - at.getUTCSeconds()
}
