import { afterAll, beforeAll, test } from "bun:test"

/** `.ci/long` runs everything completely. `run test` checks the same with fewer cases, kills and rounds. */
export const LONG = process.env.LONG === "1"

/** Returns how many cases to run: few, or all in a long run. */
export const cases = (short: number, long: number): number => (LONG ? long : short)

export const isLeftOut = !LONG

/** A test that takes seconds and runs only in a long run. A shorter test of the same file covers it otherwise. */
export const long = test.skipIf(isLeftOut)

/** A test that also needs a server with several connections. Its name begins with `postgres: `. */
export const longOnServer = test.skipIf(isLeftOut || !process.env.DATABASE_URL)

/** Hooks that only `long` tests need, because bun also runs the hooks of skipped tests. */
export const beforeLong: typeof beforeAll = (hook) => isLeftOut || beforeAll(hook)
export const afterLong: typeof afterAll = (hook) => isLeftOut || afterAll(hook)
