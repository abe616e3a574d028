import { DatabaseUnavailable } from "./unavailable.ts"

/** A call whose statements and transactions take slots. */
export interface SlotCall {
  workspaceId: number
  operation: string
  /** Time as of performance.now(). */
  deadlineAt: number
  /** A number that increases from call to call. Within a workspace the oldest call goes first. */
  order: number
  /** True if a statement or transaction of the call has already had a slot. */
  hasBegun: boolean
}

export interface SlotHolder {
  workspaceId: number
  operation: string
  heldMs: number
}

interface SlotOptions {
  slots: number
  /**
   * Maximum number of waiting statements. If there are more, the newest call of the workspace with the longest queue is
   * refused.
   */
  maxWaiting: number
  maxHeldMs?: number
  stuckAfterMs?: number
  /**
   * Called when a call timed out waiting for a slot ("timeout") or a slot was taken back ("taken_back"), with the calls
   * that held slots at that time.
   */
  onShortage?(why: "timeout" | "taken_back", holders: SlotHolder[]): void
}

interface TakenSlot {
  call: SlotCall
  since: number
}

interface Waiter {
  call: SlotCall
  grant(): void
  refuse(error: DatabaseUnavailable): void
}

/** A workspace stays active for this long after it last requested or released a slot. */
const ACTIVE_MS = 1_000
/**
 * A workspace yields for at most this multiple of the duration of its last statement, so that it keeps a third of the
 * time.
 */
const YIELD_FACTOR = 2
const MAX_YIELD_MS = 25
/**
 * The longest pause for which others yield: between two statements of a call, or between the last one and the charge.
 */
const MAX_PAUSE_MS = 3
const RECHECK_MS = 1

interface Activity {
  /** When the workspace last requested or released a slot. */
  at: number
  /** Until this time the workspace yields to workspaces with fewer calls. */
  yieldsUntil: number
}

/**
 * Limits the statements that run at once. A slot is for one statement or one transaction. Active workspaces have equal
 * shares of the slots, and one more share stays free for the next workspace: alone, a workspace has half of them.
 * Waiting workspaces take turns. Within a workspace the oldest call goes first, so that calls finish one after the
 * other instead of all being late.
 *
 * A workspace yields to one with fewer calls, also between two statements of such a call: otherwise a call of three
 * short statements would wait for three long ones. It yields only for a while, in which it gets no further slot.
 */
export class Slots {
  readonly #options: SlotOptions
  readonly #held = new Set<TakenSlot>()
  /** Queues by workspace, the one served last at the end. No queue is empty. */
  readonly #queues = new Map<number, Waiter[]>()
  /** Ordered by the last request or release of a slot, the latest at the end. */
  readonly #activities = new Map<number, Activity>()
  /** Set while a workspace yields. */
  #recheck: ReturnType<typeof setTimeout> | null = null
  #waiting = 0
  #grantedAt = Number.NEGATIVE_INFINITY

  constructor(options: SlotOptions) {
    this.#options = options
  }

  /** True if all slots are held and none was released for longer than a statement may take. */
  get isStuck(): boolean {
    const { slots, stuckAfterMs = 5_000 } = this.#options
    return this.#held.size >= slots && performance.now() - this.#grantedAt >= stuckAfterMs
  }

  /**
   * Waits for a slot until the call's deadline and returns the function that releases the slot. Rejects with
   * DatabaseUnavailable. `abandon` is called if the slot is taken back because it was held too long.
   */
  async take(call: SlotCall, abandon?: () => void): Promise<() => void> {
    const leftMs = call.deadlineAt - performance.now()
    if (leftMs <= 0) throw refusalOf(call, "the call is past its deadline")
    this.#markActive(call.workspaceId)
    if (this.#queues.size === 0 && this.#held.size < this.#options.slots && this.#mayHoldMore(call.workspaceId))
      return this.#hold(call, abandon)
    if (!this.#makeRoom(call)) throw refusalOf(call, `${this.#waiting} statements already wait for the database`)
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const waiter: Waiter = { call, grant: () => resolve(this.#hold(call, abandon)), refuse: reject }
    const timer = setTimeout(() => this.#giveUp(waiter), leftMs)
    this.#enter(waiter)
    this.#grantNext()
    return await promise.finally(() => clearTimeout(timer))
  }

  #hold(call: SlotCall, abandon?: () => void): () => void {
    const slot: TakenSlot = { call, since: performance.now() }
    this.#grantedAt = slot.since
    call.hasBegun = true
    this.#held.add(slot)
    const release = () => {
      clearTimeout(timer)
      if (!this.#held.delete(slot)) return
      this.#markActive(call.workspaceId, performance.now() - slot.since)
      this.#grantNext()
    }
    const takeBack = () => {
      this.#options.onShortage?.("taken_back", this.#holders())
      release()
      abandon?.()
    }
    const timer = setTimeout(takeBack, this.#options.maxHeldMs ?? 30_000)
    return release
  }

  #mayHoldMore(workspaceId: number): boolean {
    const active = new Set([...this.#activities.keys(), ...this.#queues.keys()])
    let count = 0
    for (const { call } of this.#held) {
      active.add(call.workspaceId)
      if (call.workspaceId === workspaceId) count++
    }
    const { slots } = this.#options
    if (count >= Math.max(1, Math.floor(slots / (active.size + 1)))) return false
    return !this.#yields(workspaceId)
  }

  /** Returns true if a workspace with fewer calls goes first. Schedules another attempt in that case. */
  #yields(workspaceId: number): boolean {
    const now = performance.now()
    if (now >= (this.#activities.get(workspaceId)?.yieldsUntil ?? 0)) return false
    let calls: number | undefined
    for (const [other, { at }] of this.#activities) {
      if (other === workspaceId) continue
      const otherCalls = this.#countCalls(other)
      if (otherCalls === 0 && now - at >= MAX_PAUSE_MS) continue
      calls ??= this.#countCalls(workspaceId)
      if (Math.max(1, otherCalls) >= calls) continue
      this.#recheck ??= setTimeout(() => {
        this.#recheck = null
        this.#grantNext()
      }, RECHECK_MS)
      return true
    }
    return false
  }

  /** Counts the calls that hold or await a slot. */
  #countCalls(workspaceId: number): number {
    const calls = new Set(this.#queues.get(workspaceId)?.map(({ call }) => call))
    for (const { call } of this.#held) if (call.workspaceId === workspaceId) calls.add(call)
    return calls.size
  }

  /** `heldMs`: how long the workspace held the slot that it released. */
  #markActive(workspaceId: number, heldMs?: number): void {
    const now = performance.now()
    const activity = this.#activities.get(workspaceId) ?? { at: now, yieldsUntil: now }
    activity.at = now
    if (heldMs !== undefined) activity.yieldsUntil = now + Math.min(MAX_YIELD_MS, YIELD_FACTOR * heldMs)
    this.#activities.delete(workspaceId)
    this.#activities.set(workspaceId, activity)
    for (const [earlier, { at }] of this.#activities) {
      if (now - at < ACTIVE_MS) return
      this.#activities.delete(earlier)
    }
  }

  #grantNext(): void {
    for (const [workspaceId, queue] of this.#queues) {
      if (this.#held.size >= this.#options.slots) return
      if (!this.#mayHoldMore(workspaceId)) continue
      const next = queue[0] as Waiter
      this.#leave(next)
      // Moves the workspace to the end of the round.
      if (this.#queues.delete(workspaceId)) this.#queues.set(workspaceId, queue)
      next.grant()
    }
  }

  #enter(waiter: Waiter): void {
    const { workspaceId, order } = waiter.call
    const queue = this.#queues.get(workspaceId) ?? []
    this.#queues.set(workspaceId, queue)
    queue.splice(queue.findLastIndex(({ call }) => call.order <= order) + 1, 0, waiter)
    this.#waiting++
  }

  #leave(waiter: Waiter): boolean {
    const { workspaceId } = waiter.call
    const queue = this.#queues.get(workspaceId) ?? []
    const at = queue.indexOf(waiter)
    if (at < 0) return false
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(workspaceId)
    this.#waiting--
    return true
  }

  #giveUp(waiter: Waiter): void {
    if (!this.#leave(waiter)) return
    this.#options.onShortage?.("timeout", this.#holders())
    waiter.refuse(refusalOf(waiter.call, NO_SLOT))
  }

  /**
   * If necessary, makes room by refusing a waiting call. Returns whether one more statement of the workspace may wait.
   */
  #makeRoom({ workspaceId }: SlotCall): boolean {
    if (this.#waiting < this.#options.maxWaiting) return true
    const longest = [...this.#queues.values()].reduce((one, b) => (b.length > one.length ? b : one))
    const newest = longest.findLast(({ call }) => !call.hasBegun)
    if (!newest || longest.length <= (this.#queues.get(workspaceId)?.length ?? 0) + 1) return false
    this.#leave(newest)
    newest.refuse(refusalOf(newest.call, "other workspaces wait with fewer calls"))
    return true
  }

  #holders(): SlotHolder[] {
    return [...this.#held].map(({ call: { workspaceId, operation }, since }) => {
      return { workspaceId, operation, heldMs: Math.round(performance.now() - since) }
    })
  }
}

export const NO_SLOT = "no database slot came free in time"

/** Returns the error for a refused call. If the call already had a slot, it may have written something. */
export function refusalOf({ hasBegun }: SlotCall, message: string): DatabaseUnavailable {
  return new DatabaseUnavailable(hasBegun ? "deadline" : "crowded", message)
}
