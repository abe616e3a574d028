/** What a statement says of the time statements may take, in milliseconds; Infinity for none, null for the usual. */
export interface TimeLimit {
  /** "statement" for itself, "transaction" until its end, "session" until it is said otherwise. */
  holds: "statement" | "transaction" | "session"
  limitMs: number | null
}

const SET =
  /^\s*set\s+(?:(session|local)\s+)?statement_timeout\s*(?:=|\bto\b)\s*(default|'?(\d{1,10})\s*(ms|s|min)?'?)\s*;?\s*$/i
const RESET = /^\s*reset\s+statement_timeout\s*;?\s*$/i
// As long as the disk and the table make it, and nothing to cut off: begun again they take no less.
const UNHURRIED = /^\s*(?:checkpoint|vacuum)\b/i

/** SET and RESET statement_timeout, which the embedded database knows but does not keep; null = neither. */
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

  /** Takes note of what is said in the batch about to run; how long it may take, the most generous of all that holds. */
  forBatch(said: readonly TimeLimit[]): number {
    const now = [this.#current()]
    for (const { holds, limitMs } of said) {
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
