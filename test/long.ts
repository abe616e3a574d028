import { afterAll, beforeAll, test } from "bun:test"
import { join } from "node:path"

/** `.ci/run` tries everything at length; `run test` tries the same promises with fewer cases, kills and rounds. */
export const LONG = process.env.LONG === "1"

/** How many: in short, and at length. */
export const cases = (short: number, long: number): number => (LONG ? long : short)

/** On a server a statement costs a third of what it does in the embedded database: there nothing is left out. */
export const isLeftOut = !LONG && process.env.DATABASE_URL === undefined

/** A test that takes seconds, tried at length and on a server; what keeps its promise in short stands beside it. */
export const long = test.skipIf(isLeftOut)

/** What `long` tests alone need: bun makes it ready for skipped tests too. */
export const beforeLong: typeof beforeAll = (hook) => isLeftOut || beforeAll(hook)
export const afterLong: typeof afterAll = (hook) => isLeftOut || afterAll(hook)

/** The files of which `run test` has just tried all that is the same at length: .ci/run names them. */
const TRIED = new Set(
  (process.env.TRIED_IN_SHORT ?? "").split(" ").map((path) => join(import.meta.dirname, "..", path)),
)

/**
 * A test that takes seconds and is the same at length, of which nothing after it in its file makes use: where `run test` has
 * tried it just before, it is left out.
 */
export const short = Object.assign((...one: Parameters<typeof test>) => untried()(...one), {
  each: ((...rows: Parameters<typeof test.each>) => untried().each(...rows)) as typeof test.each,
})

const untried = () => test.skipIf(TRIED.has(Bun.main))
