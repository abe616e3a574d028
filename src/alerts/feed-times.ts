import * as v from "valibot"
import { Fault } from "../lib/faults.ts"
import { DAY_MS, isRealDay } from "../lib/time.ts"

/** Returns the schema of an optional bound of `at`: a UTC day, or an ISO 8601 time with its zone. */
export function Moment(description: string) {
  return v.optional(
    v.pipe(
      v.union([v.pipe(v.string(), v.isoDate()), v.pipe(v.string(), v.isoTimestamp())]),
      v.check((text) => !Number.isNaN(Date.parse(text)) && isRealDay(text)),
      v.description(description),
    ),
  )
}

/**
 * Returns the end of `until`, exclusive. Answers show milliseconds but rows have microseconds, so the whole last
 * millisecond is included.
 */
export function endOf(until: string): Date {
  return new Date(DAY.test(until) ? Date.parse(until) + DAY_MS : Date.parse(until) + 1)
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Throws bad_range if the span ends before it begins. */
export function sinceBeforeUntil<Span extends { since?: string; until?: string }>(span: Span): Span {
  const { since, until } = span
  if (since !== undefined && until !== undefined && Date.parse(since) >= endOf(until).getTime())
    throw new Fault("bad_range", { field: "since", detail: `since (${since}) is after until (${until}).` })
  return span
}
