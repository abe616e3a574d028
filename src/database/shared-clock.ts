/** Counts the time of work that runs side by side: each of three at once has a third of it. */
export interface SharedClock {
  /** Milliseconds that work has had which was under way all the time. */
  elapsed(): number
  enter(): void
  leave(): void
}

export function createSharedClock(now: () => number): SharedClock {
  let elapsed = 0
  let under = 0
  let at = now()
  const advance = () => {
    const moment = now()
    elapsed += (moment - at) / Math.max(1, under)
    at = moment
  }
  return {
    elapsed() {
      advance()
      return elapsed
    },
    enter() {
      advance()
      under++
    },
    leave() {
      advance()
      under--
    },
  }
}
