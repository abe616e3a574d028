import { Fault } from "../lib/faults.ts"

interface QueueLimits {
  /** Pieces of work at a time, of all keys together. */
  atOnce: number
  /** Those of one key that may wait. */
  waitingPerKey: number
  /** Those of all keys that may wait; any number where it is left out. */
  maxWaiting?: number
}

/** Keys are served in turn: a flood at one makes no other wait. Throws unavailable when too many wait. */
export function createPasswordQueue({ atOnce, waitingPerKey, maxWaiting = Number.POSITIVE_INFINITY }: QueueLimits) {
  // in the order of their turns: a key that was served goes to the end
  const waiting = new Map<string, (() => void)[]>()
  let running = 0
  let waitingInAll = 0

  const waitForTurn = (key: string) => {
    const line = waiting.get(key) ?? []
    if (line.length >= waitingPerKey || waitingInAll >= maxWaiting)
      throw new Fault("unavailable", { detail: "Too many others are waiting." }, { retryAfter: 2 })
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
    // who ends hands its turn over, so that nobody who comes later slips in between
    if (running >= atOnce) await waitForTurn(key)
    else running++
    try {
      return await work()
    } finally {
      passOn()
    }
  }
}
