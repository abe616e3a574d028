export const DAY_MS = 86_400_000

/** The App Store opened on that day: nothing was sold, searched or reviewed in a store before. */
export const STORES_OPENED_MS = Date.parse("2008-07-10")

/** Whether a text that begins as YYYY-MM-DD begins with a day of the calendar: Date turns 30 February into 2 March. */
export function isRealDay(text: string): boolean {
  const at = new Date(text.slice(0, 10))
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text.slice(0, 10))
}

export interface RecurringWork {
  start(): void
  /** Begins nothing more and waits for what is under way. */
  stop(): Promise<void>
}
