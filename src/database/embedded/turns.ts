/** Somebody who wants the backend for himself. */
export interface Turn {
  /** It is his. He gives it back with `release`. */
  begin(): void
  /** Milliseconds (performance.now) since which the owner has let the backend lie idle inside a transaction, else null. */
  readonly idleSince?: number | null
  /** He waited too long for an owner who does nothing. */
  refuse?(waitedMs: number): void
  /** He did nothing for too long while others waited. */
  evict?(idleMs: number): void
}

/**
 * Whose turn it is on the one backend: first come, first served. A wait is given up after `waitMs` only when the owner
 * has been idle inside a transaction as long: that is how the mistake of using `sql` instead of `tx` inside
 * `sql.begin` shows itself, which would otherwise wait for ever. After `idleMs` such an owner loses his turn.
 */
export class Turns {
  #owner: Turn | null = null
  #waiting: { turn: Turn; since: number }[] = []
  #timer: ReturnType<typeof setInterval> | null = null
  #waitMs: number
  #idleMs: number

  constructor({ waitMs = 3_000, idleMs = 15_000 }: { waitMs?: number; idleMs?: number } = {}) {
    this.#waitMs = waitMs
    this.#idleMs = idleMs
  }

  get contended(): boolean {
    return this.#waiting.length > 0
  }

  owns(turn: Turn): boolean {
    return this.#owner === turn
  }

  acquire(turn: Turn): void {
    if (this.#owner === turn || this.#waiting.some((waiter) => waiter.turn === turn)) return
    this.#waiting.push({ turn, since: performance.now() })
    if (this.#owner) this.#watch()
    else this.#next()
  }

  release(turn: Turn): void {
    if (this.#owner !== turn) return
    this.#owner = null
    this.#next()
  }

  /** No longer wants a turn. */
  leave(turn: Turn): void {
    this.#waiting = this.#waiting.filter((waiter) => waiter.turn !== turn)
  }

  stop(): void {
    this.#waiting = []
    this.#watch()
  }

  #next(): void {
    const next = this.#waiting.shift()
    this.#owner = next?.turn ?? null
    this.#watch()
    next?.turn.begin()
  }

  #watch(): void {
    if (this.contended && !this.#timer) {
      this.#timer = setInterval(() => this.#check(), Math.min(250, this.#waitMs / 4))
      this.#timer.unref()
    } else if (!this.contended && this.#timer) {
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  #check(): void {
    const idleSince = this.#owner?.idleSince
    if (idleSince === null || idleSince === undefined) return
    const now = performance.now()
    if (now - idleSince >= this.#idleMs) this.#owner!.evict?.(now - idleSince)
    else if (now - idleSince >= this.#waitMs) this.#refuse(now)
    this.#watch()
  }

  #refuse(now: number): void {
    for (const { turn, since } of this.#waiting.filter((waiter) => waiter.turn.refuse)) {
      if (now - since < this.#waitMs) continue
      this.leave(turn)
      turn.refuse!(now - since)
    }
    this.#watch()
  }
}
