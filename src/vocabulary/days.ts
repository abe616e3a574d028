import { DAY_MS } from "./time.ts"

/** The UTC day of a moment, "YYYY-MM-DD". */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/** The first day of a day's month. */
export function monthOf(day: string): string {
  return `${day.slice(0, 7)}-01`
}

/** The day so many days later; a negative number goes back. */
export function addDays(day: string, days: number): string {
  return dayOf(new Date(Date.parse(day) + days * DAY_MS))
}

/** When the next UTC day begins, ISO. */
export function nextMidnight(at: Date): string {
  return `${addDays(dayOf(at), 1)}T00:00:00.000Z`
}

/** How many days the month of this day has. */
export function daysInMonth(day: string): number {
  const [year, month] = day.split("-").map(Number) as [number, number]
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}
