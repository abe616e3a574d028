import { readFileSync } from "node:fs"
import { CommandProblem, type Invocation } from "./command.ts"

/** The one line of a file, or of stdin where it is "-". Throws CommandProblem, whose message does not hold it. */
export async function readSecret({ terminal }: Invocation, file: string, what: string): Promise<string> {
  const text = (file === "-" ? await whole(terminal.stdin()) : fileText(file, what)).trim()
  if (text === "") throw new CommandProblem(`${what} is missing: there is nothing in ${file === "-" ? "stdin" : file}`)
  return text
}

/** Warns where an argument contains a secret: every user of the machine sees arguments in the list of processes. */
export function warnOfSecret({ terminal }: Pick<Invocation, "terminal">, what: string, safe: string): void {
  terminal.say(
    `appmeter: warning: ${what}, which any user of this machine can read in the list of processes and the shell keeps in its history. Replace it, and give the address by stdin: ${safe}`,
  )
}

/** Whether an address has a password or, by its form, a token: a user, a query or a long word in its path. */
export function hasToken(address: string): boolean {
  const url = URL.parse(address)
  if (!url) return false
  return url.username !== "" || url.password !== "" || url.search !== "" || /[\w-]{16,}/.test(url.pathname)
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
