import { createFairQueue, type Errand } from "./fair-queue.ts"
import type { Place } from "./types.ts"
import { DatabaseUnavailable } from "./unavailable.ts"

export { DatabaseUnavailable } from "./unavailable.ts"

export interface Gate {
  /** Rejects with DatabaseUnavailable after `deadlineMs`, or with too much unfinished. Abandoned work goes on. */
  run<T>(work: () => Promise<T>, deadlineMs?: number): Promise<T>
  /** In turn with other workspaces' work (fair-queue.ts). What cannot end in time is refused before it begins. */
  runInTurn<T>(errand: Errand, work: (place: Place) => Promise<T>, deadlineMs?: number): Promise<T>
  /** Pieces of work not yet ended, those given up on included. */
  readonly unfinished: number
  readonly waiting: number
  /** Half of what may be unfinished out of turn is. */
  readonly isHalfFull: boolean
}

/**
 * A deadline and a cap, of which postgres.js has neither: with the server frozen for 8 s the worst request took 13.2 s.
 * Abandoned work counts until it ends, so memory stays bounded. Work in turn has a cap of its own: identifying and
 * charging never wait behind a long read.
 */
export function createGate({ deadlineMs = 4_500, maxWaiting = 500, places = 10 } = {}): Gate {
  const queue = createFairQueue({ places, maxWaiting })
  const outOfTurn: WorkCount = { unfinished: 0, abandoned: 0 }
  const inTurn: WorkCount = { unfinished: 0, abandoned: 0 }
  return {
    get unfinished() {
      return outOfTurn.unfinished + inTurn.unfinished
    },
    get waiting() {
      return this.unfinished - outOfTurn.abandoned - inTurn.abandoned
    },
    get isHalfFull() {
      return outOfTurn.unfinished >= maxWaiting / 2
    },
    run(work, limitMs = deadlineMs) {
      if (outOfTurn.unfinished >= maxWaiting) {
        const reason = `${outOfTurn.unfinished} requests already wait for the database`
        return Promise.reject(new DatabaseUnavailable("crowded", reason))
      }
      const late = () => new DatabaseUnavailable("deadline", `the database did not answer within ${limitMs} ms`)
      return within(outOfTurn, limitMs, work, late)
    },
    async runInTurn(errand, work, limitMs = deadlineMs) {
      const entry = queue.enter(errand, limitMs)
      const inItsTurn = async () => {
        try {
          await entry.granted
          return await work(entry.place)
        } finally {
          entry.end()
        }
      }
      return await within(inTurn, limitMs, inItsTurn, entry.giveUp)
    },
  }
}

interface WorkCount {
  unfinished: number
  abandoned: number
}

/** Counts work until it ends. Its late outcome, after the caller gave up, is nobody's. */
function within<T>(count: WorkCount, limitMs: number, work: () => Promise<T>, giveUp: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    let isAbandoned = false
    const timer = setTimeout(() => {
      isAbandoned = true
      count.abandoned++
      reject(giveUp())
    }, limitMs)
    const end = () => {
      count.unfinished--
      if (isAbandoned) count.abandoned--
      else clearTimeout(timer)
    }
    count.unfinished++
    begun(work).then(
      (value) => {
        end()
        resolve(value)
      },
      (error) => {
        end()
        reject(error)
      },
    )
  })
}

/** What throws before it waits has failed like what fails later. */
function begun<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error)
  }
}

const CODES = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT", // the embedded database's socket
  "EPIPE",
  "ETIMEDOUT",
  "25006", // read-only: the server became a standby
  "40P01", // chosen to end a deadlock
  "25P03", // the transaction was idle for too long
  "53100", // no room on its disk
  "53300", // too many connections
  "55P03", // no lock, or no turn on the embedded database, in time
  "57014", // statement_timeout
  "57P01", // shutting down
  "57P02",
  "57P03", // starting up
  "57P05",
])

/** Whether this error says that the database is away, starting, read-only or overloaded, not that the SQL is wrong. */
export function isConnectionProblem(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === "string" && (CODES.has(code) || /^08...$/.test(code))
}

const ROLLED_BACK = new Set(["25006", "40P01", "53100", "55P03"])

/** Whether the database itself said that the statement was not done, so that there is nothing of it to take back. */
export function wroteNothing(error: unknown): boolean {
  return ROLLED_BACK.has(String((error as { code?: unknown } | null)?.code))
}
