import { expect } from "bun:test"
import { LineProblem } from "../../../src/measuring/import/lines.ts"
import { parseLine } from "../../record.ts"

/** Returns why a line is refused, or that it is accepted. */
export function reasonOf(value: object): string {
  try {
    parseLine(JSON.stringify(value))
    return "accepted"
  } catch (error) {
    expect(error).toBeInstanceOf(LineProblem)
    return (error as Error).message
  }
}
