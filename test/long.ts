import { afterAll, beforeAll, test } from "bun:test"

/** `.ci/long` runs everything at length; `run test` holds the same promises with fewer cases, kills and rounds. */
export const LONG = process.env.LONG === "1"

/** Returns how many cases to run: a few, or all of them at length. */
export const cases = (short: number, long: number): number => (LONG ? long : short)

export const isLeftOut = !LONG

/** A test that takes seconds and runs only at length. A shorter test of the same file holds its promise in short. */
export const long = test.skipIf(isLeftOut)

/** A test that also needs a server with several connections. Its name begins with `postgres: `. */
export const longOnServer = test.skipIf(isLeftOut || !process.env.DATABASE_URL)

/** Hooks that only `long` tests need: bun runs the hooks of skipped tests too. */
export const beforeLong: typeof beforeAll = (hook) => isLeftOut || beforeAll(hook)
export const afterLong: typeof afterAll = (hook) => isLeftOut || afterAll(hook)
