import postgres from "postgres"
import { DatabaseProblem } from "./problem.ts"

// The patch sets it; raise it there and here together.
const MARK = "appmeter-3"

/**
 * Without patches/postgres@3.4.9.patch a connection that dies while a write is queued ends the whole process, and a
 * transaction's later statements can run outside of it. What is null in an array would be read as NaN, false or "NULL".
 * And after a statement that failed with some of its rows sent, the next one's would begin behind as many holes.
 */
export function assertDriverPatched(driver: object = postgres): void {
  if ((driver as { patched?: string }).patched !== MARK) {
    throw new DatabaseProblem("the installed postgres driver lacks our patch; run: bun install --frozen-lockfile")
  }
}
