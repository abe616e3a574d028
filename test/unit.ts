/**
 * Returns how much slower the machine is than when idle: 1 when idle, 10 if ten processes compete for each core. A test
 * with a fixed wait or time limit multiplies it by this factor.
 */
export async function slowness(): Promise<number> {
  const startedAt = performance.now()
  for (let turn = 0; turn < TURNS; turn++) {
    burn()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return Math.min(20, Math.max(1, (performance.now() - startedAt) / (TURNS * TURN_MS)))
}

const TURNS = 8
/** Duration of a measurement on an idle machine, which consists of 3 ms of work and a timer. */
const TURN_MS = 5

function burn(): void {
  let sum = 0
  for (let i = 0; i < 2_000_000; i++) sum = (sum * 31 + i) | 0
  if (sum === 1) throw new Error("never")
}
