import { expect, test } from "bun:test"
import { type RankPoint, sparkline } from "../../../src/commands/reading/sparkline.ts"
import { addDays } from "../../../src/lib/days.ts"

const days = Array.from({ length: 8 }, (_, at) => addDays("2026-03-01", at))
const pointOn = (at: number, rank: number | null): RankPoint => [days[at] as string, rank]

test("a sparkline distinguishes ranked, absent and unmeasured days, and has a higher bar for a better rank", () => {
  expect(
    sparkline([pointOn(0, 1), pointOn(2, null), pointOn(3, 200), pointOn(4, 14), pointOn(5, 4000)], days, 30),
  ).toBe("█·–▁▅▁··")
  const heights = [200, 150, 100, 50, 20, 10, 5, 3, 2, 1].map((rank) =>
    sparkline([pointOn(0, rank)], days.slice(0, 1), 1),
  )
  expect(heights).toEqual(heights.toSorted())
})

test("a sparkline with fewer characters than days shows the last measured day in each character", () => {
  expect(sparkline([pointOn(0, 200), pointOn(1, 1), pointOn(2, 1), pointOn(5, null)], days, 4)).toBe("██–·")
  expect(sparkline([], days, 3)).toBe("···")
})
