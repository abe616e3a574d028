import { createLengths } from "./lengths.ts"
import { aheadMs, type Line, Lines, type Ticket } from "./lines.ts"
import type { Place } from "./types.ts"
import { DatabaseUnavailable } from "./unavailable.ts"

/** Work for a workspace; `kind` is what its length is known by. */
export interface Errand {
  workspaceId: number
  kind: string
}

interface Entry {
  /** Resolves when it is its turn; rejects with DatabaseUnavailable when it never will be. */
  granted: Promise<void>
  place: Place
  end(): void
  /** The caller has given up: what has not begun never does, the rest ends at its next pause. */
  giveUp(): DatabaseUnavailable
}

interface FairQueue {
  /** Throws DatabaseUnavailable for what could not end within `limitMs`, and where too much waits. */
  enter(errand: Errand, limitMs: number): Entry
}

interface FairQueueOptions {
  places: number
  /** Work that may be unfinished; of one workspace half as much. */
  maxWaiting: number
  now?: () => number
}

/**
 * A place goes to the workspace that has had the least (fair queueing by finish time). Long work waits for others'
 * shorter work. Work counts as its share of the time in which it had a place.
 */
export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { places, maxWaiting, now = () => performance.now() } = options
  const lengths = createLengths(now)
  const lines = new Lines(places, now)
  return {
    enter({ workspaceId, kind }, limitMs) {
      const line = lines.of(workspaceId)
      if (line.unfinished.size >= maxWaiting / 2) throw crowded(line)
      if (lines.waiting >= maxWaiting && !lines.evict(line)) throw crowded(line)
      const work = `${workspaceId} ${kind}`
      refuseTooLong(line, lengths.certain(work), limitMs)
      const ticket = lines.ticket(line, lengths.expected(work))
      const holding = createHolding(lines, ticket)
      let givenUpAside = false
      return {
        granted: holding.again(),
        place: holding.place,
        end() {
          holding.end()
          // what was waited for is no length of its own: it may be long for others alone, or be over
          if (ticket.hasBegun && !givenUpAside)
            lengths.note(work, ticket.givenUp ? Math.max(ticket.spentMs, limitMs) : ticket.spentMs)
        },
        giveUp() {
          givenUpAside = holding.isAside()
          return lines.giveUp(ticket)
        },
      }
    },
  }
}

/** Refuses what would end too late behind what its own workspace has sent before; others' work is not counted. */
function refuseTooLong(line: Line, expectedMs: number | undefined, limitMs: number): void {
  if (expectedMs === undefined) return
  const ahead = aheadMs(line, expectedMs)
  if (ahead + expectedMs < limitMs) return
  const reason = `${Math.round(expectedMs)} ms of work behind ${Math.round(ahead)} ms of the workspace's own`
  throw new DatabaseUnavailable("crowded", reason, { expectedMs, aheadMs: ahead })
}

function crowded(line: Line): DatabaseUnavailable {
  return new DatabaseUnavailable("crowded", `${line.unfinished.size} requests of the workspace wait for the database`)
}

const HELD = Promise.resolve()

interface PlaceHold {
  place: Place
  again(): Promise<void>
  isAside(): boolean
  end(): void
}

function createHolding(lines: Lines, ticket: Ticket): PlaceHold {
  let pending: Promise<void> | undefined
  let asides = 0
  const again = (): Promise<void> => {
    if (ticket.held) return HELD
    if (pending) return pending
    const queued = lines.queue(ticket)
    if (ticket.held) return queued
    pending = queued.finally(() => {
      pending = undefined
    })
    return pending
  }
  const place: Place = {
    async aside(wait) {
      asides++
      if (ticket.held) lines.free(ticket)
      try {
        return await wait()
      } finally {
        if (--asides === 0 && !ticket.held) await again()
      }
    },
    async pause() {
      if (ticket.givenUp) throw new DatabaseUnavailable("deadline", "the caller has given up")
      if (ticket.held && lines.mayBeBehind(ticket)) await lines.queue(ticket)
    },
  }
  return { place, again, isAside: () => asides > 0, end: () => lines.end(ticket) }
}
