// Measures how long the request thread was blocked: the processor time of single turns of its event loop. On Linux.
import { dlopen } from "bun:ffi"

const { clock_gettime: readClock } = dlopen("libc.so.6", {
  clock_gettime: { args: ["i32", "ptr"], returns: "i32" },
}).symbols
const THREAD_CPUTIME = 3
const time = new BigInt64Array(2)

/**
 * Returns the milliseconds that a fixed piece of work takes on this machine now. Blocking times are given in this unit,
 * so that machines can be compared.
 */
export function unitMs(): number {
  let min = Number.POSITIVE_INFINITY
  for (let round = 0; round < 30; round++) {
    const startedAt = processorMs()
    JSON.parse(WORK)
    JSON.stringify(PARSED)
    min = Math.min(min, processorMs() - startedAt)
  }
  return min
}

const PARSED = Array.from({ length: 1_000 }, (_, i) => ({ term: `keyword ${i}`, rank: i % 30, day: "2025-11-20" }))
const WORK = JSON.stringify(PARSED)

/**
 * Returns the longest turn of the event loop during some work, in milliseconds. Time of other processes on the core
 * does not count.
 */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let [isOver, longest] = [false, 0]
  const turn = (before: number) => {
    const now = processorMs()
    longest = Math.max(longest, now - before)
    if (!isOver) setImmediate(turn, now)
  }
  await new Promise((resolve) => setImmediate(resolve))
  setImmediate(turn, processorMs())
  try {
    await work()
  } finally {
    // the last turn counts too
    await new Promise((resolve) => setImmediate(resolve))
    isOver = true
  }
  return longest
}

/**
 * Returns the time of this thread only, because the thread of a database and those of the garbage collector block no
 * request. process.threadCpuUsage counts in whole ticks.
 */
function processorMs(): number {
  readClock(THREAD_CPUTIME, time)
  return Number(time[0]) * 1_000 + Number(time[1]) / 1e6
}
