import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { bandFor, calibrateIntervals, coverageOf, type TruthPair } from "../../../src/market/formulas/conformal.ts"
import { estimateDownloads, type StorefrontRatings } from "../../../src/market/formulas/downloads.ts"
import type { Estimate } from "../../../src/market/formulas/estimate.ts"
import { downloadsPerRating, STORE_PRIORS, storeLevel } from "../../../src/market/formulas/ratio.ts"
import {
  ANCHOR_SPREAD,
  grossingRevenue,
  grossingTimes,
  MIN_FACTOR,
  PLACE_SPREAD,
  PROCEEDS_SHARE,
  PUBLISHED_ANCHORS,
  paidRevenue,
} from "../../../src/market/formulas/revenue.ts"
import { randomFrom } from "./calibration.ts"
import { estimateInstalls } from "./installs/level.ts"
import { shuffled } from "./play-apps.ts"

const SEEDED = { seed: 20_261_117, numRuns: 1_000 }
const PRIOR = downloadsPerRating("ios", { ownFigures: null, genre: null }, [])
const factorOf = ({ value, low, high }: Estimate) => [value! / low, high / value!]
const gainOf = (gained: number, days = 30) => ({ gained, days, from: "2026-03-01", to: "2026-03-31" })
const us = (gained: number | null, ratings = 5_000, ageDays: number | null = 1_000): StorefrontRatings => ({
  storefront: "us",
  ratings,
  gain: gained === null ? null : gainOf(gained),
  ageDays,
})
const estimate = (storefronts: StorefrontRatings[], ratio = PRIOR) =>
  estimateDownloads({ storefronts, ratio, level: 0.8, calibration: null })

describe("downloads per rating", () => {
  test("the store's level becomes more certain with each app of the workspace", () => {
    const spreads = [0, 1, 3, 10].map((apps) => storeLevel(STORE_PRIORS.ios, Array(apps).fill(2)).spread)
    expect(spreads).toEqual([0.3, 0.25, 0.2, 0.13].map((spread) => expect.closeTo(spread, 2)))
  })

  test("downloads per rating come from the app, else its genre, else the store, with increasing spread", () => {
    const appFacts = { genre: "6015", downloads: 9_000, ratings: 50 }
    const apps = Array(5).fill(appFacts)
    const ownRatio = downloadsPerRating("ios", { ownFigures: appFacts, genre: "6015" }, apps)
    const genre = downloadsPerRating("ios", { ownFigures: null, genre: "6015" }, apps)
    const other = downloadsPerRating("ios", { ownFigures: null, genre: "6014" }, apps)
    expect([ownRatio, genre, other, PRIOR].map(({ basis }) => basis)).toEqual(["own", "genre", "prior", "prior"])
    expect(ownRatio.value).toBeCloseTo(180, 9)
    expect(PRIOR.value).toBeLessThan(other.value)
    expect(other.value).toBeLessThan(genre.value)
    expect(genre.value).toBeLessThan(ownRatio.value)
    const spreads = [ownRatio, genre, other, PRIOR].map(({ spread }) => spread)
    expect(spreads).toEqual(spreads.toSorted((a, b) => a - b))
  })

  test("an app without a rating or without a download does not change downloads per rating", () => {
    const empty = [
      { genre: "6015", downloads: 0, ratings: 5 },
      { genre: "6015", downloads: 5, ratings: 0 },
    ]
    expect(downloadsPerRating("ios", { ownFigures: empty[0]!, genre: "6015" }, empty)).toEqual(PRIOR)
  })
})

describe("downloads of thirty days", () => {
  test("the interval of downloads narrows with a second reading, with own apps and with the own ratio", () => {
    const three = downloadsPerRating(
      "ios",
      { ownFigures: null, genre: null },
      Array(3).fill({ genre: null, downloads: 80, ratings: 1 }),
    )
    const ownRatio = downloadsPerRating(
      "ios",
      { ownFigures: { genre: null, downloads: 80, ratings: 1 }, genre: null },
      [],
    )
    const many = 1_000_000
    const factors = [
      estimate([us(null)]),
      estimate([us(many)]),
      estimate([us(many)], three),
      estimate([us(many)], ownRatio),
    ]
    expect(factors.map((figure) => factorOf(figure!)[1])).toEqual([8.5, 4.9, 4.3, 3.6].map((x) => expect.closeTo(x, 1)))
  })

  test("downloads are added over storefronts, and a storefront that was not read adds nothing", () => {
    const estimateOfTwo = estimate([us(30), { ...us(12), storefront: "de", gain: gainOf(12, 10) }])!
    expect(estimateOfTwo.value).toBeCloseTo((30 + 36) * PRIOR.value, 6)
    expect(estimateOfTwo).toMatchObject({ markets: 2, days: 10, pairs: 0, coverage: null, basis: "prior" })
    expect(estimate([us(30), us(null, 5, null)])).toEqual(estimate([us(30)]))
    expect(estimate([us(null, 5, null)])).toBeNull()
    expect(estimate([])).toBeNull()
  })

  test("a gain of few ratings has a wider interval", () => {
    const factors = [1, 10, 1_000].map((gained) => factorOf(estimate([us(gained)])!)[1]!)
    expect(factors).toEqual(factors.toSorted((a, b) => b - a))
  })

  test("downloads without a new rating have only an upper bound, which is larger for a shorter span", () => {
    const none = { value: null, under: 1_000, low: 0, high: 1_000 }
    expect(estimate([us(0)])).toMatchObject(none)
    expect(estimate([{ ...us(0), gain: gainOf(0, 10) }])).toMatchObject({ ...none, under: 3_000, high: 3_000 })
    expect(estimate([us(null, 0)])).toMatchObject(none)
  })

  test("an unknown number of downloads is never zero, and low, value and high are always in order", () => {
    const storefront = fc.record({
      storefront: fc.constantFrom("us", "de", "jp"),
      ratings: fc.nat(100_000),
      gain: fc.option(
        fc.tuple(fc.nat(5_000), fc.integer({ min: 1, max: 30 })).map(([gained, days]) => gainOf(gained, days)),
      ),
      ageDays: fc.option(fc.integer({ min: 0, max: 5_000 })),
    })
    fc.assert(
      fc.property(fc.array(storefront, { maxLength: 4 }), (storefronts) => {
        const figure = estimate(storefronts)
        const isKnown = storefronts.some(({ gain, ageDays }) => gain || (ageDays ?? 0) >= 7)
        expect(figure === null).toBe(!isKnown)
        if (!figure) return
        expect((figure.value === null) !== (figure.under === null)).toBe(true)
        expect(figure.value).not.toBe(0)
        expect(figure.low).toBeLessThanOrEqual(figure.value ?? 0)
        expect(figure.high).toBeGreaterThanOrEqual(figure.value ?? figure.under!)
      }),
      SEEDED,
    )
  })

  test("a calibration of the month replaces the prior's interval", () => {
    const pairs = Array.from({ length: 30 }, (_, at) => ({ ratings: 5_000, stated: 100, truth: 100 + at }))
    const calibration = calibrateIntervals(pairs, 0.8)!
    const figure = estimateDownloads({ storefronts: [us(30)], ratio: PRIOR, level: 0.8, calibration })!
    expect(factorOf(figure)).toEqual([1.24, 1.24].map((factor) => expect.closeTo(factor, 9)))
    expect(figure).toMatchObject({ pairs: 30, coverage: calibration.coverage })
  })
})

describe("calibrated intervals", () => {
  const pairsOf = (n: number, seed: number): TruthPair[] => {
    const random = randomFrom(seed)
    return Array.from({ length: n }, () => {
      const error = random() + random() + random() - 1.5
      return { ratings: Math.round(10 ** (1 + 4 * random())), stated: 1_000, truth: 1_000 * 10 ** error }
    })
  }

  test.each([0.8, 0.9, 0.95] as const)("calibrated intervals have the stated coverage on new pairs: %d", (level) => {
    const { bands, coverage } = calibrateIntervals(pairsOf(2_000, 3), level)!
    expect(coverageOf(bands, pairsOf(20_000, 5))).toBeCloseTo(level, 1.5)
    expect(coverage).toBeCloseTo(level, 1.5)
  })

  test("calibrated intervals need twenty pairs, and a band with fewer than twenty uses all pairs", () => {
    expect(calibrateIntervals(pairsOf(19, 3), 0.8)).toBeNull()
    const small = pairsOf(300, 3).filter(({ ratings }) => ratings < 100)
    const { bands, pairs } = calibrateIntervals(small, 0.8)!
    expect(bands.map((band) => band.pairs)).toEqual(Array(4).fill(pairs))
  })

  test("calibrated intervals do not depend on the order, and a pair without a truth is ignored", () => {
    const pairs = pairsOf(200, 3)
    const calibration = calibrateIntervals(pairs, 0.8)
    expect(calibrateIntervals(shuffled(pairs, 9), 0.8)).toEqual(calibration)
    expect(calibrateIntervals([...pairs, { ratings: 10, stated: 5, truth: 0 }], 0.8)).toEqual(calibration)
  })

  test("a band contains the counts from its minimum to the minimum of the next band", () => {
    const { bands } = calibrateIntervals(pairsOf(500, 3), 0.8)!
    expect([0, 99, 100, 9_999, 10_000].map((ratings) => bandFor(bands, ratings).least)).toEqual([
      0, 0, 100, 1_000, 10_000,
    ])
  })
})

describe("total installs", () => {
  const facts = {
    ratings: 500,
    rating: 4.4,
    ageDays: 900,
    updatedDays: 60,
    priceUsd: 0,
    inApp: false,
    ads: true,
    category: "Tools",
  }

  test("an unknown fact is replaced by the value of an average app, not by zero", () => {
    const value = (more: Partial<typeof facts> | Record<string, null>) =>
      estimateInstalls({ ...facts, ...more }, null)!.value!
    expect(value({ priceUsd: 4.99 })).toBeLessThan(0.6 * value({}))
    expect(value({ ads: null })).toBeLessThan(value({ ads: true }))
    expect(value({ ads: null })).toBeGreaterThan(value({ ads: false }))
    expect(value({ category: "What no store has" })).toBe(value({ category: null }))
  })

  test("an estimate of installs needs ten ratings, and an age beyond the fit is limited to the oldest age", () => {
    expect(estimateInstalls({ ...facts, ratings: 9 }, null)).toBeNull()
    expect(estimateInstalls({ ...facts, ageDays: 8_000 }, null)).toEqual(
      estimateInstalls({ ...facts, ageDays: 4_000 }, null),
    )
  })
})

describe("revenue", () => {
  test("both ends of a revenue interval are at least a factor of six from the value", () => {
    const paid = paidRevenue({ ...estimate([us(30)])!, low: 2_000, high: 2_500, value: 2_300 }, 4.99)!
    const charted = grossingRevenue(20, 200, [
      { place: 1, usdADay: 9_000 },
      { place: 50, usdADay: 100 },
    ])!
    for (const figure of [paid, charted]) {
      for (const factor of factorOf(figure)) expect(factor).toBeGreaterThanOrEqual(MIN_FACTOR - 1e-9)
    }
  })

  test("revenue of a paid app is downloads times price, and unknown for a free app or without downloads", () => {
    const downloads = estimate([us(30)])!
    expect(paidRevenue(downloads, 10)!.value).toBeCloseTo(downloads.value! * 10 * PROCEEDS_SHARE, 6)
    expect(paidRevenue(downloads, 0)).toBeNull()
    expect(paidRevenue(downloads, null)).toBeNull()
    expect(paidRevenue(null, 10)).toBeNull()
    expect(paidRevenue(estimate([us(0)]), 2)).toMatchObject({ value: null, low: 0, under: 1_543, high: 1_543 })
  })

  test("revenue is interpolated between the anchor ranks and not extrapolated beyond them", () => {
    const monthly = (place: number) => grossingRevenue(place, 200, PUBLISHED_ANCHORS)
    expect(monthly(10)!.value).toBeCloseTo(30 * 47_000, 3)
    expect(monthly(50)!.value).toBeCloseTo(30 * 12_000, 3)
    const [ten, twenty, fifty] = [10, 20, 50].map((place) => monthly(place)!.value!) as [number, number, number]
    expect(ten).toBeGreaterThan(twenty)
    expect(twenty).toBeGreaterThan(fifty)
    expect(Math.log(ten / twenty) / Math.log(2)).toBeCloseTo(Math.log(ten / fifty) / Math.log(5), 6)
    for (const place of [1, 2, 9]) expect(monthly(place)).toBeNull()
    expect(monthly(51)).toMatchObject({ value: null, low: 0, under: 30 * 12_000 * MIN_FACTOR })
  })

  test("own revenue shifts the revenue of ranks, and days with an invalid rank or revenue are ignored", () => {
    const published = (place: number) => grossingRevenue(place, 200, PUBLISHED_ANCHORS)!.value! / 30
    const days = (times: number, places = [12, 15, 20, 25, 30, 40, 50]) =>
      places.map((place) => ({ place, usd: times * published(place) }))
    const weight = (apps: number) => (apps * ANCHOR_SPREAD ** 2) / (PLACE_SPREAD ** 2 + apps * ANCHOR_SPREAD ** 2)
    for (const times of [0.1, 0.5, 1, 3])
      for (const apps of [1, 2, 5])
        expect(Math.log10(grossingTimes(Array.from({ length: apps }, () => days(times)))!)).toBeCloseTo(
          weight(apps) * Math.log10(times),
          9,
        )
    // the curve continues below the last published rank
    const [ten, fifty] = [published(10), published(50)]
    const at250 = { place: 250, usd: fifty * (fifty / ten) }
    expect(grossingTimes([Array.from({ length: 7 }, () => at250)])).toBeCloseTo(1, 9)
    expect(grossingTimes([])).toBeNull()
    expect(grossingTimes([days(3).slice(1)])).toBeNull()
    expect(
      grossingTimes([[...days(3).slice(1), { place: 9, usd: 1e6 }, { place: 12, usd: 0 }, { place: 12, usd: -5 }]]),
    ).toBeNull()
    expect(grossingTimes([days(3)], PUBLISHED_ANCHORS.slice(1))).toBeNull()
    // an app with too few days has no influence if another app has enough
    expect(grossingTimes([days(3), days(50).slice(1)])).toBe(grossingTimes([days(3)]))
  })

  test("an uncharted app gets the revenue estimate of the deepest chart's last rank", () => {
    expect(grossingRevenue(null, 100, PUBLISHED_ANCHORS)).toEqual(grossingRevenue(100, 100, PUBLISHED_ANCHORS))
    expect(grossingRevenue(null, 30, PUBLISHED_ANCHORS)!.under).toBeGreaterThan(
      grossingRevenue(null, 100, PUBLISHED_ANCHORS)!.under!,
    )
    expect(grossingRevenue(null, null, PUBLISHED_ANCHORS)).toBeNull()
    expect(grossingRevenue(20, 200, PUBLISHED_ANCHORS.slice(1))).toBeNull()
    expect(grossingRevenue(20, 200, [])).toBeNull()
  })
})
