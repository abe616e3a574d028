/** The time limit that a statement sets, in milliseconds. Infinity for none, null for the default. */
export interface TimeLimit {
  /**
   * How long the limit is valid: "statement" for this statement, "transaction" until the end of the transaction,
   * "session" until the next change.
   */
  holds: "statement" | "transaction" | "session"
  limitMs: number | null
}

const SET =
  /^\s*set\s+(?:(session|local)\s+)?statement_timeout\s*(?:=|\bto\b)\s*(default|'?(\d{1,10})\s*(ms|s|min)?'?)\s*;?\s*$/i
const RESET = /^\s*reset\s+statement_timeout\s*;?\s*$/i
// The duration of these statements depends on the disk and the table. Stopping them gains nothing, because a second
// attempt takes as long.
const UNHURRIED = /^\s*(?:checkpoint|vacuum)\b/i

/**
 * Parses SET and RESET statement_timeout, which the embedded database accepts but does not enforce. Null for any other
 * statement.
 */
export function timeLimitIn(statement: string): TimeLimit | null {
  if (UNHURRIED.test(statement)) return { holds: "statement", limitMs: Number.POSITIVE_INFINITY }
  if (statement.length > 200) return null
  if (RESET.test(statement)) return { holds: "session", limitMs: null }
  const [, scope, value, amount, unit] = SET.exec(statement) ?? []
  if (value === undefined) return null
  const holds = scope?.toLowerCase() === "local" ? "transaction" : "session"
  return {
    holds,
    limitMs: amount === undefined ? null : Number(amount) * (UNITS[unit?.toLowerCase() ?? "ms"] ?? 0) || Infinity,
  }
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, min: 60_000 }

export class TimeLimits {
  #usualMs: number
  #session: number | null = null
  #transaction: number | null = null

  constructor(usualMs: number) {
    this.#usualMs = usualMs
  }

  /**
   * Applies the limits that the batch sets. Returns the time limit of the batch: the longest of the limits in effect.
   */
  forBatch(requested: readonly TimeLimit[]): number {
    const now = [this.#current()]
    for (const { holds, limitMs } of requested) {
      if (holds === "transaction") this.#transaction = limitMs
      if (holds === "session") this.#session = limitMs
      now.push(holds === "statement" ? limitMs! : this.#current())
    }
    return Math.max(...now)
  }

  transactionEnded(): void {
    this.#transaction = null
  }

  #current(): number {
    return this.#transaction ?? this.#session ?? this.#usualMs
  }
}
