import { DAY_MS } from "./time.ts"

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/**
 * Returns the days since 1970-01-01. Uses arithmetic, because Date.parse takes ten times as long and a page has
 * thousands of days.
 */
export function dayNumber(day: string): number {
  const [year, month] = [numberAt(day, 0) * 100 + numberAt(day, 2), numberAt(day, 5)]
  // Years that begin in March have their leap day at the end.
  const years = month > 2 ? year : year - 1
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  const before = Math.floor((153 * ((month + 9) % 12) + 2) / 5)
  return 365 * years + leapDays + before + numberAt(day, 8) - 719_469
}

/** Parses two digits. */
function numberAt(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO
}

const ZERO = 48

export function monthOf(day: string): string {
  return `${day.slice(0, 7)}-01`
}

/** Returns the first day of the quarter. */
export function quarterOf(day: string): string {
  const month = Number(day.slice(5, 7))
  return `${day.slice(0, 5)}${String(month - ((month - 1) % 3)).padStart(2, "0")}-01`
}

/** Returns the Monday of the day's week. */
export function mondayOf(day: string): string {
  return addDays(day, -((new Date(day).getUTCDay() + 6) % 7))
}

/** Returns the day `days` days later, or earlier if negative. */
export function addDays(day: string, days: number): string {
  return dayOf(new Date(Date.parse(day) + days * DAY_MS))
}

/** Returns the same date `months` months earlier, or the last day of that month if it is shorter. */
export function monthsBefore(day: string, months: number): string {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number]
  const first = dayOf(new Date(Date.UTC(year, month - 1 - months, 1)))
  return addDays(first, Math.min(date, daysInMonth(first)) - 1)
}

export function nextMidnight(at: Date): string {
  return `${addDays(dayOf(at), 1)}T00:00:00.000Z`
}

export function daysInMonth(day: string): number {
  const [year, month] = day.split("-").map(Number) as [number, number]
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** A range of days, "YYYY-MM-DD", both inclusive. */
export interface Days {
  from: string
  to: string
}

/** Returns the first days of all months of the range, earliest first. */
export function monthsOf({ from, to }: Days): string[] {
  const months: string[] = []
  for (let month = monthOf(from); month <= to; month = monthOf(addDays(month, 31))) months.push(month)
  return months
}

/** Returns the intersection of two ranges. Null if it is empty. */
export function commonDays(one: Days, other: Days): Days | null {
  const days = { from: later(one.from, other.from), to: earlier(one.to, other.to) }
  return days.from <= days.to ? days : null
}

export function later(one: string, other: string): string {
  return [one, other].sort()[1] as string
}

export function earlier(one: string, other: string): string {
  return [one, other].sort()[0] as string
}
