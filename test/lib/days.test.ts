import { expect, test } from "bun:test"
import { addDays, dayNumber, dayOf, daysInMonth, monthOf, monthsBefore, monthsOf } from "../../src/lib/days.ts"
import { pointsOf, UNMEASURED } from "../../src/lib/month-bytes.ts"

test("days are UTC days, across months, leap days and years", () => {
  expect(dayOf(new Date("2024-02-29T23:30:00-02:00"))).toBe("2024-03-01")
  expect(monthOf("2024-02-29")).toBe("2024-02-01")
  expect([addDays("2024-02-28", 1), addDays("2024-03-01", -1), addDays("2025-01-01", -1)]).toEqual([
    "2024-02-29",
    "2024-02-29",
    "2024-12-31",
  ])
  expect(["2024-02-01", "2025-02-01", "2025-12-31", "2025-04-30"].map(daysInMonth)).toEqual([29, 28, 31, 30])
})

test("monthsBefore returns the last day of a shorter month", () => {
  expect([monthsBefore("2025-08-31", 2), monthsBefore("2025-08-31", 6), monthsBefore("2024-03-31", 1)]).toEqual([
    "2025-06-30",
    "2025-02-28",
    "2024-02-29",
  ])
  expect([monthsBefore("2025-01-15", 1), monthsBefore("2025-01-15", 25)]).toEqual(["2024-12-15", "2022-12-15"])
})

test("monthsOf returns every month of a range, also a February between two longer months", () => {
  expect(monthsOf({ from: "2027-01-31", to: "2027-03-01" })).toEqual(["2027-01-01", "2027-02-01", "2027-03-01"])
  expect(monthsOf({ from: "2026-12-31", to: "2027-01-01" })).toEqual(["2026-12-01", "2027-01-01"])
  expect(monthsOf({ from: "2027-02-28", to: "2027-02-28" })).toEqual(["2027-02-01"])
  expect(monthsOf({ from: "2027-03-01", to: "2027-02-28" })).toEqual([])
})

test("a stored month has a point for each measured day inside the window, with rank null if the app was absent", () => {
  const ranks = new Uint8Array(31).fill(UNMEASURED)
  ranks.set([7, 0, 250])
  // A byte beyond the month's end is not a day.
  ranks[28] = 9
  const month = {
    month: "2025-02-01",
    ranks,
    sources: new Uint8Array(31).fill(40),
    depths: new Uint8Array(31).fill(250),
  }
  const days = (from: string, to: string) => pointsOf(month, from, to).map(({ day, rank }) => [day, rank])
  expect(days("2025-01-01", "2025-12-31")).toEqual([
    ["2025-02-01", 7],
    ["2025-02-02", null],
    ["2025-02-03", 250],
  ])
  expect(days("2025-02-02", "2025-02-02")).toEqual([["2025-02-02", null]])
  expect(pointsOf(month, "2025-02-01", "2025-02-01")).toEqual([{ day: "2025-02-01", rank: 7, source: 40, depth: 250 }])
})

test("dayNumber agrees with Date around New Year and the end of February of 4,000 years", () => {
  for (let at = 0; at < 4_000; at++) {
    for (const day of [`${1000 + at}-01-01`, `${1000 + at}-02-28`, `${1000 + at}-03-01`, `${1000 + at}-12-31`])
      expect([day, dayNumber(day)]).toEqual([day, Date.parse(day) / 86_400_000])
  }
  for (let number = 20_000; number < 24_000; number++) {
    const day = new Date(number * 86_400_000).toISOString().slice(0, 10)
    expect([day, dayNumber(day)]).toEqual([day, number])
  }
})
