import { isConnectionProblem } from "../../database/gate.ts"
import { redact } from "../../lib/log.ts"
import { WrongUse } from "./command.ts"

/**
 * Returns an error as one line without secrets. A problem's message is a complete sentence; other errors get an
 * introduction.
 */
export function sentenceOf(error: unknown): string {
  const {
    message = String(error),
    code,
    name = "",
  } = (error ?? {}) as { message?: string; code?: string; name?: string }
  const [firstLine = ""] = redact(message).split("\n")
  const line = firstLine.slice(0, 500)
  if (name.endsWith("Problem") || error instanceof WrongUse) return line
  if (isConnectionProblem(error)) return `the connection to the database was lost: ${line}`
  return `failed: ${line}${code && !line.includes(code) ? ` (${code})` : ""}`
}
