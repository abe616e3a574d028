import type { ClientStatements } from "./statements.ts"
import { BACKEND, errorField, textAt } from "./wire.ts"

export interface Answer {
  bytes: Buffer
  /** The transaction status of the last ReadyForQuery; null when there was none. */
  status: "I" | "T" | "E" | null
  /** Notifications go to the listener, not to the client whose turn it was. */
  notifications: Notification[]
}

interface Notification {
  channel: string
  bytes: Buffer
}

/**
 * Reads through what the backend answered. Of a COPY the CopyInResponse is taken out: the client has it already. What the client did
 * not ask for of statements is taken out, too.
 */
export function readAnswer(raw: Buffer, copy: boolean, statements: ClientStatements): Answer {
  const kept: Buffer[] = []
  const notifications: Notification[] = []
  let status: Answer["status"] = null
  let from = 0
  let type = 0
  for (let at = 0; at + 5 <= raw.length; ) {
    type = raw[at]!
    const end = at + 1 + raw.readInt32BE(at + 1)
    let told: number | null = type
    if (type === BACKEND.parseComplete || type === BACKEND.closeComplete) told = statements.completion(type)
    else if (type === BACKEND.commandComplete) statements.completed(textAt(raw, at + 5))
    else if (type === BACKEND.error) statements.failed(errorField(raw, at, "R"))
    else if (type === BACKEND.readyForQuery) {
      status = String.fromCharCode(raw[at + 5]!) as "I" | "T" | "E"
      statements.ready()
    } else if (type === BACKEND.notification) {
      notifications.push({ channel: textAt(raw, at + 9), bytes: Buffer.from(raw.subarray(at, end)) })
      told = null
    } else if (copy && type === BACKEND.copyIn) told = null
    if (told === null) {
      kept.push(raw.subarray(from, at))
      from = end
    } else raw[at] = told
    at = end
  }
  statements.answered(status, type === BACKEND.readyForQuery)
  return { bytes: from === 0 ? raw : Buffer.concat([...kept, raw.subarray(from)]), status, notifications }
}
