// Measures how often rules find the right topics of labelled reviews.

import { randomOf } from "../measuring/record/listed.ts"
import { type Agreement, agreementOf, HELD_OUT, LABELLED, precisionOf, recallOf } from "../texts/label-agreement.ts"

/**
 * Measures the rules for topics. Rules are improved on the labelled reviews, so only the held-out reviews show their
 * accuracy. Draw new held-out reviews after improving rules on these.
 */
export function measureLabels(): void {
  const { all, ...each } = agreementOf(HELD_OUT)
  const [precision, recall] = [spread(precisionOf), spread(recallOf)]
  console.log(
    `topics of ${HELD_OUT.length} labelled reviews that were held out, precision and recall: ` +
      `all ${withSpan(precisionOf(all), precision)} and ${withSpan(recallOf(all), recall)}; ` +
      "the bars are 0.85 and 0.70",
  )
  for (const [topic, { both, rules, labels }] of Object.entries(each))
    console.log(`  ${topic}: right ${share(both, both + rules)}, found ${share(both, both + labels)}`)
  const mended = agreementOf(LABELLED).all
  console.log(
    `  of ${LABELLED.length} on which rules are mended: ${round(precisionOf(mended))} and ` +
      `${round(recallOf(mended))}`,
  )
}

/**
 * Returns the 95 % range over 2,000 samples of the held-out reviews. Each sample is drawn by review with repetition,
 * because topics of one review are correlated.
 */
function spread(score: (agreement: Agreement) => number): [number, number] {
  const single = HELD_OUT.map((review) => agreementOf([review]).all)
  const random = randomOf(1)
  const scores = Array.from({ length: 2_000 }, () => {
    const sample = single.map(() => single[Math.floor(random() * single.length)]!)
    const total = (key: keyof Agreement) => sample.reduce((sum, row) => sum + row[key], 0)
    return score({ both: total("both"), rules: total("rules"), labels: total("labels") })
  }).sort((a, b) => a - b)
  return [scores[50]!, scores[1_949]!]
}

function withSpan(value: number, [low, high]: [number, number]): string {
  return `${round(value)} (${round(low)} to ${round(high)})`
}

/** Formats a count, its total and the Wilson interval. */
function share(k: number, n: number): string {
  return n === 0 ? "none of 0" : `${k} of ${n} (${wilson(k, n).map(round).join(" to ")})`
}

/** Returns the 95 % interval of a share. */
function wilson(k: number, n: number): [number, number] {
  const z = 1.96
  const middle = (k + (z * z) / 2) / (n + z * z)
  const half = (z / (n + z * z)) * Math.sqrt((k * (n - k)) / n + (z * z) / 4)
  return [middle - half, middle + half]
}

function round(value: number): string {
  return value.toFixed(2)
}
