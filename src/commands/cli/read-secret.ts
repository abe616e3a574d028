import { readFileSync } from "node:fs"
import { CommandProblem, type Invocation } from "./command.ts"

/** The one line of a file, or of stdin where it is "-". Throws CommandProblem, whose message does not hold it. */
export async function readSecret({ terminal }: Invocation, file: string, what: string): Promise<string> {
  const text = (file === "-" ? await whole(terminal.stdin()) : fileText(file, what)).trim()
  if (text === "") throw new CommandProblem(`${what} is missing: ${file === "-" ? "stdin" : file} is empty`)
  return text
}

/** Warns where an argument contains a secret: every user of the machine sees arguments in the list of processes. */
export function warnOfSecret({ terminal }: Pick<Invocation, "terminal">, what: string, safe: string): void {
  terminal.say(
    `appmeter: warning: ${what}. Other users of this machine can see it in the process list, and the shell stores it in its history. Replace it and pass the address through stdin: ${safe}`,
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
    throw new CommandProblem(`${what} must be in a readable file, or in stdin if you give -`)
  }
}

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString("utf8")
}
