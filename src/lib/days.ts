import { DAY_MS } from "./time.ts"

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/** Days since 1970, by figures alone: Date.parse takes ten times as long, of which a page has thousands. */
export function dayNumber(day: string): number {
  const [year, month] = [numberAt(day, 0) * 100 + numberAt(day, 2), numberAt(day, 5)]
  // years that begin in March have their leap day at the end
  const years = month > 2 ? year : year - 1
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  const before = Math.floor((153 * ((month + 9) % 12) + 2) / 5)
  return 365 * years + leapDays + before + numberAt(day, 8) - 719_469
}

/** Of two digits. */
function numberAt(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO
}

const ZERO = 48

export function monthOf(day: string): string {
  return `${day.slice(0, 7)}-01`
}

/** The first day of the quarter. */
export function quarterOf(day: string): string {
  const month = Number(day.slice(5, 7))
  return `${day.slice(0, 5)}${String(month - ((month - 1) % 3)).padStart(2, "0")}-01`
}

/** The day so many days later; a negative number goes back. */
export function addDays(day: string, days: number): string {
  return dayOf(new Date(Date.parse(day) + days * DAY_MS))
}

/** The day so many months earlier; the last of the month where that one has no such day. */
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

/** Days, "YYYY-MM-DD", both inclusive. */
export interface Days {
  from: string
  to: string
}

/** The days that lie in both; null = none. */
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
