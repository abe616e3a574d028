/** A known answer with its features. Null if a feature is unknown. */
interface Example {
  features: readonly (number | null)[]
  answer: number
}

/** answer = intercept + Σ weight · (feature - mean). An unknown feature takes its mean. */
export interface LinearFit {
  intercept: number
  means: number[]
  weights: number[]
}

/**
 * A linear fit with ridge penalty and Huber's loss: weights shrink towards zero, and an outlier pulls no harder than an
 * error of HUBER. Features are standardised first, so the penalty is a number of examples: a feature with few examples
 * shrinks more.
 *
 * Source: Hoerl and Kennard, Technometrics 12 (1970); Huber, Annals of Mathematical Statistics 35 (1964), by
 * reweighting.
 */
export function fitRidge(examples: readonly Example[], penalty: number): LinearFit {
  const width = examples[0]?.features.length ?? 0
  const means = Array.from({ length: width }, (_, at) => meanOf(examples, at))
  const scales = means.map((mean, at) => scaleOf(examples, at, mean))
  const rows = examples.map(({ features }) => [...standardised(features, means, scales), 1])
  const answers = examples.map(({ answer }) => answer)
  let solved = solveWeighted(
    rows,
    answers,
    answers.map(() => 1),
    penalty,
  )
  for (let round = 0; round < ROUNDS; round++) {
    const pulls = rows.map((row, i) => HUBER / Math.max(HUBER, Math.abs((answers[i] as number) - dot(row, solved))))
    solved = solveWeighted(rows, answers, pulls, penalty)
  }
  const weights = scales.map((scale, at) => (scale === 0 ? 0 : (solved[at] as number) / scale))
  return { intercept: solved[width] as number, means, weights }
}

export function predict({ intercept, means, weights }: LinearFit, features: readonly (number | null)[]): number {
  return features.reduce<number>((sum, feature, at) => {
    return feature === null ? sum : sum + (weights[at] as number) * (feature - (means[at] as number))
  }, intercept)
}

const HUBER = 0.15
const ROUNDS = 12

function meanOf(examples: readonly Example[], at: number): number {
  const present = examples.flatMap(({ features }) => features[at] ?? [])
  return present.length === 0 ? 0 : present.reduce((sum, value) => sum + value, 0) / present.length
}

function scaleOf(examples: readonly Example[], at: number, mean: number): number {
  const squares = examples.reduce((sum, { features }) => sum + ((features[at] ?? mean) - mean) ** 2, 0)
  return Math.sqrt(squares / examples.length)
}

function standardised(features: readonly (number | null)[], means: number[], scales: number[]): number[] {
  return features.map((feature, at) => {
    const scale = scales[at] as number
    return feature === null || scale === 0 ? 0 : (feature - (means[at] as number)) / scale
  })
}

/** The last column is the intercept, which has no penalty. */
function solveWeighted(rows: number[][], answers: number[], pulls: number[], penalty: number): number[] {
  const width = (rows[0] as number[]).length
  const matrix = Array.from({ length: width }, (_, at) => {
    const line = new Float64Array(width + 1)
    line[at] = at === width - 1 ? 0 : penalty
    return line
  })
  rows.forEach((row, i) => {
    for (let at = 0; at < width; at++) {
      const weighed = (row[at] as number) * (pulls[i] as number)
      if (weighed === 0) continue
      const line = matrix[at] as Float64Array
      for (let across = at; across < width; across++) line[across]! += weighed * (row[across] as number)
      line[width]! += weighed * (answers[i] as number)
    }
  })
  for (let at = 0; at < width; at++) {
    for (let across = 0; across < at; across++) matrix[at]![across] = matrix[across]![at] as number
  }
  return eliminated(matrix)
}

/** Gaussian elimination with the largest pivot. A column of zeros gets no weight. */
function eliminated(matrix: Float64Array[]): number[] {
  const width = matrix.length
  for (let at = 0; at < width; at++) {
    let best = at
    for (let i = at; i < width; i++) if (Math.abs(matrix[i]![at]!) > Math.abs(matrix[best]![at]!)) best = i
    ;[matrix[at], matrix[best]] = [matrix[best]!, matrix[at]!]
    const pivot = matrix[at]![at]!
    if (pivot === 0) continue
    for (let i = 0; i < width; i++) {
      const times = i === at ? 0 : matrix[i]![at]! / pivot
      if (times === 0) continue
      for (let across = at; across <= width; across++) matrix[i]![across]! -= times * matrix[at]![across]!
    }
  }
  return matrix.map((line, at) => (line[at] === 0 ? 0 : line[width]! / line[at]!))
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] as number), 0)
}
