import { afterAll, beforeAll, test } from "bun:test"

/** `.ci/long` runs everything completely. `run test` runs the same tests with fewer cases, kills and rounds. */
export const LONG = process.env.LONG === "1"

/** Returns how many cases to run: few, or all in a long run. */
export const cases = (short: number, long: number): number => (LONG ? long : short)

export const isLeftOut = !LONG

/** Whether this run leaves out tests that take longer than a fifth of a second. */
export const isQuick = !LONG && process.env.SLOW !== "1"

/**
 * A test that takes seconds and runs only in a long run. In other runs, a shorter test of the same file covers its
 * subject.
 */
export const long = test.skipIf(isLeftOut)

/** A test that takes more than a fifth of a second. `.ci/run` runs it, `run test` only with `SLOW=1`. */
export const slow = test.skipIf(isQuick)

/** A test that also needs a server with several connections. Its name begins with `postgres: `. */
export const longOnServer = test.skipIf(isLeftOut || !process.env.DATABASE_URL)

/** Hooks that only `long` tests need, because bun also runs the hooks of skipped tests. */
export const beforeLong: typeof beforeAll = (hook) => isLeftOut || beforeAll(hook)
export const afterLong: typeof afterAll = (hook) => isLeftOut || afterAll(hook)

/** Hooks of a file in which every test is `slow`. */
export const beforeSlow: typeof beforeAll = (hook) => isQuick || beforeAll(hook)
export const afterSlow: typeof afterAll = (hook) => isQuick || afterAll(hook)
