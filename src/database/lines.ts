import { createSharedClock, type SharedClock } from "./shared-clock.ts"
import { DatabaseUnavailable } from "./unavailable.ts"

/** Work from so long on is long. */
const LONG_MS = 50
/** What work takes of which nothing is known. */
const USUAL_MS = 5
const PIECE_MS = 15

export interface Ticket {
  line: Line
  expectedMs: number
  /** So far, as its share of the time in which it had a place. */
  spentMs: number
  hasBegun: boolean
  givenUp: boolean
  held: HeldPlace | null
  grant(): void
  refuse(error: DatabaseUnavailable): void
}

interface HeldPlace {
  since: number
  /** What its workspace was charged in advance. */
  chargedMs: number
  /** When its piece ends, by what its workspace has had. */
  finish: number
  long: boolean
}

export interface Line {
  workspaceId: number
  /** How much it has had. Who was away comes in where the others are. */
  served: number
  waiting: Ticket[]
  unfinished: Set<Ticket>
  held: number
  heldLong: number
}

function isLong({ expectedMs, spentMs }: Ticket): boolean {
  return Math.max(expectedMs, spentMs) >= LONG_MS
}

/** What is before work of that length in its line: long work waits for all of it, short work for what is short. */
export function aheadMs({ unfinished }: Line, expectedMs: number): number {
  let ahead = 0
  for (const ticket of unfinished)
    if (expectedMs >= LONG_MS || !isLong(ticket)) ahead += Math.max(0, ticket.expectedMs - ticket.spentMs)
  return ahead
}

export class Lines {
  #lines = new Map<number, Line>()
  /** Those in which something waits. */
  #queued = new Set<Line>()
  #held = new Set<Ticket>()
  #places: number
  #placesOfOne: number
  #placesForLong: number
  #clock: SharedClock
  /** Where the turns are: what the line that came last had had before. */
  #turn = 0
  #waiting = 0
  #unfinished = 0
  #ends = 0
  #heldLong = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(places: number, now: () => number) {
    this.#places = places
    this.#placesOfOne = Math.max(1, Math.floor(places / 2))
    this.#placesForLong = Math.max(1, Math.floor(places / 5))
    this.#clock = createSharedClock(now)
  }

  get waiting(): number {
    return this.#waiting
  }

  of(workspaceId: number): Line {
    const known = this.#lines.get(workspaceId)
    if (known) return known
    const line: Line = { workspaceId, served: 0, waiting: [], unfinished: new Set(), held: 0, heldLong: 0 }
    this.#lines.set(workspaceId, line)
    return line
  }

  ticket(line: Line, expectedMs = USUAL_MS): Ticket {
    const ticket: Ticket = {
      ...{ line, expectedMs, spentMs: 0, hasBegun: false, givenUp: false, held: null },
      grant() {},
      refuse() {},
    }
    if (line.unfinished.size === 0) line.served = Math.max(line.served, this.#turn)
    line.unfinished.add(ticket)
    this.#unfinished++
    return ticket
  }

  queue(ticket: Ticket): Promise<void> {
    this.#release(ticket)
    // a branch that still runs after its call has ended gets no slot: nobody would release it
    if (ticket.givenUp || !ticket.line.unfinished.has(ticket)) {
      this.#dispatch()
      return Promise.reject(gaveUp(ticket))
    }
    if (this.#waiting === 0 && this.#held.size < this.#places && this.#mayHold(ticket)) {
      this.#hold(ticket)
      return GRANTED
    }
    return new Promise((resolve, reject) => {
      ticket.grant = resolve
      ticket.refuse = reject
      // what has begun goes on before its workspace begins more
      if (ticket.hasBegun) ticket.line.waiting.unshift(ticket)
      else ticket.line.waiting.push(ticket)
      this.#queued.add(ticket.line)
      this.#waiting++
      this.#dispatch()
    })
  }

  free(ticket: Ticket): void {
    this.#release(ticket)
    this.#dispatch()
  }

  mayBeBehind(ticket: Ticket): boolean {
    this.#reckon(ticket)
    return this.#waiting > 0 || (isLong(ticket) && this.#isBehindOthers(ticket))
  }

  end(ticket: Ticket): void {
    if (ticket.line.unfinished.delete(ticket)) this.#unfinished--
    if (this.#leave(ticket)) ticket.refuse(gaveUp(ticket))
    this.free(ticket)
    this.#forget(ticket.line)
  }

  giveUp(ticket: Ticket): DatabaseUnavailable {
    ticket.givenUp = true
    const error = gaveUp(ticket)
    if (this.#leave(ticket)) ticket.refuse(error)
    return error
  }

  /** Refuses the newest of the longest line, unless that is this one. */
  evict(from: Line): boolean {
    const longest = [...this.#queued].reduce((one, other) => (other.waiting.length > one.waiting.length ? other : one))
    const newest = longest.waiting.findLast(({ hasBegun }) => !hasBegun)
    if (!newest || longest.waiting.length <= from.waiting.length + 1) return false
    this.#leave(newest)
    newest.refuse(new DatabaseUnavailable("crowded", "others wait with less"))
    return true
  }

  #leave(ticket: Ticket): boolean {
    const { waiting } = ticket.line
    const at = waiting.indexOf(ticket)
    if (at < 0) return false
    if (at === 0) waiting.shift()
    else waiting.splice(at, 1)
    if (waiting.length === 0) this.#queued.delete(ticket.line)
    this.#waiting--
    return true
  }

  #dispatch(): void {
    while (this.#waiting > 0 && this.#held.size < this.#places) {
      const next = this.#next()
      if (!next) break
      this.#leave(next)
      this.#hold(next)
      next.grant()
    }
    if (this.#waiting > 0) this.#lookAgain()
  }

  /** Short work that turns out to be long does not keep long work waiting any more, and nothing else tells it. */
  #lookAgain(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#dispatch()
    }, LONG_MS)
  }

  /** Of the first of each line, the one that would end first if each had the same share. */
  #next(): Ticket | undefined {
    let next: Ticket | undefined
    for (const line of this.#queued) {
      const first = this.#first(line)
      if (first && (!next || finishOf(first) < finishOf(next))) next = first
    }
    return next
  }

  /** Short work first, then in order. */
  #first(line: Line): Ticket | undefined {
    if (line.held >= this.#placesOfOne) return undefined
    const first = line.waiting.find((ticket) => !isLong(ticket)) ?? line.waiting[0]
    return first && this.#mayHold(first) ? first : undefined
  }

  #mayHold(ticket: Ticket): boolean {
    const { line } = ticket
    if (line.held >= this.#placesOfOne) return false
    if (!isLong(ticket)) return true
    return line.heldLong === 0 && this.#heldLong < this.#placesForLong && !this.#isBehindOthers(ticket)
  }

  /** Short work of others is under way that ends before it in the order of turns. */
  #isBehindOthers(ticket: Ticket): boolean {
    const finish = finishOf(ticket)
    for (const { line, held } of this.#held)
      if (held && !this.#hasBecomeLong(held) && line !== ticket.line && held.finish < finish) return true
    return false
  }

  #hasBecomeLong({ long, since }: HeldPlace): boolean {
    return long || this.#clock.elapsed() - since >= LONG_MS
  }

  #hold(ticket: Ticket): void {
    const { line } = ticket
    const [chargedMs, finish, long] = [pieceOf(ticket), finishOf(ticket), isLong(ticket)]
    this.#turn = Math.max(this.#turn, line.served)
    this.#clock.enter()
    ticket.held = { since: this.#clock.elapsed(), chargedMs, finish, long }
    ticket.hasBegun = true
    this.#held.add(ticket)
    line.served += chargedMs
    line.held++
    if (long) this.#countLong(line, 1)
  }

  /** What it has had since goes to its workspace's account, in place of what was charged in advance. */
  #reckon(ticket: Ticket): void {
    const { line, held } = ticket
    if (!held) return
    const moment = this.#clock.elapsed()
    const hadMs = moment - held.since
    ticket.spentMs += hadMs
    line.served += hadMs - held.chargedMs
    held.since = moment
    held.chargedMs = 0
  }

  #release(ticket: Ticket): void {
    const { line, held } = ticket
    if (!held) return
    this.#reckon(ticket)
    this.#clock.leave()
    this.#held.delete(ticket)
    ticket.held = null
    line.held--
    if (held.long) this.#countLong(line, -1)
  }

  #countLong(line: Line, by: number): void {
    line.heldLong += by
    this.#heldLong += by
  }

  /** Who was away and has had no more than others comes in as somebody new. */
  #forget(line: Line): void {
    if (this.#unfinished === 0) {
      this.#lines.clear()
      this.#turn = 0
      return
    }
    this.#forgetLine(line)
    // the turns go on, and pass by lines that nobody comes to any more
    if (++this.#ends % ENDS_BETWEEN_LOOKS === 0) for (const one of this.#lines.values()) this.#forgetLine(one)
  }

  #forgetLine({ workspaceId, unfinished, served }: Line): void {
    if (unfinished.size === 0 && served <= this.#turn) this.#lines.delete(workspaceId)
  }
}

const GRANTED = Promise.resolve()
const ENDS_BETWEEN_LOOKS = 1_000

function gaveUp({ hasBegun, line, expectedMs }: Ticket): DatabaseUnavailable {
  if (hasBegun) return new DatabaseUnavailable("deadline", "the database did not answer in time")
  const ahead = aheadMs(line, LONG_MS) - expectedMs
  const tooLong = ahead >= LONG_MS ? { expectedMs, aheadMs: ahead } : undefined
  return new DatabaseUnavailable("crowded", "no turn came in time", tooLong)
}

function finishOf(ticket: Ticket): number {
  return ticket.line.served + pieceOf(ticket)
}

/** Work that was not tried takes all of its length; what pauses takes a piece. */
function pieceOf({ expectedMs, hasBegun }: Ticket): number {
  return hasBegun ? Math.min(PIECE_MS, expectedMs) : expectedMs
}
