import postgres from "postgres"
import { DatabaseProblem } from "./problem.ts"

// The patch sets this value. Change both together.
const MARK = "appmeter-4"

/**
 * Throws unless the driver has patches/postgres@3.4.9.patch. Without it, with more statements in flight than
 * connections, callers get rows of other callers' queries: after a schema change, when a parameter cannot be
 * serialized, and when a statement is cancelled. In addition, statements sent after the end of their transaction run in
 * another caller's, a connection that dies ends the process, and null in an array is read as NaN, false or "NULL".
 */
export function assertDriverPatched(driver: object = postgres): void {
  if ((driver as { patched?: string }).patched !== MARK) {
    throw new DatabaseProblem("the installed postgres driver lacks our patch; run: bun install --frozen-lockfile")
  }
}
