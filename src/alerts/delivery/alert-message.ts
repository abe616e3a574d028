import { alertRow, textOf } from "../alert.ts"
import type { Head } from "./channel-leases.ts"
import type { Message } from "./message.ts"

export function messageOf({ id, alert: { appName, ...alert } }: Head, today: string): Message {
  const name = appName ?? alert.appId
  const data = alertRow(alert, name)
  return { id, type: `alert.${alert.type}`, at: data.at, data, text: `${name}: ${textOf(alert, today)}` }
}

/** Returns the message that tests a channel. It is not stored. */
export function testMessage(id: string, at: Date): Message {
  const sentence = "This is a test message: alerts from Appmeter arrive here."
  return { id, type: "channel.test", at: at.toISOString(), data: { sentence }, text: sentence }
}
