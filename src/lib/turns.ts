/** A semaphore with `atOnce` places. Further callers wait in order of arrival. */
export interface Turns {
  /** Rejects with the signal's reason when it aborts before the turn comes. */
  enter(signal: AbortSignal): Promise<void>
  leave(): void
}

export function createTurns(atOnce: number): Turns {
  const waiting: (() => void)[] = []
  let inside = 0
  return {
    async enter(signal) {
      if (inside < atOnce) inside++
      else await turnOf(waiting, signal)
    },
    leave() {
      // Pass the place on directly: if it were freed, a new caller could take it before the waiting one wakes.
      const next = waiting.shift()
      if (next) next()
      else inside--
    },
  }
}

async function turnOf(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const giveUp = () => {
    const at = waiting.indexOf(resolve)
    if (at < 0) return // The caller's turn came before it gave up.
    waiting.splice(at, 1)
    reject(signal.reason)
  }
  signal.throwIfAborted()
  waiting.push(resolve)
  signal.addEventListener("abort", giveUp)
  await promise.finally(() => signal.removeEventListener("abort", giveUp))
}
