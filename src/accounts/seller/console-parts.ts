import type { Sql, Tx } from "../../database/types.ts"
import type { RawBody } from "../../sources/source.ts"
import type { Console } from "../console.ts"

/** What a turn at the seller's console needs. */
export interface ConsoleParts {
  sql: Sql
  console: Console
  account: { id: string }
  now: () => Date
  /** Keeps a body as it came. */
  keep: (body: RawBody) => Promise<void>
  signal: AbortSignal
  /** Throws where the lease is lost: then nothing is stored. */
  fence: (tx: Tx) => Promise<void>
}

const HOUR_MS = 3_600_000

export function hoursLater(now: Date, hours: number): Date {
  return new Date(now.getTime() + hours * HOUR_MS)
}
