import type { Log } from "../lib/log.ts"
import { createScheduledSql } from "./scheduled-sql.ts"
import { NO_SLOT, refusalOf, type SlotCall, type SlotHolder, Slots } from "./slots.ts"
import type { Sql } from "./types.ts"
import { DatabaseUnavailable } from "./unavailable.ts"

export { DatabaseUnavailable } from "./unavailable.ts"

export interface Gate {
  /** Rejects with DatabaseUnavailable after `deadlineMs`, or with too much unfinished. Abandoned work goes on. */
  run<T>(work: () => Promise<T>, deadlineMs?: number): Promise<T>
  /**
   * The same for a call of a workspace, whose statements wait for slots: `schedule` returns the handle that takes them. Past its
   * deadline the call begins no further statement.
   */
  call<T>(of: CallOf, work: (schedule: (sql: Sql) => Sql) => Promise<T>, deadlineMs?: number): Promise<T>
  /** Work that has not ended, abandoned work included. */
  readonly unfinished: number
  readonly waiting: number
  /** No slot came free for several seconds. */
  readonly isStuck: boolean
}

interface CallOf {
  workspaceId: number
  operation: string
}

export interface GateOptions {
  deadlineMs?: number
  /** Work that may be unfinished outside of calls, and statements of calls that may wait; one workspace has half as many calls. */
  maxWaiting?: number
  slots?: number
  maxHeldMs?: number
  stuckAfterMs?: number
  log?: Log
}

/**
 * Deadlines, caps and slots, of which postgres.js has none. Abandoned work counts until it ends, so memory stays bounded.
 * What identifies and charges a call takes no slot: it never waits behind a read.
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

/** Counts the unfinished calls of each workspace; throws DatabaseUnavailable beyond `most`. */
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

/** Logs who holds the slots, at most once in 10 s unless a slot was taken back. */
function shortageLog(log: Log) {
  let loggedAt = Number.NEGATIVE_INFINITY
  return (why: "timeout" | "taken_back", holders: SlotHolder[]) => {
    if (why === "timeout" && performance.now() - loggedAt < SHORTAGE_LOGGED_MS) return
    loggedAt = performance.now()
    const held = holders.map(({ operation, workspaceId, heldMs }) => `${operation} of ${workspaceId} for ${heldMs} ms`)
    log("warn", "database_slots", { code: why, count: holders.length, reason: `held by ${held.join(", ")}` })
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
