import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { daysBetween } from "../../src/market/formulas/count-readings.ts"
import { estimateDownloads } from "../../src/market/formulas/downloads.ts"
import type { Estimate } from "../../src/market/formulas/estimate.ts"

const DATA = join(import.meta.dirname, "../../../shared/data")
const READ = "2025-10-25"
const RATINGS = join(DATA, "22-search-lists-us/rating_counts_two_readings_us_2025-10-25.csv")
const ANCHORS = join(DATA, "24-published-anchors/published_anchors.csv")

/**
 * Returns the estimates of a month's ratings from the gain of about a day, with the true figures. Null without the
 * file.
 */
export function readPaces(): { estimate: Estimate; truth: number }[] | null {
  if (!existsSync(RATINGS)) return null
  return linesOf(RATINGS).flatMap((line) => {
    // only the title may be quoted, and it precedes these fields
    const [released, first, second] = line.split(",").slice(-3) as [string, string, string]
    const gained = Number(second) - Number(first)
    const storefront = { storefront: "us", ratings: Number(first), gain: null, ageDays: daysBetween(released, READ) }
    const ratio = { value: 1, spread: 0, basis: "own" as const, apps: 1 }
    const estimate = estimateDownloads({ storefronts: [storefront], ratio, level: 0.8, calibration: null })
    return estimate?.value && gained > 0 ? [{ estimate, truth: 30 * gained }] : []
  })
}

/** Returns the slope of revenue or downloads over the rank, from two ranks that one source published for one chart. */
export function readSlopes(): { chart: string; places: [number, number]; slope: number }[] {
  if (!existsSync(ANCHORS)) return []
  const rows = linesOf(ANCHORS).map((line) => {
    const [store, country, device, chart, genre, rank, period, value, unit] = line.split(",") as string[]
    return {
      chart: [store, country, device, chart, genre, period, unit].join(" "),
      place: Number(rank),
      value: Number(value),
    }
  })
  return [...Map.groupBy(rows, ({ chart }) => chart)].flatMap(([chart, chartRows]) => {
    const [a, b] = chartRows.toSorted((x, y) => x.place - y.place)
    if (!a || !b || a.place === b.place) return []
    return [{ chart, places: [a.place, b.place], slope: Math.log(a.value / b.value) / Math.log(b.place / a.place) }]
  })
}

function linesOf(path: string): string[] {
  return readFileSync(path, "utf8").trimEnd().split(/\r?\n/).slice(1)
}
