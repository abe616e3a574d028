import type { ClientStatements } from "./statements.ts"
import { BACKEND, errorField, textAt } from "./wire.ts"

export interface Answer {
  bytes: Buffer
  /** The transaction status of the last ReadyForQuery. Null if there was none. */
  status: "I" | "T" | "E" | null
  /** Notifications for listening clients. The client whose turn it was does not get them. */
  notifications: Notification[]
}

interface Notification {
  channel: string
  bytes: Buffer
}

/**
 * Parses the backend's response. Removes the CopyInResponse, which the client already got, and completions of
 * statements that the client did not request.
 */
export function readAnswer(raw: Buffer, copy: boolean, statements: ClientStatements): Answer {
  const parts: Buffer[] = []
  const notifications: Notification[] = []
  let status: Answer["status"] = null
  let from = 0
  let type = 0
  for (let at = 0; at + 5 <= raw.length; ) {
    type = raw[at]!
    const end = at + 1 + raw.readInt32BE(at + 1)
    let forwarded: number | null = type
    if (type === BACKEND.parseComplete || type === BACKEND.closeComplete) forwarded = statements.completion(type)
    else if (type === BACKEND.commandComplete) statements.completed(textAt(raw, at + 5))
    else if (type === BACKEND.error) statements.failed(errorField(raw, at, "R"))
    else if (type === BACKEND.readyForQuery) {
      status = String.fromCharCode(raw[at + 5]!) as "I" | "T" | "E"
      statements.ready()
    } else if (type === BACKEND.notification) {
      notifications.push({ channel: textAt(raw, at + 9), bytes: Buffer.from(raw.subarray(at, end)) })
      forwarded = null
    } else if (copy && type === BACKEND.copyIn) forwarded = null
    if (forwarded === null) {
      parts.push(raw.subarray(from, at))
      from = end
    } else raw[at] = forwarded
    at = end
  }
  statements.answered(status, type === BACKEND.readyForQuery)
  return { bytes: from === 0 ? raw : Buffer.concat([...parts, raw.subarray(from)]), status, notifications }
}
