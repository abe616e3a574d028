import { readFileSync } from "node:fs"
import { CommandProblem } from "./command.ts"

/** Reads a file that a person named. Throws CommandProblem if there is none, or if it is a folder. */
export function readFileBytes(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === "ENOENT") throw new CommandProblem(`there is no file ${path}`)
    if (code === "EISDIR") throw new CommandProblem(`${path} is a folder; give a file`)
    throw error
  }
}

/** Returns the text of a CSV file. Throws CommandProblem if it is a spreadsheet or not UTF-8. */
export function csvText(bytes: Uint8Array): string {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b)
    throw new CommandProblem("the file is an Excel file; save it as CSV (UTF-8)")
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new CommandProblem("the file is not UTF-8 text; save it as CSV (UTF-8)")
  }
}
