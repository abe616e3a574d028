import type { Turns } from "../../lib/turns.ts"
import { createTurns } from "../../lib/turns.ts"

/**
 * Limits how many large bodies are in memory at once: each takes up to six times its size until it is parsed and
 * stored.
 */
export interface BodyLimit {
  /** Returns the turns for one read, which needs only one turn however many bodies it enters. */
  guest(): Turns
}

/**
 * Admits at most `most` large bodies at once. `cleared` is called when a body is no longer used and its memory can be
 * freed.
 */
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
