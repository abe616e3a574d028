import { DatabaseUnavailable } from "./unavailable.ts"

/** A call whose statements and transactions take slots. */
export interface SlotCall {
  workspaceId: number
  operation: string
  /** On the clock of performance.now(). */
  deadlineAt: number
  /** Grows from call to call: within a workspace the oldest call goes first. */
  order: number
  /** A statement or transaction of the call has had a slot. */
  hasBegun: boolean
}

export interface SlotHolder {
  workspaceId: number
  operation: string
  heldMs: number
}

interface SlotOptions {
  slots: number
  /** Statements that may wait. Beyond it the workspace with the longest queue loses its newest call. */
  maxWaiting: number
  maxHeldMs?: number
  stuckAfterMs?: number
  /** A call waited in vain ("timeout"), or a slot was taken back ("taken_back"): `holders` had the slots then. */
  onShortage?(why: "timeout" | "taken_back", holders: SlotHolder[]): void
}

interface HeldSlot {
  call: SlotCall
  since: number
}

interface Waiter {
  call: SlotCall
  grant(): void
  refuse(error: DatabaseUnavailable): void
}

/** A workspace that holds or awaits no slot counts as active for this long after it last asked for one or released one. */
const ACTIVE_MS = 1_000

/**
 * Limits the statements that run at once. A slot is for one statement or one transaction. Active workspaces have equal shares
 * of the slots, and one more share stays free for the next to come: alone a workspace has half of them. Waiting workspaces
 * take turns; within a workspace the oldest call goes first, so that calls finish one after the other instead of all running
 * late together.
 */
export class Slots {
  readonly #options: SlotOptions
  readonly #held = new Set<HeldSlot>()
  /** Queues by workspace, the one served last at the end. No queue is empty. */
  readonly #queues = new Map<number, Waiter[]>()
  /** When each workspace last asked for a slot or released one, the latest at the end. */
  readonly #activeAt = new Map<number, number>()
  #waiting = 0
  #grantedAt = Number.NEGATIVE_INFINITY

  constructor(options: SlotOptions) {
    this.#options = options
  }

  /** All slots are held and none came free for longer than a statement may take. */
  get isStuck(): boolean {
    const { slots, stuckAfterMs = 5_000 } = this.#options
    return this.#held.size >= slots && performance.now() - this.#grantedAt >= stuckAfterMs
  }

  /**
   * Waits for a slot until the call's deadline and returns the function that releases it. Rejects with DatabaseUnavailable.
   * `abandon` is called when the slot is taken back because it was held for too long.
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
    const slot: HeldSlot = { call, since: performance.now() }
    this.#grantedAt = slot.since
    call.hasBegun = true
    this.#held.add(slot)
    const release = () => {
      clearTimeout(timer)
      if (!this.#held.delete(slot)) return
      this.#markActive(call.workspaceId)
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
    const active = new Set([...this.#activeAt.keys(), ...this.#queues.keys()])
    let count = 0
    for (const { call } of this.#held) {
      active.add(call.workspaceId)
      if (call.workspaceId === workspaceId) count++
    }
    return count < Math.max(1, Math.floor(this.#options.slots / (active.size + 1)))
  }

  #markActive(workspaceId: number): void {
    const now = performance.now()
    this.#activeAt.delete(workspaceId)
    this.#activeAt.set(workspaceId, now)
    for (const [earlier, at] of this.#activeAt) {
      if (now - at < ACTIVE_MS) return
      this.#activeAt.delete(earlier)
    }
  }

  #grantNext(): void {
    for (const [workspaceId, queue] of this.#queues) {
      if (this.#held.size >= this.#options.slots) return
      if (!this.#mayHoldMore(workspaceId)) continue
      const next = queue[0] as Waiter
      this.#leave(next)
      // to the end of the round
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

  /** Returns whether there is room for one more of the workspace. */
  #makeRoom({ workspaceId }: SlotCall): boolean {
    if (this.#waiting < this.#options.maxWaiting) return true
    const longest = [...this.#queues.values()].reduce((one, other) => (other.length > one.length ? other : one))
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

/** A call that had a slot before may have written something. */
export function refusalOf({ hasBegun }: SlotCall, message: string): DatabaseUnavailable {
  return new DatabaseUnavailable(hasBegun ? "deadline" : "crowded", message)
}
