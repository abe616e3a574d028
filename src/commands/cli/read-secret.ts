import { readFileSync } from "node:fs"
import { CommandProblem, type Invocation } from "./command.ts"

/** The one line of a file, or of stdin where it is "-". Throws CommandProblem, whose message does not hold it. */
export async function readSecret({ terminal }: Invocation, file: string, what: string): Promise<string> {
  const text = (file === "-" ? await whole(terminal.stdin()) : fileText(file, what)).trim()
  if (text === "") throw new CommandProblem(`${what} is missing: there is nothing in ${file === "-" ? "stdin" : file}`)
  return text
}

function fileText(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8")
  } catch {
    throw new CommandProblem(`${what} must stand in a readable file, or in stdin with -`)
  }
}

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString("utf8")
}
