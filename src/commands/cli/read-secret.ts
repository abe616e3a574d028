import { readFileSync } from "node:fs"
import { CommandProblem, type Invocation } from "./command.ts"

/** Reads a secret from a file, or from stdin for "-". Throws CommandProblem without the secret in the message. */
export async function readSecret({ terminal }: Invocation, file: string, what: string): Promise<string> {
  const text = (file === "-" ? await readAll(terminal.stdin()) : fileText(file, what)).trim()
  if (text === "") throw new CommandProblem(`${what} is missing: ${file === "-" ? "stdin" : file} is empty`)
  return text
}

/** Warns about a secret in an argument: every user of the machine can see arguments in the list of processes. */
export function warnOfSecret({ terminal }: Pick<Invocation, "terminal">, what: string, safe: string): void {
  terminal.say(
    `appmeter: warning: ${what}. Other users of this machine can see it in the process list, and the shell stores it ` +
      `in its history. Replace it and pass the address through stdin: ${safe}`,
  )
}

/** Returns whether an address seems to contain a password or a token: a user, a query or a long word in its path. */
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

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString("utf8")
}
