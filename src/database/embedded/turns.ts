/** A client that needs the backend for itself. */
export interface Turn {
  /** Called when the client's turn begins. `release` ends the turn. */
  begin(): void
  /**
   * Time (performance.now()) from which on the owner has been idle inside a transaction. Null if it is not idle inside
   * one.
   */
  readonly idleSince?: number | null
  /**
   * The kind of background work, if the client does any: nobody waits for work of a worker, but a person waits for a
   * command. See Turns.
   */
  readonly background?: Background | null
  /** Called if the client has waited too long because the owner was idle. */
  refuse?(waitedMs: number): void
  /** Called if the client owned the backend and was idle too long while others waited. */
  evict?(idleMs: number): void
}

export type Background = "worker" | "command"

export interface TurnLimits {
  waitMs?: number
  idleMs?: number
  /** Milliseconds without requests before background work begins. */
  lullMs?: number
  /** Maximum time that background work waits for such a pause. It is shorter after short turns. */
  patienceMs?: number
}

interface Waiter {
  turn: Turn
  since: number
}

/** For each part of the time that background work gets, requests get this many parts. */
const OTHERS_SHARE = 8

/**
 * First come, first served. Background work waits for a pause, because a request makes several round trips in a row,
 * but gets a ninth of the time under any load. A wait times out after `waitMs` only if the owner is idle inside a
 * transaction, which reveals the mistake of using `sql` instead of `tx` inside `sql.begin`. After `idleMs` such an
 * owner loses its turn.
 */
export class Turns {
  #owner: Turn | null = null
  #waiting: Waiter[] = []
  #busyAt = Number.NEGATIVE_INFINITY
  /** When background work last had the backend, and for how long. */
  #servedAt = Number.NEGATIVE_INFINITY
  #servedMs = 0
  #served: Background = "worker"
  #begunAt = 0
  #lull: ReturnType<typeof setTimeout> | null = null
  #timer: ReturnType<typeof setInterval> | null = null
  #waitMs: number
  #idleMs: number
  #lullMs: number
  #patienceMs: number

  constructor({ waitMs = 3_000, idleMs = 15_000, lullMs = 8, patienceMs = 500 }: TurnLimits = {}) {
    this.#waitMs = waitMs
    this.#idleMs = idleMs
    this.#lullMs = lullMs
    this.#patienceMs = patienceMs
  }

  get contended(): boolean {
    return this.#waiting.length > 0
  }

  /** Returns true if an owner with more work should let another client go first. */
  yields(owner: Turn): boolean {
    return owner.background ? this.contended : this.#chosen(performance.now()) !== undefined
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
    const now = performance.now()
    if (!turn.background) this.#busyAt = now
    else [this.#served, this.#servedAt, this.#servedMs] = [turn.background, now, now - this.#begunAt]
    this.#next()
  }

  leave(turn: Turn): void {
    this.#waiting = this.#waiting.filter((waiter) => waiter.turn !== turn)
  }

  stop(): void {
    this.#waiting = []
    if (this.#lull) clearTimeout(this.#lull)
    this.#lull = null
    this.#watch()
  }

  #next(): void {
    if (this.#owner) return
    const next = this.#chosen(performance.now())
    if (next) this.leave(next.turn)
    else if (this.contended) this.#listenForLull()
    this.#owner = next?.turn ?? null
    this.#begunAt = performance.now()
    this.#watch()
    next?.turn.begin()
  }

  /** Returns the client whose turn is next. Undefined while background work has to wait for a pause. */
  #chosen(now: number): Waiter | undefined {
    const behind = this.#behind()
    if (behind && now - Math.max(behind.since, this.#servedAt) >= this.#patience()) return behind
    return (
      this.#waiting.find(({ turn }) => !turn.background) ?? (now - this.#busyAt >= this.#lullMs ? behind : undefined)
    )
  }

  /**
   * Returns the background client whose turn is next. Alternates between commands and workers, however many workers
   * there are.
   */
  #behind(): Waiter | undefined {
    const behind = this.#waiting.filter(({ turn }) => turn.background)
    return behind.find(({ turn }) => turn.background !== this.#served) ?? behind[0]
  }

  #patience(): number {
    return Math.min(this.#patienceMs, Math.max(this.#lullMs, OTHERS_SHARE * this.#servedMs))
  }

  #listenForLull(): void {
    if (this.#lull) return
    this.#lull = setTimeout(
      () => {
        this.#lull = null
        this.#next()
      },
      Math.max(1, this.#busyAt + this.#lullMs - performance.now()),
    )
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
    if (now - idleSince >= this.#idleMs) this.#owner?.evict?.(now - idleSince)
    else if (now - idleSince >= this.#waitMs) this.#refuse(now)
    this.#watch()
  }

  #refuse(now: number): void {
    for (const { turn, since } of this.#waiting.filter((waiter) => waiter.turn.refuse)) {
      if (now - since < this.#waitMs) continue
      this.leave(turn)
      turn.refuse?.(now - since)
    }
    this.#watch()
  }
}
