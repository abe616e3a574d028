import type { Turns } from "../../lib/turns.ts"
import { createTurns } from "../../lib/turns.ts"

/** Lets so many large bodies in at once: each takes up to six times its size until it is read and kept. */
export interface BodyRoom {
  /** For one read. */
  guest(): Turns
}

/** Room for `most` large bodies at once. `cleared` is called as each leaves: what it took is garbage then. */
export function createBodyRoom(most = 1, cleared = () => {}): BodyRoom {
  const turns = createTurns(most)
  const guest = (): Turns => {
    let isInside = false
    return {
      async enter(signal) {
        if (isInside) return
        await turns.enter(signal)
        isInside = true
      },
      leave() {
        if (!isInside) return
        isInside = false
        cleared()
        turns.leave()
      },
    }
  }
  return { guest }
}
