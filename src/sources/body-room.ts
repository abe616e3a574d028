import type { BodyGuest } from "./source.ts"

/** Lets so many large bodies in at once: each takes up to six times its size until it is read and kept. */
export interface BodyRoom {
  /** For one read. */
  guest(): BodyGuest
}

/**
 * Room for `most` large bodies at once; further ones come in as those leave, in the order in which they came. `cleared` is
 * called as each leaves: what it took is garbage then.
 */
export function createBodyRoom(most = 1, cleared = () => {}): BodyRoom {
  const waiting: (() => void)[] = []
  let inside = 0
  const leave = () => {
    inside--
    cleared()
    waiting.shift()?.()
  }
  const guest = (): BodyGuest => {
    let isInside = false
    return {
      async enter(signal) {
        if (isInside) return
        if (inside >= most) await turn(waiting, signal)
        inside++
        isInside = true
      },
      leave() {
        if (isInside) leave()
        isInside = false
      },
    }
  }
  return { guest }
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
