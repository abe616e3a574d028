import { Fault } from "../lib/faults.ts"

interface QueueLimits {
  /** Maximum number of tasks that run at once, over all keys. */
  atOnce: number
  /** Tasks of one key that may wait. */
  waitingPerKey: number
  /** Tasks that may wait over all keys. Default: unlimited. */
  maxWaiting?: number
}

/**
 * Serves the keys in turn, so that a flood of one key does not delay the others. Throws unavailable when too many wait.
 */
export function createPasswordQueue({ atOnce, waitingPerKey, maxWaiting = Number.POSITIVE_INFINITY }: QueueLimits) {
  // Keys in the order of their turns. A key that was served moves to the end.
  const waiting = new Map<string, (() => void)[]>()
  let running = 0
  let waitingInAll = 0

  const waitForTurn = (key: string) => {
    const line = waiting.get(key) ?? []
    if (line.length >= waitingPerKey || waitingInAll >= maxWaiting)
      throw new Fault(
        "unavailable",
        { detail: "Too many sign-ins are waiting. Try again in a moment." },
        { retryAfter: 2 },
      )
    waitingInAll++
    waiting.set(key, line)
    return new Promise<void>((go) => line.push(go))
  }
  const passOn = () => {
    const [next] = waiting
    if (!next) {
      running--
      return
    }
    const [key, line] = next
    waiting.delete(key)
    const go = line.shift()!
    waitingInAll--
    if (line.length > 0) waiting.set(key, line)
    go()
  }
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    // A finished task passes its turn on, so that no later task can overtake the waiting ones.
    if (running >= atOnce) await waitForTurn(key)
    else running++
    try {
      return await work()
    } finally {
      passOn()
    }
  }
}
