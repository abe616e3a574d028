/** Number of steps of the descent. The weights of 30 controls are stable to the fourth digit after about 100. */
const STEPS = 300

/**
 * Returns synthetic-control weights (Abadie, Diamond and Hainmueller 2010): the mix of controls, with weights of at
 * least 0 that sum to 1, that is nearest to the treated series on the days before. Uses accelerated projected gradient
 * descent (Nesterov 1983) with a fixed number of steps: the same days always give the same weights.
 */
export function controlWeights(treated: Float64Array, controls: readonly Float64Array[]): number[] {
  const count = controls.length
  const gram = controls.map((control) => controls.map((other) => dot(control, other)))
  const target = controls.map((control) => dot(control, treated))
  // The largest row sum is an upper bound of the largest eigenvalue.
  const steepest = Math.max(...gram.map((row) => row.reduce((sum, value) => sum + Math.abs(value), 0)))
  const start = new Array<number>(count).fill(1 / count)
  if (!(steepest > 0)) return start
  let [weights, ahead, momentum] = [start, start, 1]
  for (let step = 0; step < STEPS; step++) {
    const from = ahead
    const slope = gram.map((row, at) => dot(row, from) - (target[at] as number))
    const next = onSimplex(from.map((weight, at) => weight - (slope[at] as number) / steepest))
    const faster = (1 + Math.sqrt(1 + 4 * momentum * momentum)) / 2
    const was = weights
    ahead = next.map((weight, at) => weight + ((momentum - 1) / faster) * (weight - (was[at] as number)))
    weights = next
    momentum = faster
  }
  return weights
}

/** Projects onto the weights of at least 0 that sum to 1 (Held, Wolfe and Crowder 1974). */
export function onSimplex(point: readonly number[]): number[] {
  const sorted = [...point].sort((a, b) => b - a)
  let [sum, over] = [0, 0]
  for (const [at, value] of sorted.entries()) {
    sum += value
    const level = (sum - 1) / (at + 1)
    if (value > level) over = level
  }
  return point.map((value) => Math.max(0, value - over))
}

function dot(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0
  for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number)
  return sum
}
