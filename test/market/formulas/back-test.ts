import { addDays } from "../../../src/lib/days.ts"
import { calibrateIntervals, coverageOf } from "../../../src/market/formulas/conformal.ts"
import { type DownloadEstimate, estimateDownloads } from "../../../src/market/formulas/downloads.ts"
import { measureDownloads } from "../../../src/market/formulas/install-gain.ts"
import { downloadsPerRating } from "../../../src/market/formulas/ratio.ts"
import type { LevelFit } from "./installs/level-fit.ts"
import { type AppTwice, type PlayApp, shuffled, truthPairs } from "./play-apps.ts"

/** Number of a month's truths that its intervals are calibrated on. */
export const TRUTHS = 300
const DRAWS = 200
const [FIRST_DAY, LAST_DAY] = ["2026-03-01", "2026-03-31"]

export interface Drawn {
  /** Mean coverage over the draws, and the middle 90 % of single draws. */
  covered: number
  between: [number, number]
  /** Median width among the apps that were not drawn. */
  width: number
}

/** Calibrates intervals on 300 apps of the month and tests them on the others, in 200 draws from a fixed seed. */
export function drawCoverage(apps: readonly PlayApp[], level: 0.8 | 0.9 = 0.8, fit?: LevelFit): Drawn {
  const pairs = truthPairs(apps, fit)
  const tries = Array.from({ length: DRAWS }, (_, seed) => {
    const drawn = shuffled(pairs, seed + 1)
    const calibration = calibrateIntervals(drawn.slice(0, TRUTHS), level)!
    const rest = drawn.slice(TRUTHS)
    const widths = rest
      .map(({ ratings }) => calibration.bands.findLast(({ least }) => ratings >= least)!.factor)
      .sort((a, b) => a - b)
    return { covered: coverageOf(calibration.bands, rest), width: widths[Math.floor(widths.length / 2)]! }
  })
  const covered = tries.map((attempt) => attempt.covered).sort((a, b) => a - b)
  return {
    covered: covered.reduce((sum, share) => sum + share, 0) / DRAWS,
    between: [covered[DRAWS * 0.05]!, covered[DRAWS * 0.95]!],
    width: tries.reduce((sum, { width }) => sum + width, 0) / DRAWS,
  }
}

/** Returns the apps whose installs and ratings both rose, that had ratings before, and whose release is known. */
export function growingApps(apps: readonly AppTwice[]): AppTwice[] {
  return apps.filter(
    ({ first, second }) =>
      first.facts.ratings > 0 &&
      second.facts.ratings > first.facts.ratings &&
      second.installs > first.installs &&
      first.released !== null,
  )
}

/** Returns the apps whose rating count is the same eleven months later. */
export function unratedApps(apps: readonly AppTwice[]): AppTwice[] {
  return apps.filter(({ first, second }) => second.facts.ratings === first.facts.ratings)
}

/**
 * Returns the product's estimate for an app whose ratings were read twice and whose installs were read once. The eleven
 * months stand in for thirty days, because both the figure and the true value are differences.
 */
export function estimateTwice({ first, second }: AppTwice, isOwn = true): DownloadEstimate | null {
  const ownFacts = { genre: null, downloads: first.installs, ratings: first.facts.ratings }
  const gained = second.facts.ratings - first.facts.ratings
  return estimateDownloads({
    storefronts: [
      {
        storefront: "us",
        ratings: second.facts.ratings,
        gain: gained < 0 ? null : { gained, days: 30, from: FIRST_DAY, to: LAST_DAY },
        ageDays: null,
      },
    ],
    ratio: downloadsPerRating("android", { ownFigures: isOwn ? ownFacts : null, genre: null }, []),
    level: 0.8,
    calibration: null,
  })
}

/**
 * Measures two exact counts thirty days apart and some days in between at an even pace. On three of these days the
 * store shows 1.97 times its count.
 */
export function measureDoubled({ first, second }: AppTwice): { value: number | null; days: number } | null {
  const countOn = (day: number) => Math.round(first.installs + ((second.installs - first.installs) * day) / 30)
  const readings = [0, 9, 10, 11, 12, 13, 20, 30].map((day) => ({
    day: addDays(FIRST_DAY, day),
    count: day >= 10 && day <= 12 ? Math.round(1.97 * countOn(day)) : countOn(day),
  }))
  const measured = measureDownloads(readings, LAST_DAY)
  return measured && { value: measured.value, days: measured.days }
}

/**
 * Includes a count from a week before the end, because a count that rose by more than half is accepted only after a
 * week.
 */
export function measureTwice({ first, second }: AppTwice): number | null {
  const readings = [
    { day: FIRST_DAY, count: first.installs },
    { day: addDays(FIRST_DAY, 23), count: Math.round(first.installs + ((second.installs - first.installs) * 23) / 30) },
    { day: LAST_DAY, count: second.installs },
  ]
  return measureDownloads(readings, LAST_DAY)?.value ?? null
}
