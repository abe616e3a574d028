import { expect, test } from "bun:test"
import {
  entryInForce,
  type PriceEntry,
  pricePeriods,
  upcomingEntry,
} from "../../../src/consoles/formulas/price-periods.ts"

const entry = (price: string, rest: Partial<PriceEntry> = {}): PriceEntry => ({
  country: "de",
  currency: "EUR",
  price,
  proceeds: "1",
  point: "p",
  ...rest,
})
const periodsOf = (days: Record<string, PriceEntry[]>) =>
  pricePeriods(Object.entries(days).map(([day, entries]) => ({ day, entries }))).map((period) => [
    ...[period.country, period.from, period.sinceKnown, period.entry?.price ?? null],
  ])

test("a price without a start day begins when it is first seen; a price with a start day begins on that day", () => {
  expect(periodsOf({ "2026-03-01": [entry("9.99")] })).toEqual([["de", "2026-03-01", false, "9.99"]])
  expect(periodsOf({ "2026-03-01": [entry("9.99", { startsAt: "2025-05-01" })] })).toEqual([
    ["de", "2025-05-01", true, "9.99"],
  ])
})

test("an announced price begins on its start day, and an unchanged price starts no new period", () => {
  const announced = [entry("9.99"), entry("12.99", { startsAt: "2026-04-01" })]
  expect(periodsOf({ "2026-03-01": [entry("9.99")], "2026-03-05": announced })).toEqual([
    ["de", "2026-03-01", false, "9.99"],
    ["de", "2026-04-01", true, "12.99"],
  ])
  // The announced price is withdrawn before it begins.
  expect(periodsOf({ "2026-03-05": announced, "2026-03-20": [entry("9.99")] })).toEqual([
    ["de", "2026-03-05", false, "9.99"],
  ])
})

test("a price that changes and returns has three periods, and a removed price ends the last period", () => {
  expect(
    periodsOf({
      "2026-03-01": [entry("9.99")],
      "2026-03-04": [entry("7.99")],
      "2026-03-09": [entry("9.99")],
      "2026-03-20": [],
    }),
  ).toEqual([
    ["de", "2026-03-01", false, "9.99"],
    ["de", "2026-03-04", false, "7.99"],
    ["de", "2026-03-09", false, "9.99"],
    ["de", "2026-03-20", false, null],
  ])
})

test("new customers pay the price that began last; preserved and monthly prices are ignored", () => {
  const entries = [
    ...[entry("4.99", { startsAt: "2024-01-01", preserved: true }), entry("6.99", { startsAt: "2025-01-01" })],
    ...[entry("8.99", { startsAt: "2026-01-01" }), entry("9.99", { startsAt: "2026-12-01" })],
    ...[entry("1.99", { startsAt: "2026-02-01", plan: "MONTHLY" }), entry("3", { endsAt: "2025-01-01" })],
  ]
  expect(entryInForce(entries, "2026-06-01")?.price).toBe("8.99")
  expect(entryInForce(entries, "2024-12-31")?.price).toBe("3")
  expect(upcomingEntry(entries, "2026-06-01")?.price).toBe("9.99")
  expect(upcomingEntry(entries, "2026-12-01")).toBeNull()
  expect(entryInForce([entry("1", { startsAt: "2026-12-01" })], "2026-06-01")).toBeNull()
})
