// bun test/bench/popularity.ts — how far the popularity that is shown is from Apple's own figure, on terms that it was not
// fitted on, beside a constant and beside the first app's ratings alone; and the line that maps it to the scale of Apple's
// monthly report. All from the 187 terms of fixtures/upstream/search-ratings-us-2025-10-25.jsonl.
import { CHECKED } from "../../src/formulas/popularity.ts"
import { blendOf, calibratedTerms, interval } from "../formulas/calibration.ts"
import { constantError, firstAppAlone, fittedLine, type Measured, shownFigure } from "../formulas/popularity-error.ts"

const terms = calibratedTerms()
const apples = terms.map(({ popularity }) => popularity)
console.log(`${terms.length} terms, Apple's popularity ${Math.min(...apples)} to ${Math.max(...apples)}`)
console.log("error on terms that nothing was fitted on (RMSE), and rank correlation (95 % of resamples)")
show("the estimate as it is shown", shownFigure(terms))
show("the first app's ratings alone", firstAppAlone(terms))
console.log(`a constant: ${constantError(terms).toFixed(1)}`)
console.log(`stated: ${JSON.stringify(CHECKED)}`)

const pairs = terms.map((term) => ({ x: blendOf(term), y: term.popularity }))
const line = fittedLine(pairs)
const [low, high] = interval(pairs, (sample) => fittedLine(sample).slope, 200)
console.log(
  `\nLINE = { start: ${line.start.toFixed(2)}, slope: ${line.slope.toFixed(3)} }` +
    `, slope from ${low.toFixed(2)} to ${high.toFixed(2)}, spread ${line.spread.toFixed(1)}`,
)

function show(what: string, { error, correlation, between: [low, high] }: Measured): void {
  console.log(`${what}: ${error.toFixed(1)}, ${correlation.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`)
}
