import { test } from "bun:test"

/** `.ci/run` tries everything at length; `run test` tries the same promises with fewer cases, kills and rounds. */
const LONG = process.env.LONG === "1"

/** The short form's figure, or the long one's. */
export const size = (short: number, long: number): number => (LONG ? long : short)

/** A test that has no short form; what keeps its promise in short stands beside it. */
export const long = test.skipIf(!LONG)
