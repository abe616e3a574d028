import type { BodyRoom } from "./source.ts"

/** Room for `most` large bodies at once; further ones come in as those leave, in the order in which they came. */
export function createBodyRoom(most = 3): BodyRoom {
  const waiting: (() => void)[] = []
  let inside = 0
  const leave = () => {
    inside--
    waiting.shift()?.()
  }
  return {
    async enter(signal) {
      if (inside >= most) await turn(waiting, signal)
      inside++
      return once(leave)
    },
  }
}

async function turn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
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

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (!done) work()
    done = true
  }
}
