/** The database does not answer in time, or too much is waiting for it already: 503 to the caller. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable"
  /** "deadline": given up on; whether the work was done is not known. "crowded": never begun. */
  readonly why: "deadline" | "crowded"

  constructor(why: "deadline" | "crowded", message: string) {
    super(message)
    this.why = why
  }
}

export interface Gate {
  /**
   * Runs the work and answers as it does, or rejects with `DatabaseUnavailable` when `deadlineMs` pass first or too
   * much work is unfinished. Work given up on goes on underneath; its late end is of no consequence.
   */
  run<T>(work: () => Promise<T>, deadlineMs?: number): Promise<T>
  /** Pieces of work not yet ended, those given up on included. */
  readonly unfinished: number
  /** Those whose caller still waits. */
  readonly waiting: number
}

/**
 * A deadline and a cap for work on the database. postgres.js has neither: with the pool full, a query waits without
 * limit, and with the server frozen for 8 s the worst request took 13.2 s. Abandoned work counts against `maxWaiting`
 * until it ends, so memory stays bounded while the database is away.
 */
export function createGate({ deadlineMs = 4_500, maxWaiting = 500 } = {}): Gate {
  let unfinished = 0
  let abandoned = 0
  const ended = () => {
    unfinished--
  }
  const endedLate = () => {
    abandoned--
  }
  const abandon = (working: Promise<unknown>) => {
    abandoned++
    working.then(endedLate, endedLate)
  }
  return {
    get unfinished() {
      return unfinished
    },
    get waiting() {
      return unfinished - abandoned
    },
    async run(work, limitMs = deadlineMs) {
      if (unfinished >= maxWaiting) {
        throw new DatabaseUnavailable("crowded", `${unfinished} requests already wait for the database`)
      }
      unfinished++
      const working = (async () => work())()
      working.then(ended, ended)
      return within(working, limitMs, abandon)
    },
  }
}

function within<T>(working: Promise<T>, limitMs: number, abandon: (working: Promise<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      abandon(working)
      reject(new DatabaseUnavailable("deadline", `the database did not answer within ${limitMs} ms`))
    }
    const timer = setTimeout(giveUp, limitMs)
    // Also after giving up, so that a late failure is handled; a promise takes only its first outcome.
    working.then(resolve, reject).finally(() => clearTimeout(timer))
  })
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
