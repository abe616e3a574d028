import type { Log } from "../lib/log.ts"
import { createScheduledSql } from "./scheduled-sql.ts"
import { NO_SLOT, refusalOf, type SlotCall, type SlotHolder, Slots } from "./slots.ts"
import type { Sql } from "./types.ts"
import { DatabaseUnavailable } from "./unavailable.ts"

export { DatabaseUnavailable } from "./unavailable.ts"

export interface Gate {
  /**
   * Rejects with DatabaseUnavailable after `deadlineMs`, or if too much work is unfinished. Abandoned work continues.
   */
  run<T>(work: () => Promise<T>, deadlineMs?: number): Promise<T>
  /**
   * Like `run`, but for a call of a workspace. The statements of the call wait for slots: `schedule` wraps a handle so
   * that it takes them. After its deadline the call starts no further statement.
   */
  call<T>(of: CallOf, work: (schedule: (sql: Sql) => Sql) => Promise<T>, deadlineMs?: number): Promise<T>
  /** Unfinished work, including abandoned work. */
  readonly unfinished: number
  readonly waiting: number
  /** True if no slot was released for several seconds. */
  readonly isStuck: boolean
}

interface CallOf {
  workspaceId: number
  operation: string
}

export interface GateOptions {
  deadlineMs?: number
  /**
   * Maximum of unfinished work outside of calls, and of waiting statements of calls. A workspace may have half as many
   * unfinished calls.
   */
  maxWaiting?: number
  slots?: number
  maxHeldMs?: number
  stuckAfterMs?: number
  log?: Log
}

/**
 * Adds deadlines, limits and slots, which postgres.js does not have. Abandoned work counts until it ends, so that
 * memory stays bounded. Identifying and charging a call takes no slot, so it never waits behind a read.
 */
export function createGate(options: GateOptions = {}): Gate {
  const { deadlineMs = 4_500, maxWaiting = 500, slots: count = 8, maxHeldMs, stuckAfterMs, log } = options
  const onShortage = log && shortageLog(log)
  const slots = new Slots({ slots: count, maxWaiting, maxHeldMs, stuckAfterMs, onShortage })
  const outOfCalls: WorkCount = { unfinished: 0, abandoned: 0 }
  const ofCalls: WorkCount = { unfinished: 0, abandoned: 0 }
  const admit = createAdmission(maxWaiting / 2)
  let lastOrder = 0
  return {
    get unfinished() {
      return outOfCalls.unfinished + ofCalls.unfinished
    },
    get waiting() {
      return this.unfinished - outOfCalls.abandoned - ofCalls.abandoned
    },
    get isStuck() {
      return slots.isStuck
    },
    run(work, limitMs = deadlineMs) {
      if (outOfCalls.unfinished >= maxWaiting) {
        const reason = `${outOfCalls.unfinished} requests already wait for the database`
        return Promise.reject(new DatabaseUnavailable("crowded", reason))
      }
      const late = () => new DatabaseUnavailable("deadline", `the database did not answer within ${limitMs} ms`)
      return within(outOfCalls, limitMs, work, late)
    },
    async call({ workspaceId, operation }, work, limitMs = deadlineMs) {
      const leave = admit(workspaceId)
      const deadlineAt = performance.now() + limitMs
      const call: SlotCall = { workspaceId, operation, deadlineAt, order: ++lastOrder, hasBegun: false }
      const admitted = async () => {
        try {
          return await work((sql) => createScheduledSql(sql, slots, call))
        } finally {
          leave()
        }
      }
      const late = () => refusalOf(call, call.hasBegun ? "the database did not answer in time" : NO_SLOT)
      return await within(ofCalls, limitMs, admitted, late)
    },
  }
}

/** Counts the unfinished calls of each workspace. Throws DatabaseUnavailable beyond `most`. */
function createAdmission(most: number): (workspaceId: number) => () => void {
  const unfinished = new Map<number, number>()
  return (workspaceId) => {
    const count = unfinished.get(workspaceId) ?? 0
    if (count >= most) throw new DatabaseUnavailable("crowded", `${count} calls of the workspace are unfinished`)
    unfinished.set(workspaceId, count + 1)
    return () => {
      const left = unfinished.get(workspaceId)! - 1
      if (left > 0) unfinished.set(workspaceId, left)
      else unfinished.delete(workspaceId)
    }
  }
}

const SHORTAGE_LOGGED_MS = 10_000

/** Logs which calls hold slots, at most once in 10 s unless a slot was taken back. */
function shortageLog(log: Log) {
  let loggedAt = Number.NEGATIVE_INFINITY
  return (why: "timeout" | "taken_back", holders: SlotHolder[]) => {
    if (why === "timeout" && performance.now() - loggedAt < SHORTAGE_LOGGED_MS) return
    loggedAt = performance.now()
    const descriptions = holders.map(
      ({ operation, workspaceId, heldMs }) => `${operation} of ${workspaceId} for ${heldMs} ms`,
    )
    log("warn", "database_slots", { code: why, count: holders.length, reason: `held by ${descriptions.join(", ")}` })
  }
}

interface WorkCount {
  unfinished: number
  abandoned: number
}

/** Counts work until it ends. Its result is ignored once the caller has given up. */
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

/** Turns a synchronous throw into a rejection. */
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
  "ENOENT", // socket of the embedded database
  "EPIPE",
  "ETIMEDOUT",
  "25006", // read-only: the server became a standby
  "40P01", // cancelled to resolve a deadlock
  "25P03", // idle in transaction for too long
  "53100", // disk full
  "53300", // too many connections
  "55P03", // no lock, or no turn on the embedded database, in time
  "57014", // statement_timeout
  "57P01", // shutting down
  "57P02",
  "57P03", // starting up
  "57P05",
])

/**
 * Returns true if the error means that the database is unreachable, starting, read-only or overloaded. False for errors
 * such as wrong SQL.
 */
export function isConnectionProblem(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === "string" && (CODES.has(code) || /^08...$/.test(code))
}

const ROLLED_BACK = new Set(["25006", "40P01", "53100", "55P03"])

/** Returns true if the database itself reported that the statement had no effect. Nothing has to be undone then. */
export function wroteNothing(error: unknown): boolean {
  return ROLLED_BACK.has(String((error as { code?: unknown } | null)?.code))
}
