// bun test/bench/popularity.ts [FILE…] — how well the popularity estimate goes with Apple's own figures, and the line that
// maps it to Apple's scale. Without a FILE on the 36 terms that come with the project. FILE is a dashboard or analysis of
// the public repository drewster99/appstore, which names some 150 terms more: gold/output/batch_1_dashboard.html and
// batch_2_dashboard.html at its commit 5239a226b7714508513c9e9796e1306ac45ab56046.
import { readFileSync } from "node:fs"
import { appleScale } from "../../src/formulas/popularity.ts"
import { blendOf, type Calibrated, interval, shippedTerms, spearman } from "../formulas/calibration.ts"
import { expectedAbove, type Line, mean, type Pair, plainLine, rms, truncatedLine } from "../formulas/truncated.ts"

// All terms of the public analyses were chosen among those of popularity 70 and more; the figures are whole numbers.
const LEAST = 69.5
const FOLDS = 6
const ENOUGH_TO_FIT = 100

const terms = merge([...process.argv.slice(2).flatMap(analysed), ...shippedTerms()])
const apples = terms.map(({ popularity }) => popularity)
console.log(`${terms.length} terms, Apple's popularity ${Math.min(...apples)} to ${Math.max(...apples)}`)

console.log("\nrank correlation with Apple's figure (95 % of resamples)")
showCorrelation("estimate, by ratings alone", blendOf)
showCorrelation("ratings of the first app", topApp)
console.log("a constant: none, it ranks nothing")

console.log("\nthe estimate as it is given")
const given = terms.map((term) => appleScale(blendOf(term)) - term.popularity)
console.log(`RMSE ${rms(given).toFixed(1)}, on average ${mean(given).toFixed(1)} beside Apple's figure`)

if (terms.length < ENOUGH_TO_FIT) console.log(`\nno line is fitted to fewer than ${ENOUGH_TO_FIT} terms`)
else fit()

function showCorrelation(what: string, of: (term: Calibrated) => number): void {
  const figure = (sample: Calibrated[]) =>
    spearman(
      sample.map(of),
      sample.map(({ popularity }) => popularity),
    )
  const [low, high] = interval(terms, figure)
  console.log(`${what}: ${figure(terms).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}), n = ${terms.length}`)
}

function fit(): void {
  console.log(`\n${FOLDS}-fold: a line fitted to the others, for each term what is expected of it as one of the chosen`)
  crossValidate("truncated line on the blend", pairsBy(blendOf), (line, x) => expectedAbove(line, x, LEAST))
  crossValidate(
    "ordinary line on the first app",
    pairsBy(topApp),
    ({ start, slope }, x) => start + slope * x,
    plainLine,
  )
  crossValidate("a constant", pairsBy(blendOf), ({ start }) => start, constant)
  const line = truncatedLine(pairsBy(blendOf), LEAST)
  const [low, high] = interval(pairsBy(blendOf), (sample) => truncatedLine(sample, LEAST).slope, 200)
  console.log(
    `\nLINE = { start: ${line.start.toFixed(2)}, slope: ${line.slope.toFixed(3)} }` +
      `, slope from ${low.toFixed(2)} to ${high.toFixed(2)}, spread ${line.spread.toFixed(1)}`,
  )
}

function crossValidate(
  what: string,
  pairs: Pair[],
  predict: (line: Line, x: number) => number,
  fitted = (training: Pair[]) => truncatedLine(training, LEAST),
): void {
  const predicted = pairs.map(() => 0)
  for (let fold = 0; fold < FOLDS; fold++) {
    const line = fitted(pairs.filter((_, i) => i % FOLDS !== fold))
    pairs.forEach(({ x }, i) => {
      if (i % FOLDS === fold) predicted[i] = predict(line, x)
    })
  }
  const truth = pairs.map(({ y }) => y)
  const error = rms(pairs.map(({ y }, i) => y - (predicted[i] as number)))
  console.log(`${what}: RMSE ${error.toFixed(2)}, rank correlation ${spearman(predicted, truth).toFixed(2)}`)
}

function pairsBy(of: (term: Calibrated) => number): Pair[] {
  return terms.map((term) => ({ x: of(term), y: term.popularity }))
}

function constant(pairs: Pair[]): Line {
  return { start: mean(pairs.map(({ y }) => y)), slope: 0, spread: 0 }
}

function topApp({ apps }: Calibrated): number {
  return Math.log10(1 + (apps[0]?.ratings ?? 0))
}

/** Each term once, in an order that does not hang on the files'. */
function merge(all: Calibrated[]): Calibrated[] {
  const byTerm = new Map(all.map((one) => [one.term, one]))
  return [...byTerm.values()].sort((a, b) => (a.term < b.term ? -1 : 1))
}

interface Analysed {
  input: { search_term: string; popularity_overall: number }
  analysis?: { apps?: { title: string; rating_count: number; latest_release: string }[] }
}

/** The terms of a JSON analysis, or of a dashboard, which holds one on a line of its own. */
function analysed(file: string): Calibrated[] {
  const text = readFileSync(file, "utf8")
  const inPage = /^\s*const rawData = (\[.*\]);\s*$/mu.exec(text)?.[1]
  const rows: Analysed[] = inPage === undefined ? JSON.parse(text).results : JSON.parse(inPage)
  return rows.flatMap(({ input, analysis }) => {
    const apps = (analysis?.apps ?? []).slice(0, 10).map(({ title, rating_count, latest_release }) => ({
      title,
      ratings: rating_count,
      updatedAt: new Date(latest_release),
    }))
    return apps.length === 0 ? [] : [{ term: input.search_term, popularity: input.popularity_overall, apps }]
  })
}
