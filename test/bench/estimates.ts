// bun test/bench/estimates.ts [fit | cut | FILE] — measures the accuracy of the estimates on exact truth: apps of
// Google Play with the store's own counts of installs, of July 2020 and June 2021. Prints level and growth in
// comparison with published constants, the coverage of intervals, apps without a new rating, measured downloads, and
// one reading of iOS. Calculates everything but the level by the product's own formulas, and leaves a fifth of the
// apps, chosen by id, out of every fit. FILE: measures the level on the rows of another file of the same form. fit:
// prints test/market/formulas/installs/level-fit.ts. cut: writes the rows of the tests.
import { writeFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { calibrateIntervals, coverageOf } from "../../src/market/formulas/conformal.ts"
import { type EstimatePair, scoreIntervals, scoreOf } from "../../src/market/formulas/scores.ts"
import * as backTest from "../market/formulas/back-test.ts"
import { fitLevel, installsOf } from "../market/formulas/installs/level.ts"
import type { LevelFit } from "../market/formulas/installs/level-fit.ts"
import * as play from "../market/formulas/play-apps.ts"
import { cutOf, levelFitFile } from "./estimates-files.ts"
import { readPaces, readSlopes } from "./estimates-signals.ts"

const [command] = process.argv.slice(2)
if (!play.isAllHere)
  console.log("All apps are not at hand (../shared/data/21-…): figures are those of the cut alone.\n")
const apps = play.appsOf(play.isAllHere ? play.ALL : play.SOME)

if (command === "fit") {
  const fitted = play.ratedOnce(apps).filter((app) => !play.isLeftOut(app))
  process.stdout.write(levelFitFile(fitLevel(fitted), fitted.length))
} else if (command === "cut") {
  writeFileSync(play.SOME, gzipSync(cutOf(play.ALL, apps), { level: 9 }))
} else if (command) {
  levelOfLeftOut(play.appsOf(command).filter(({ facts, installs }) => facts.ratings >= 10 && installs > 0))
} else {
  if (play.isAllHere) levelElevenMonthsLater()
  levelOfLeftOut(play.ratedOnce(apps).filter(play.isLeftOut))
  growth()
  rules()
  signals()
}

/** Section one: fits on July 2020, and tests on other apps of June 2021. */
function levelElevenMonthsLater(): void {
  const earlier = play.shuffled(play.ratedOnce(apps, "2020-07"), 17)
  const later = play.ratedOnce(apps, "2021-06")
  const at = Math.floor(0.7 * earlier.length)
  const [fitted, calibrated] = [earlier.slice(0, at), earlier.slice(at)]
  console.log(`Installs so far: fitted on ${fitted.length} apps of 2020-07, tried on ${later.length} others of 2021-06`)
  const fit = fitLevel(fitted)
  const constant = middleRatio(fitted)
  for (const [name, estimate] of [
    ["ratings ÷ 0.012 (published)", ({ facts }: play.PlayApp) => facts.ratings / 0.012],
    ["ratings ÷ 0.02 (published)", ({ facts }: play.PlayApp) => facts.ratings / 0.02],
    [`A ratings × ${constant.toFixed(0)}`, ({ facts }: play.PlayApp) => facts.ratings * constant],
    ["B a power of ratings", powerOf(fitted)],
    ["C what the page shows", ({ facts }: play.PlayApp) => installsOf(facts, fit) as number],
  ] as const) {
    score(
      name,
      later.map((app) => ({ value: estimate(app), truth: app.installs })),
    )
  }
  stale(fit, calibrated, later)
  show("C, 300 truths of the month", backTest.drawCoverage(later, 0.8, fit))
  show("… 90 %", backTest.drawCoverage(later, 0.9, fit))
}

function stale(fit: LevelFit, calibrated: play.PlayApp[], later: play.PlayApp[]): void {
  const old = calibrateIntervals(play.truthPairs(calibrated, fit), 0.8)!
  const covered = coverageOf(old.bands, play.truthPairs(later, fit))
  console.log(`  C, interval of eleven months before: an 80 % interval covers ${percent(covered)}`)
}

function levelOfLeftOut(rows: play.PlayApp[]): void {
  const months = [...Map.groupBy(rows, (app) => app.month)].sort()
  if (months.length > 1) months.push(["both months", rows])
  for (const [month, those] of months) {
    console.log(`\nInstalls so far, of ${those.length} apps of ${month} that it was not fitted on`)
    score(
      "ratings ÷ 0.012 (published)",
      those.map(({ facts, installs }) => ({ value: facts.ratings / 0.012, truth: installs })),
    )
    score(
      "by what the page shows",
      those.map(({ facts, installs }) => ({ value: installsOf(facts) as number, truth: installs })),
    )
    if (those !== rows && those.length > 2 * backTest.TRUTHS)
      show("300 truths of the month", backTest.drawCoverage(those))
  }
}

function growth(): void {
  const growing = backTest.growingApps(play.appsTwice(apps))
  console.log(`\nInstalls gained in ${play.APART} days: ${growing.length} apps with gains in both`)
  const truthOf = ({ first, second }: play.AppTwice) => second.installs - first.installs
  const ratingsGained = ({ first, second }: play.AppTwice) => second.facts.ratings - first.facts.ratings
  score(
    "ratings gained ÷ 0.012",
    growing.map((app) => ({ value: ratingsGained(app) / 0.012, truth: truthOf(app) })),
  )
  const byPrior = growing.map((app) => ({ estimate: backTest.estimateTwice(app, false)!, truth: truthOf(app) }))
  score(
    "… by the store's prior",
    byPrior.map(({ estimate, truth }) => ({ value: estimate.value!, truth })),
  )
  intervals(byPrior)
  const lifetime = ({ first }: play.AppTwice) => (first.installs * play.APART) / first.facts.ageDays!
  score(
    "lifetime mean",
    growing.map((app) => ({ value: lifetime(app), truth: truthOf(app) })),
  )
  const estimates = growing.map((app) => ({ estimate: backTest.estimateTwice(app)!, truth: truthOf(app) }))
  score(
    "by its own ratio",
    estimates.map(({ estimate, truth }) => ({ value: estimate.value!, truth })),
  )
  intervals(estimates)
}

function intervals(graded: Parameters<typeof scoreIntervals>[0]): void {
  const { n, covered, width } = scoreIntervals(graded)!
  console.log(`  its stated 80 % interval holds ${Math.round(covered * n)} of ${n}, ×/÷${width.toFixed(1)}`)
}

function rules(): void {
  const twice = play.appsTwice(apps)
  const unrated = backTest.unratedApps(twice)
  const lowest = unrated.filter((app) => backTest.estimateTwice(app)?.under === 1_000)
  console.log(`\nApps without a new rating: ${lowest.length} of ${unrated.length} are "under 1,000"`)
  const truth = ({ first, second }: play.AppTwice) => second.installs - first.installs
  const measured = twice.filter((app) => backTest.measureTwice(app) === truth(app)).length
  const doubled = twice.filter((app) => backTest.measureDoubled(app)?.value === truth(app)).length
  console.log(
    `Measured downloads are the difference: ${measured} of ${twice.length}; count doubled for three days: ${doubled}`,
  )
}

/** Prints the accuracy of a single reading, and the slope of published chart figures over the rank. */
function signals(): void {
  const paces = readPaces()
  if (!paces) return
  console.log(`\nRatings of a month from one reading (iOS): ${paces.length} apps with a gain between two`)
  score(
    "half of the lifetime mean",
    paces.map(({ estimate, truth }) => ({ value: estimate.value as number, truth })),
  )
  const { covered, width } = scoreIntervals(paces)!
  console.log(`  its stated 80 % interval holds ${percent(covered)}, ×/÷${width.toFixed(1)}`)
  console.log("\nPublished figures of two places of a chart: by which power of the place they fall")
  for (const { chart, places, slope } of readSlopes()) {
    console.log(`  ${chart.padEnd(55)} ${places.join(" to ").padEnd(9)} ${slope.toFixed(2)}`)
  }
}

function middleRatio(fitted: readonly play.PlayApp[]): number {
  const ratios = fitted.map(({ facts, installs }) => installs / facts.ratings).sort((a, b) => a - b)
  return ratios[Math.floor(ratios.length / 2)]!
}

/** Fits log installs to log ratings by least squares. */
function powerOf(fitted: readonly play.PlayApp[]): (app: play.PlayApp) => number {
  const points = fitted.map(({ facts, installs }) => [Math.log10(facts.ratings), Math.log10(installs)] as const)
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const slope =
    points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0) / points.reduce((sum, [a]) => sum + (a - x) ** 2, 0)
  return ({ facts }) => 10 ** (y + slope * (Math.log10(facts.ratings) - x))
}

function score(name: string, graded: readonly EstimatePair[]): void {
  const { order, medianError, medianAbsLog10, withinTwo } = scoreOf(graded)!
  console.log(
    `  ${name.padEnd(30)} ρ ${order.toFixed(3)}, median error ${percent(medianError)}, ` +
      `|log10| ${medianAbsLog10.toFixed(3)}, within ×2 ${percent(withinTwo)}`,
  )
}

function show(name: string, { covered, between: [low, high], width }: backTest.Drawn): void {
  console.log(
    `  ${name.padEnd(30)} covers ${(100 * covered).toFixed(1)} % (90 % of draws ${percent(low)} to ` +
      `${percent(high)}), ×/÷${width.toFixed(1)}`,
  )
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}
