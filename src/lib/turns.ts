/** Places for so many at once; who comes when all are taken waits, and gets the place of one that leaves, in the order of coming. */
export interface Turns {
  /** Rejects with the signal's reason where it aborts before the turn comes. */
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
      // a place is handed over: were it given up, who comes before the next one wakes would take it too
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
    if (at < 0) return // the turn has come already
    waiting.splice(at, 1)
    reject(signal.reason)
  }
  signal.throwIfAborted()
  waiting.push(resolve)
  signal.addEventListener("abort", giveUp)
  await promise.finally(() => signal.removeEventListener("abort", giveUp))
}
