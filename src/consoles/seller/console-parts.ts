import type { AccountTurn } from "../account-kind.ts"
import type { Console } from "../console.ts"

/** Dependencies of a task that reads App Store Connect. */
export interface ConsoleParts extends Pick<AccountTurn, "sql" | "record" | "now" | "keep" | "signal" | "fence"> {
  console: Console
  account: { id: string }
}

const HOUR_MS = 3_600_000

export function hoursLater(now: Date, hours: number): Date {
  return new Date(now.getTime() + hours * HOUR_MS)
}
