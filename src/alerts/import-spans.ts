import { addDays, type Days } from "../lib/days.ts"

/** Days up to this far apart are processed together. */
const APART_DAYS = 3

/** Groups days into spans of at most `atOnce` days, earliest first. A span includes short gaps between the days. */
export function spansOf(days: readonly string[], atOnce: number): Days[] {
  return runsOf(days).flatMap(({ from, to }) => partsOf(from, to, atOnce))
}

export function runsOf(days: readonly string[]): Days[] {
  const runs: Days[] = []
  for (const day of days.toSorted()) {
    const last = runs.at(-1)
    if (last && day <= addDays(last.to, APART_DAYS)) last.to = day
    else runs.push({ from: day, to: day })
  }
  return runs
}

function partsOf(from: string, to: string, atOnce: number): Days[] {
  const parts: Days[] = []
  for (let at = from; at <= to; at = addDays(at, atOnce)) {
    const end = addDays(at, atOnce - 1)
    parts.push({ from: at, to: end < to ? end : to })
  }
  return parts
}

export function daysBetween(from: string, to: string): string[] {
  const days: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day)
  return days
}
