import { expect, test } from "bun:test"
import { scoreIntervals, scoreOf } from "../../../src/market/formulas/scores.ts"
import { RATINGS_TEST } from "../../../src/market/operations/estimates/estimate.ts"
import { slow } from "../../long.ts"
import { drawCoverage, estimateTwice, growingApps, measureDoubled, measureTwice, unratedApps } from "./back-test.ts"
import { installsOf } from "./installs/level.ts"
import { type AppTwice, appsOf, appsTwice, isLeftOut, type PlayApp, ratedOnce, SOME } from "./play-apps.ts"

const apps = appsOf(SOME)
const leftOut = ratedOnce(apps)
const readTwice = appsTwice(apps)
const gainedBy = ({ first, second }: AppTwice) => second.installs - first.installs
const level = (sample: readonly PlayApp[]) =>
  scoreOf(sample.map(({ facts, installs }) => ({ value: installsOf(facts)!, truth: installs })))!
const byConstant = (sample: readonly PlayApp[], perInstall: number) =>
  scoreOf(sample.map(({ facts, installs }) => ({ value: facts.ratings / perInstall, truth: installs })))!

test("the fixtures contain exactly the rows that no fit used and the fifty apps that were read twice", () => {
  expect(leftOut.filter((app) => !isLeftOut(app))).toEqual([])
  expect(leftOut).toHaveLength(2_236)
  expect(readTwice).toHaveLength(50)
})

test("estimates of total installs are as accurate as documented for apps outside the fit", () => {
  const { medianAbsLog10, order } = level(leftOut)
  expect(medianAbsLog10).toBeLessThanOrEqual(0.25)
  expect(order).toBeGreaterThanOrEqual(0.9)
})

test.each(["2020-07", "2021-06"])(
  "estimates of total installs in %s are more accurate than the published constants",
  (month) => {
    const sample = leftOut.filter((app) => app.month === month)
    const { medianAbsLog10, order } = level(sample)
    expect(medianAbsLog10).toBeLessThanOrEqual(0.25)
    expect(order).toBeGreaterThanOrEqual(0.9)
    for (const perInstall of [0.012, 0.02]) {
      const published = byConstant(sample, perInstall)
      expect(published.medianAbsLog10 - medianAbsLog10).toBeGreaterThan(0.1)
      expect(order).toBeGreaterThan(published.order + 0.03)
    }
  },
)

slow.each(["2020-07", "2021-06"])(
  "an 80 %% interval covers 77 to 83 %% of the apps of %s after 300 true counts of that month",
  (month) => {
    const { covered, width } = drawCoverage(leftOut.filter((app) => app.month === month))
    expect(covered).toBeGreaterThanOrEqual(0.77)
    expect(covered).toBeLessThanOrEqual(0.83)
    expect(width).toBeLessThan(4.5)
  },
)

test("gained installs estimated with the app's own ratio have the documented error and coverage", () => {
  const growing = growingApps(readTwice)
  const estimates = growing.map((app) => ({ estimate: estimateTwice(app)!, truth: gainedBy(app) }))
  const { medianAbsLog10, order } = scoreOf(
    estimates.map(({ estimate, truth }) => ({ value: estimate.value!, truth })),
  )!
  expect(medianAbsLog10).toBeLessThanOrEqual(0.2)
  expect(order).toBeGreaterThanOrEqual(0.9)
  const { n, covered } = scoreIntervals(estimates)!
  expect(n).toBe(26)
  expect(Math.round(covered * n)).toBeGreaterThanOrEqual(20)
  expect(estimates.filter(({ estimate }) => estimate.basis !== "own" || estimate.level !== 0.8)).toEqual([])
})

test("the documented error of estimates with the store's prior equals the error in the back-test", () => {
  const graded = growingApps(readTwice).map((app) => ({ estimate: estimateTwice(app, false)!, truth: gainedBy(app) }))
  const { n, medianError } = scoreOf(graded.map(({ estimate, truth }) => ({ value: estimate.value!, truth })))!
  const { covered } = scoreIntervals(graded)!
  expect(RATINGS_TEST).toEqual({
    month: "2021-06",
    n,
    medianError: Math.round(medianError * 100),
    coverage: Math.round(covered * 100) / 100,
  })
})

test("apps without a new rating have only an upper bound, and their installs are below it", () => {
  const unrated = unratedApps(readTwice)
  expect(unrated).toHaveLength(13)
  for (const app of unrated) {
    expect(estimateTwice(app)).toMatchObject({ value: null, under: 1_000, low: 0, high: 1_000 })
    expect(gainedBy(app)).toBeLessThan(1_000)
  }
})

test("an app whose rating count fell has no estimate", () => {
  const fallen = readTwice.filter(({ first, second }) => second.facts.ratings < first.facts.ratings)
  expect(fallen.length).toBeGreaterThan(0)
  expect(fallen.map((app) => estimateTwice(app))).toEqual(fallen.map(() => null))
})

test("downloads on Android are the difference of two counts, even if a count is doubled for three days", () => {
  expect(readTwice.map(measureTwice)).toEqual(readTwice.map(gainedBy))
  expect(readTwice.map(measureDoubled)).toEqual(readTwice.map((app) => ({ value: gainedBy(app), days: 30 })))
})
