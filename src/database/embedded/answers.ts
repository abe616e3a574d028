import { BACKEND, textAt } from "./wire.ts"

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

/** Reads through what the backend answered. Of a COPY the CopyInResponse is taken out: the client has it already. */
export function readAnswer(raw: Buffer, copy: boolean): Answer {
  const kept: Buffer[] = []
  const notifications: Notification[] = []
  let status: Answer["status"] = null
  let from = 0
  for (let at = 0; at + 5 <= raw.length; ) {
    const type = raw[at]
    const end = at + 1 + raw.readInt32BE(at + 1)
    if (type === BACKEND.readyForQuery) status = String.fromCharCode(raw[at + 5]!) as "I" | "T" | "E"
    if (type === BACKEND.notification || (copy && type === BACKEND.copyIn)) {
      kept.push(raw.subarray(from, at))
      from = end
      if (type === BACKEND.notification) {
        notifications.push({ channel: textAt(raw, at + 9), bytes: Buffer.from(raw.subarray(at, end)) })
      }
    }
    at = end
  }
  return { bytes: from === 0 ? raw : Buffer.concat([...kept, raw.subarray(from)]), status, notifications }
}
