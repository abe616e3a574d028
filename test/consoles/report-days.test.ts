import { expect, test } from "bun:test"
import { pacificDay } from "../../src/consoles/pacific.ts"
import { readAgainAt } from "../../src/consoles/report-days.ts"
import { addDays } from "../../src/lib/days.ts"
import { REPORTS } from "../../src/lib/upstreams.ts"

/** The console's limit of requests per hour and key. */
const HOUR_LIMIT = 3_500

test("reading every day again for five weeks uses less than a tenth of the hourly request limit a day", () => {
  const start = new Date("2026-03-01T15:00:00Z")
  const readsOn = new Map<string, number>()
  // Each day of two months becomes available on the next morning, and is read again until it is final.
  for (let elapsedDays = 0; elapsedDays < 60; elapsedDays++) {
    const day = addDays(pacificDay(start), elapsedDays - 1)
    let reads = 0
    for (
      let at: Date | null = new Date(start.getTime() + elapsedDays * 86_400_000);
      at !== null;
      at = readAgainAt(day, at)
    ) {
      const today = pacificDay(at)
      readsOn.set(today, (readsOn.get(today) ?? 0) + REPORTS.length)
      reads++
    }
    expect([day, reads]).toEqual([day, 15])
  }
  expect(Math.max(...readsOn.values())).toBeLessThan(HOUR_LIMIT / 10)
})
