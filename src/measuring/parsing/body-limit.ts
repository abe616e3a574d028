import type { Turns } from "../../lib/turns.ts"
import { createTurns } from "../../lib/turns.ts"

/** Limits large bodies in memory: each takes up to six times its size until it is parsed and stored. */
export interface BodyLimit {
  /** Returns the turns for one read. */
  guest(): Turns
}

/** Admits `most` large bodies at once. `cleared` is called when one leaves and its memory can be freed. */
export function createBodyLimit(most = 1, cleared = () => {}): BodyLimit {
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
