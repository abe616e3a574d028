import { describe, expect, test } from "bun:test"
import { isTimeZone, zonedBounds, zonedDay } from "../../src/lib/zoned-days.ts"
import { cases, slow } from "../long.ts"

const HOUR_MS = 3_600_000
const iso = (day: string, tz: string) => {
  const { from, to } = zonedBounds(day, tz)
  return [from.toISOString(), to.toISOString()]
}
const hours = (day: string, tz: string) => {
  const { from, to } = zonedBounds(day, tz)
  return (to.getTime() - from.getTime()) / HOUR_MS
}

describe("a day in a time zone", () => {
  test("a UTC day begins and ends at midnight UTC", () => {
    expect(iso("2026-11-02", "UTC")).toEqual(["2026-11-02T00:00:00.000Z", "2026-11-03T00:00:00.000Z"])
  })

  test("a day has 23 hours when clocks go forward, 25 when they go back, otherwise 24", () => {
    expect([28, 29, 30].map((day) => hours(`2026-03-${day}`, "Europe/Berlin"))).toEqual([24, 23, 24])
    expect([24, 25, 26].map((day) => hours(`2026-10-${day}`, "Europe/Berlin"))).toEqual([24, 25, 24])
    expect(iso("2026-03-29", "Europe/Berlin")).toEqual(["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"])
    expect(iso("2026-11-01", "America/New_York")).toEqual(["2026-11-01T04:00:00.000Z", "2026-11-02T05:00:00.000Z"])
  })

  test("a day begins at one o'clock if midnight is skipped, and is half an hour shorter on Lord Howe", () => {
    expect(iso("2018-11-04", "America/Sao_Paulo")).toEqual(["2018-11-04T03:00:00.000Z", "2018-11-05T02:00:00.000Z"])
    expect(hours("2026-10-04", "Australia/Lord_Howe")).toBe(23.5)
  })

  test("a day that a time zone skipped has no hours", () => {
    const { from, to } = zonedBounds("2011-12-30", "Pacific/Apia")
    expect(from).toEqual(to)
    expect(hours("2011-12-31", "Pacific/Apia")).toBe(24)
  })

  slow("a day contains exactly the moments with its date, checked every three hours of a year in some zones", () => {
    const zones = [
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Asia/Kolkata",
      "Asia/Kathmandu",
      "Pacific/Kiritimati",
      "Pacific/Pago_Pago",
      "Australia/Lord_Howe",
      "America/St_Johns",
      "Africa/Casablanca",
      "Asia/Tehran",
      "Chile/Continental",
    ]
    for (const tz of zones.slice(-cases(2, 12))) {
      const start = Date.UTC(2025, 11, 31, 0, 30)
      let bounds = zonedBounds(zonedDay(new Date(start), tz), tz)
      for (let at = start; at < Date.UTC(2027, 0, 2); at += 3 * HOUR_MS) {
        const day = zonedDay(new Date(at), tz)
        if (at >= bounds.to.getTime()) {
          const next = zonedBounds(day, tz)
          expect(next.from).toEqual(bounds.to)
          bounds = next
        }
        expect(at >= bounds.from.getTime() && at < bounds.to.getTime()).toBe(true)
      }
    }
  })
})

test("a time zone is an IANA name, not an offset or an unknown abbreviation", () => {
  for (const name of ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Asia/Calcutta"])
    expect([name, isTimeZone(name)]).toEqual([name, true])
  for (const name of [
    "",
    "+01:00",
    "-0300",
    "Mars/Olympus",
    "Europe/Berlin ",
    "Europe Berlin",
    "../etc/passwd",
    "utc+1",
  ])
    expect([name, isTimeZone(name)]).toEqual([name, false])
})
