import { expect, test } from "bun:test"
import { sourceRuns } from "../../src/lib/source-runs.ts"

test("a source that returns after another source starts a new run; days without points end no run", () => {
  const days = [
    ["01", "a"],
    ["02", "a"],
    ["03", "b"],
    ["07", "b"],
    ["08", "a"],
  ] as const
  const points = days.map(([day, source]) => ({ day: `2025-11-${day}`, source }))
  expect(sourceRuns(points)).toEqual([
    { source: "a", from: "2025-11-01", to: "2025-11-02" },
    { source: "b", from: "2025-11-03", to: "2025-11-07" },
    { source: "a", from: "2025-11-08", to: "2025-11-08" },
  ])
  expect(sourceRuns([])).toEqual([])
})
