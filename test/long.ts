import { test } from "bun:test"

/** `.ci/run` tries everything at length; `run test` tries the same promises with fewer cases, kills and rounds. */
export const LONG = process.env.LONG === "1"

/** How many: in short, and at length. */
export const cases = (short: number, long: number): number => (LONG ? long : short)

/** A test that has no short form; what keeps its promise in short stands beside it. */
export const long = test.skipIf(!LONG)
