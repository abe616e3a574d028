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
