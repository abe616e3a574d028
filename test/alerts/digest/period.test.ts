import { expect, test } from "bun:test"
import { duePeriod } from "../../../src/alerts/digest/period.ts"
import { slow } from "../../long.ts"

const day = (hour: number, zone: string, now: string) => {
  const period = duePeriod({ every: "day", hour, zone }, new Date(now))
  return period && [period.to, period.at.toISOString()]
}
const week = (hour: number, zone: string, now: string) => {
  const period = duePeriod({ every: "week", hour, zone }, new Date(now))
  return period && [period.from, period.to, period.at.toISOString()]
}

test.each([
  // Berlin, 8:00 in winter: 07:00 UTC
  ["Europe/Berlin", 8, "2025-11-20T06:59:59Z", null],
  ["Europe/Berlin", 8, "2025-11-20T07:00:00Z", ["2025-11-19", "2025-11-20T07:00:00.000Z"]],
  ["Europe/Berlin", 8, "2025-11-20T18:59:00Z", ["2025-11-19", "2025-11-20T07:00:00.000Z"]],
  // a server that was down for twelve hours waits for the next day
  ["Europe/Berlin", 8, "2025-11-20T19:00:00Z", null],
  // Auckland, 8:00 in summer: 19:00 UTC of the day before; the day that is over then is two dates back
  ["Pacific/Auckland", 8, "2025-11-19T19:00:00Z", ["2025-11-18", "2025-11-19T19:00:00.000Z"]],
  ["Pacific/Auckland", 8, "2025-11-20T01:00:00Z", ["2025-11-18", "2025-11-19T19:00:00.000Z"]],
  ["America/Los_Angeles", 20, "2025-11-20T04:30:00Z", ["2025-11-19", "2025-11-20T04:00:00.000Z"]],
  ["UTC", 0, "2025-11-20T00:00:00Z", ["2025-11-19", "2025-11-20T00:00:00.000Z"]],
])("for a daily digest in %s at %i o'clock, the period due at %s is %j", (zone, hour, now, expected) => {
  expect(day(hour, zone, now)).toEqual(expected)
})

test.each([
  ["Europe/Berlin", 12, "2025-11-17T11:00:00Z", ["2025-11-10", "2025-11-16", "2025-11-17T11:00:00.000Z"]],
  ["Europe/Berlin", 12, "2025-11-17T10:59:59Z", null],
  // the summaries of the week are in the feed on Monday at 09:00 UTC
  ["Pacific/Auckland", 8, "2025-11-17T08:59:59Z", null],
  ["Pacific/Auckland", 8, "2025-11-17T09:00:00Z", ["2025-11-10", "2025-11-16", "2025-11-17T09:00:00.000Z"]],
  ["Europe/Berlin", 12, "2025-11-19T10:00:00Z", ["2025-11-10", "2025-11-16", "2025-11-17T11:00:00.000Z"]],
  ["Europe/Berlin", 12, "2025-11-19T11:00:00Z", null],
  ["America/Los_Angeles", 20, "2025-11-18T04:00:00Z", ["2025-11-10", "2025-11-16", "2025-11-18T04:00:00.000Z"]],
])("for a weekly digest in %s at %i o'clock, the period due at %s is %j", (zone, hour, now, expected) => {
  expect(week(hour, zone, now)).toEqual(expected)
})

slow("daily digests cover each day once and in order, also when clocks change", () => {
  const days = new Set<string>()
  for (let hour = 0; hour < 40 * 24; hour++) {
    const now = new Date(Date.UTC(2025, 9, 10) + hour * 3_600_000)
    const due = duePeriod({ every: "day", hour: 7, zone: "Europe/Berlin" }, now)
    if (due) days.add(due.to)
  }
  expect(days.size).toBe(40)
})
