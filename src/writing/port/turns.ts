/** Lets so many pieces of work run at once; further ones run in the order in which they came. */
export function createTurns(atOnce: number) {
  const waiting: (() => void)[] = []
  let running = 0
  const next = () => {
    running--
    waiting.shift()?.()
  }
  return {
    /** Rejects with the signal's reason where it aborts before the turn comes. */
    async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      if (running >= atOnce) await turnOf(waiting, signal)
      running++
      try {
        return await work()
      } finally {
        next()
      }
    },
  }
}

async function turnOf(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const giveUp = () => {
    waiting.splice(waiting.indexOf(resolve), 1)
    reject(signal.reason)
  }
  signal.throwIfAborted()
  waiting.push(resolve)
  signal.addEventListener("abort", giveUp)
  await promise.finally(() => signal.removeEventListener("abort", giveUp))
}
