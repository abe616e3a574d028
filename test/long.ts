import { afterAll, beforeAll, test } from "bun:test"

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

/**
 * A test that takes seconds and is the same at length, of which nothing after it in its file makes use: where `run test` has
 * tried it just before, on the same database, it is left out.
 */
export const short = test.skipIf(process.env.TRIED_IN_SHORT === "1")
