export const DAY_MS = 86_400_000

/** The day the App Store opened. Sales, searches and reviews cannot be older. */
export const STORES_OPENED_MS = Date.parse("2008-07-10")

/** Returns whether a text that begins like YYYY-MM-DD begins with a real day. Date turns 30 February into 2 March. */
export function isRealDay(text: string): boolean {
  const at = new Date(text.slice(0, 10))
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text.slice(0, 10))
}

export interface RecurringWork {
  start(): void
  /** Starts no further work, and waits until the current work has ended. */
  stop(): Promise<void>
}
